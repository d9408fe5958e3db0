//! What is asked for at a server: all that a spec says, never more, and nothing that means this machine.

use bailiwick_sandbox::{Image, Limit, Limits, Mount, Network, Overlay, Preset, SandboxPath, SandboxSpec};
use bailiwick_types::{ErrorCode, SandboxId, SnapshotId};

use super::{can_cross, is_held_there, wish};
use crate::MARK;

fn id() -> SandboxId {
    SandboxId::from_parts(1, &[7; 10])
}

#[track_caller]
fn check(change: impl FnOnce(&mut SandboxSpec), says: &str) {
    let mut spec = SandboxSpec::default();
    change(&mut spec);
    let error = can_cross(&spec).expect_err("it cannot cross");
    assert_eq!(error.code(), ErrorCode::Unsupported, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn a_network_is_asked_for_only_where_no_rule_of_this_machine_would_be_left_behind() {
    let rules = ["policy.hosts.never"];
    let none = SandboxSpec::default();
    let full = SandboxSpec { network: Network::Full, ..SandboxSpec::default() };
    is_held_there(&none, &rules).expect("there is nothing to be held");
    is_held_there(&full, &[]).expect("a spec says everything");
    let error = is_held_there(&full, &rules).expect_err("that server does not know it");
    assert_eq!(error.code(), ErrorCode::Unenforceable, "{error}");
    assert!(error.to_string().contains("policy.hosts.never of this machine"), "{error}");
}

#[test]
fn what_means_this_machine_is_refused() {
    let to = SandboxPath::new("/srv").expect("a path");
    let mount = Mount { from: "/usr".into(), to: to.clone(), writable: false };
    let mount = mount.open_by_name().expect("it is held");
    let overlay = Overlay { from: "/usr".into(), to }.open_by_name().expect("it is held");
    check(|spec| spec.mounts.push(mount), "the mount `/usr:/srv:ro`");
    check(|spec| spec.overlays.push(overlay), "the overlay `/usr:/srv`");
    let secret = "TOKEN=token@api.example.com:Authorization".parse().expect("a secret");
    check(|spec| spec.secrets.push(secret), "the secret `token`");
    check(|spec| spec.expose.push(8080), "the port 8080");
    check(|spec| spec.network = Network::Host, "the network `host`");
    for path in ["/var/images/a.tar", "./a.tar", "~/a.tar"] {
        check(|spec| spec.image = Image::Named(path.to_owned()), "that path is of this machine");
    }
    let snapshot = bailiwick_sandbox::Snapshot {
        id: SnapshotId::from_parts(1, &[1; 10]),
        backend: "process".to_owned(),
        bytes: 1,
    };
    check(|spec| spec.snapshot = Some(snapshot), "a snapshot of the backend `process`");
}

#[test]
fn what_another_server_handed_on_is_not_handed_on_again() {
    check(|spec| drop(spec.labels.insert(MARK.to_owned(), "x".to_owned())), "handed on without an end");
    let sent = wish(&SandboxSpec::default(), id(), None);
    let spec = SandboxSpec { labels: sent.labels, ..SandboxSpec::default() };
    assert!(can_cross(&spec).is_err(), "what is sent carries the mark");
}

#[test]
fn everything_else_is_asked_for_as_it_is() {
    let mut spec = SandboxSpec::default();
    spec.env.insert("A".to_owned(), "b".to_owned());
    spec.network = "allow:example.com:443".parse().expect("a network");
    spec.image = Image::Named("debian:13".to_owned());
    spec.labels.insert("team".to_owned(), "x".to_owned());
    spec.workdir = SandboxPath::new("/here").expect("a path");
    can_cross(&spec).expect("it can cross");
    let sent = wish(&spec, id(), Some("gvisor"));
    assert_eq!(sent.env, spec.env);
    assert_eq!(sent.network.as_deref(), Some("allow:example.com:443"));
    assert_eq!(sent.image.as_deref(), Some("debian:13"));
    assert_eq!(sent.workdir, Some(spec.workdir.clone()));
    assert_eq!((sent.idle.as_deref(), sent.absolute.as_deref()), (Some("10m"), Some("24h")));
    assert_eq!(sent.backend.as_deref(), Some("gvisor"));
    assert_eq!(sent.labels.get("team").map(String::as_str), Some("x"));
    assert_eq!(sent.name, Some(id().to_string()));
}

/// The limits that a server makes of what it is sent.
fn there(limits: &Limits) -> Limits {
    let spec = SandboxSpec::new(*limits);
    let sent = wish(&spec, id(), None);
    let preset: Preset = sent.preset.expect("a preset").parse().expect("one of ours");
    sent.limits.iter().fold(Limits::preset(preset), |limits, (limit, text)| {
        limits.with(*limit, text.as_str()).expect("a limit")
    })
}

#[test]
fn limits_are_the_same_there_and_insisted_on_no_less() {
    let lowered = |preset| {
        let mut limits = Limits::preset(preset);
        limits.memory.value = 48 << 20;
        limits
    };
    let typed = Limits::default().with(Limit::Memory, "64MiB").expect("a limit");
    for limits in [
        Limits::preset(Preset::Minimal),
        Limits::preset(Preset::Standard),
        Limits::preset(Preset::Dev),
        lowered(Preset::Minimal),
        lowered(Preset::Dev),
        typed,
        typed.with(Limit::Cpu, "0.125").expect("a limit").with(Limit::Timeout, "1500ms").expect("a limit"),
    ] {
        let made = there(&limits);
        for limit in Limit::ALL {
            assert_eq!(made.get(limit), limits.get(limit), "{limit} of {limits:?}");
            if limits.from(limit) != bailiwick_sandbox::From::Preset {
                assert_eq!(made.from(limit), bailiwick_sandbox::From::Typed, "{limit} of {limits:?}");
            }
        }
    }
    assert_eq!(there(&Limits::preset(Preset::Dev)), Limits::preset(Preset::Dev), "nobody insisted on these");
}
