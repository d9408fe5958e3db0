use bailiwick_config::{
    ContainerSettings, GvisorSettings, MicrovmSettings, RemoteSettings, SandboxCeilings, SandboxSettings,
};
use bailiwick_sandbox::{From as Wanted, Image, Limit, Network, SealedSecret};
use bailiwick_types::{CorrelationId, ErrorCode, Tier};

use super::{Resolved, Rules, resolve, resolve_tool};
use crate::sandboxes::{CommandWish, SandboxWish};
use crate::{Origin, Refusal};

pub(crate) fn settings() -> SandboxSettings {
    SandboxSettings {
        backends: vec!["process".to_owned()],
        floor: Tier::Process,
        preset: "standard".to_owned(),
        require: Vec::new(),
        accept: Vec::new(),
        network: ["none", "allow", "git", "full"].map(str::to_owned).to_vec(),
        private: Vec::new(),
        requests: Vec::new(),
        authority: false,
        most: 4,
        idle_ms: 600_000,
        absolute_ms: 3_600_000,
        ceilings: SandboxCeilings {
            cpu: 2000,
            memory: 128 << 20,
            disk: 1 << 30,
            timeout_ms: 60_000,
            processes: 100,
            output: 1 << 20,
        },
        probe_cache: None,
        container: ContainerSettings::default(),
        gvisor: GvisorSettings { program: "runsc".into(), platform: "systrap".to_owned() },
        wasm_fuel: None,
        microvm: MicrovmSettings {
            monitor: "auto".to_owned(),
            firecracker: "firecracker".into(),
            program: "qemu".into(),
            kernel: "/boot".into(),
            emulation: false,
            cache: None,
        },
        remote: RemoteSettings { url: None, key: None, ca: None, backend: None },
        mounts: Vec::new(),
        own: Vec::new(),
    }
}

fn wish(change: impl FnOnce(&mut SandboxWish)) -> SandboxWish {
    let mut wish = SandboxWish::default();
    change(&mut wish);
    wish
}

fn resolved(settings: &SandboxSettings, wish: &SandboxWish) -> Result<Resolved, Refusal> {
    let rules = Rules::without_mounts(settings);
    resolve(wish, &rules, Origin::Wire, None, &CorrelationId::parse("test").unwrap())
}

#[track_caller]
fn refused(change: impl FnOnce(&mut SandboxWish), code: ErrorCode, says: &str) {
    let refusal = resolved(&settings(), &wish(change)).expect_err("a refusal");
    assert_eq!(refusal.code, code, "{refusal:?}");
    assert!(refusal.message.contains(says), "{refusal:?} does not say {says:?}");
}

fn limit(limit: Limit, text: &str) -> impl FnOnce(&mut SandboxWish) + use<'_> {
    move |wish| {
        wish.limits.insert(limit, text.to_owned());
    }
}

#[test]
fn what_is_no_limit_is_refused_before_anything_is_made() {
    for (which, text, says) in [
        (Limit::Timeout, "0s", "needs some time"),
        (Limit::Memory, "-1", "less than zero"),
        (Limit::Memory, "0", "more than zero"),
        (Limit::Cpu, "nan", "not a number"),
        (Limit::Cpu, "0", "more than zero"),
        (Limit::Output, "0", "more than zero"),
        (Limit::Processes, "many", "write"),
    ] {
        refused(limit(which, text), ErrorCode::InvalidInput, says);
    }
    refused(|wish| wish.preset = Some("huge".to_owned()), ErrorCode::InvalidInput, "is not a preset");
}

#[test]
fn typed_limits_stay_below_the_ceiling_and_presets_are_lowered_to_it() {
    refused(limit(Limit::Memory, "129MiB"), ErrorCode::InvalidInput, "above the operator's ceiling");
    let made = resolved(&settings(), &wish(|_| ())).unwrap();
    assert_eq!(made.spec.limits.memory.value, 128 << 20, "the preset's 256 MiB are above it");
    assert_eq!(made.spec.limits.memory.from, Wanted::Preset);
    let typed = resolved(&settings(), &wish(limit(Limit::Memory, "64M"))).unwrap();
    assert_eq!((typed.spec.limits.memory.value, typed.spec.limits.memory.from), (64 << 20, Wanted::Typed));
    let requires = SandboxSettings { require: vec!["memory".to_owned()], ..settings() };
    let made = resolved(&requires, &wish(|_| ())).unwrap();
    assert_eq!(made.spec.limits.memory.from, Wanted::Operator);
}

#[test]
fn the_network_is_none_unless_asked_for_and_the_hosts_own_only_if_it_is_listed() {
    assert_eq!(resolved(&settings(), &wish(|_| ())).unwrap().spec.network, Network::None);
    let asks = |network: &str| wish(|wish| wish.network = Some(network.to_owned()));
    assert_eq!(resolved(&settings(), &asks("git")).unwrap().spec.network, Network::Git);
    refused(|wish| wish.network = Some("host".to_owned()), ErrorCode::Forbidden, "does not allow");
    let listed = SandboxSettings { network: vec!["host".to_owned()], ..settings() };
    assert_eq!(resolved(&listed, &asks("host")).unwrap().spec.network, Network::Host);
    let refusal = resolved(&listed, &wish(|_| ())).expect_err("none is not listed");
    assert_eq!(refusal.code, ErrorCode::Forbidden);
    refused(|wish| wish.network = Some("everything".to_owned()), ErrorCode::InvalidInput, "everything");
}

#[test]
fn the_floor_is_the_operators_or_higher_and_never_lower() {
    let strict = SandboxSettings { floor: Tier::UserKernel, ..settings() };
    for (asked, floor) in [
        (None, Tier::UserKernel),
        (Some(Tier::Process), Tier::UserKernel),
        (Some(Tier::MicroVm), Tier::MicroVm),
    ] {
        assert_eq!(resolved(&strict, &wish(|wish| wish.tier = asked)).unwrap().floor, floor);
    }
}

#[test]
fn a_time_to_live_is_within_the_operators() {
    let made = resolved(&settings(), &wish(|wish| wish.idle = Some("1m".to_owned()))).unwrap();
    assert_eq!((made.spec.ttl.idle.as_secs(), made.spec.ttl.absolute.as_secs()), (60, 3600));
    for text in ["0s", "11m", "soon"] {
        refused(|wish| wish.idle = Some(text.to_owned()), ErrorCode::InvalidInput, "time to live (idle)");
    }
}

#[test]
fn names_and_variables_are_plain() {
    for name in ["", "a b", "a/b", "ä", &"x".repeat(64)] {
        refused(|wish| wish.name = Some(name.to_owned()), ErrorCode::InvalidInput, "the name of a sandbox");
    }
    refused(
        |wish| {
            wish.env.insert("A=B".to_owned(), String::new());
        },
        ErrorCode::InvalidInput,
        "name of a variable",
    );
}

fn with_a_secret() -> SandboxWish {
    let secret: SealedSecret = "GH=TOKEN@a.test:Authorization".parse().unwrap();
    wish(|wish| {
        wish.network = Some("allow:a.test".to_owned());
        wish.secrets = vec![secret];
    })
}

#[test]
fn secrets_are_lent_by_who_may_and_only_where_an_authority_can_put_them_in() {
    let opted = SandboxSettings { authority: true, ..settings() };
    let asked = |settings: &SandboxSettings, who: Option<Origin>| {
        let rules = Rules::without_mounts(settings);
        let correlation = CorrelationId::parse("test").unwrap();
        let wish = with_a_secret();
        match who {
            Some(origin) => resolve(&wish, &rules, origin, None, &correlation),
            None => resolve_tool(&wish, &rules, &correlation),
        }
    };
    for (who, with, without) in [
        (Some(Origin::Typed), None, Some(ErrorCode::Unenforceable)),
        (Some(Origin::Wire), Some(ErrorCode::Forbidden), Some(ErrorCode::Forbidden)),
        // A tool's document, which was passed.
        (None, None, Some(ErrorCode::Unenforceable)),
    ] {
        assert_eq!(asked(&opted, who).err().map(|refusal| refusal.code), with, "{who:?}");
        let refusal = asked(&settings(), who).err();
        assert_eq!(refusal.as_ref().map(|refusal| refusal.code), without, "{who:?}");
        if without == Some(ErrorCode::Unenforceable) {
            let hint = refusal.and_then(|refusal| refusal.hint).unwrap_or_default();
            assert!(hint.contains("sandbox.authority = true"), "{hint}");
        }
    }
    assert_eq!(asked(&opted, None).unwrap().spec.secrets, with_a_secret().secrets);
}

#[test]
fn an_image_is_a_part_of_the_wish_and_is_checked_with_it() {
    let named = |image: &str| wish(|wish| wish.image = Some(image.to_owned()));
    let made = resolved(&settings(), &named("debian-12")).unwrap();
    assert_eq!(made.spec().image, Image::Named("debian-12".to_owned()));
    refused(|wish| wish.image = Some(String::new()), ErrorCode::InvalidInput, "the name of an image");
}

#[test]
fn what_is_no_command_is_none() {
    let command = |argv: &[&str]| CommandWish {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        ..CommandWish::default()
    };
    let long = "x".repeat(1 << 20);
    for (wish, says) in [
        (command(&[]), "the list of words is empty"),
        (command(&[""]), "the name of the program is empty"),
        (command(&["a\0b"]), "has a NUL"),
        (command(&["echo", &long]), "the longest that the system takes"),
        (CommandWish { timeout: Some("0ms".to_owned()), ..command(&["true"]) }, "needs some time"),
        (CommandWish { timeout: Some("-1s".to_owned()), ..command(&["true"]) }, "less than zero"),
    ] {
        let error = wish.command().expect_err("a refusal");
        assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
        assert!(error.to_string().contains(says), "{error} does not say {says:?}");
    }
    let shell = CommandWish { shell: Some("echo $HOME".to_owned()), ..CommandWish::default() };
    assert!(shell.command().unwrap().is_shell());
}
