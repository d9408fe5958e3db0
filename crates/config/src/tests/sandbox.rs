//! The sandbox section: what commands may run on, behind what, and how much of it.

use bailiwick_types::Tier;

use super::{Machine, check_refused};
use crate::RemoteSettings;

#[test]
fn sandboxes_begin_with_closed_settings() {
    let machine = Machine::new();
    let sandbox = machine.load().unwrap().settings.sandbox;
    assert_eq!((sandbox.floor, sandbox.preset.as_str()), (Tier::Process, "standard"));
    assert!(!sandbox.network.contains(&"host".to_owned()), "the host's network is off");
    assert!(
        sandbox.accept.is_empty() && sandbox.mounts.is_empty(),
        "nothing is lenient and nothing is mounted"
    );
    assert_eq!((sandbox.most, sandbox.idle_ms, sandbox.absolute_ms), (64, 600_000, 86_400_000));
    assert!(sandbox.own.iter().any(|own| own.ends_with(".config/bailiwick")), "{:?}", sandbox.own);
}

#[test]
fn no_other_server_is_asked_until_the_operator_says_so() {
    let machine = Machine::new();
    let sandbox = machine.load().unwrap().settings.sandbox;
    assert!(!sandbox.backends.contains(&"remote".to_owned()), "{:?}", sandbox.backends);
    let RemoteSettings { url, key, ca, backend } = sandbox.remote;
    assert_eq!((url, key, ca, backend), (None, None, None, None));
}

#[test]
fn what_is_no_word_of_a_key_is_refused() {
    let machine = Machine::new();
    for (text, message, hint) in [
        (
            "backends = [\"proces\"]",
            "`sandbox.backends`: `proces` is not one of process, container, gvisor, microvm, wasm, remote",
            "did you mean `process`?",
        ),
        ("floor = \"WALL\"", "`WALL` is not a tier", ""),
        ("preset = \"huge\"", "`sandbox.preset`: `huge` is not one of minimal, standard, dev", ""),
        ("require = [\"network\"]", "`sandbox.require`: `network` is not one of", ""),
        ("accept = [\"files\"]", "`sandbox.accept`: `files` is not one of privilege, kill", ""),
        ("network = [\"everything\"]", "`sandbox.network`: `everything` is not one of", ""),
        (
            "gvisor.platform = \"vax\"",
            "`sandbox.gvisor.platform`: `vax` is not one of systrap, kvm, ptrace",
            "",
        ),
        (
            "microvm.monitor = \"bochs\"",
            "`sandbox.microvm.monitor`: `bochs` is not one of auto, qemu, firecracker",
            "",
        ),
        ("most = 0", "must not be zero", ""),
        ("ceilings.cpu = 0", "must be a number of cores above zero", "0.5"),
        ("ceilings.cpu = -1", "must be a number of cores above zero", ""),
        ("ceilings.cpu = \"nan\"", "must be a number of cores above zero", ""),
        ("ceilings.memory = \"0\"", "must not be zero", ""),
        ("container.socket = \"docker.sock\"", "`docker.sock` is no path of a socket", "an absolute path"),
        ("container.runtime = \"--privileged\"", "`--privileged` is no name of a runtime", "runsc"),
    ] {
        machine.user_file(&format!("[sandbox]\n{text}\n"));
        check_refused(&machine, message, hint);
    }
}

#[test]
fn an_engine_is_named_by_its_socket_or_found() {
    let machine = Machine::new();
    let none = machine.load().unwrap().settings.sandbox.container;
    assert_eq!((none.socket, none.runtime), (None, None));
    machine
        .user_file("[sandbox.container]\nsocket = \"unix:///run/podman/podman.sock\"\nruntime = \"runsc\"\n");
    let named = machine.load().unwrap().settings.sandbox.container;
    assert_eq!(named.socket.as_deref(), Some(std::path::Path::new("/run/podman/podman.sock")));
    assert_eq!(named.runtime.as_deref(), Some("runsc"));
}

#[test]
fn cores_are_numbers_with_parts() {
    let machine = Machine::new();
    for (text, thousandths) in [("0.5", 500), ("2", 2000), ("\"1.25\"", 1250)] {
        machine.user_file(&format!("[sandbox.ceilings]\ncpu = {text}\n"));
        assert_eq!(machine.load().unwrap().settings.sandbox.ceilings.cpu, thousandths);
    }
}

#[test]
fn steps_of_webassembly_are_counted_where_the_operator_says_so() {
    let machine = Machine::new();
    for (text, fuel) in [("", None), ("fuel = 0", None), ("fuel = 5", Some(5)), ("fuel = \"70\"", Some(70))] {
        machine.user_file(&format!("[sandbox.wasm]\n{text}\n"));
        assert_eq!(machine.load().unwrap().settings.sandbox.wasm_fuel, fuel, "{text}");
    }
    // No count is wider than any, and any is narrower than none: neither is for a folder to say.
    for theirs in ["fuel = 0", "fuel = 1", "fuel = 71"] {
        machine.folder_file(&format!("[sandbox.wasm]\n{theirs}\n"));
        assert!(machine.load().is_err(), "{theirs}");
    }
}

#[test]
fn a_folder_may_only_narrow_what_sandboxes_get() {
    let machine = Machine::new();
    machine.user_file("[sandbox]\naccept = [\"kill\"]\n");
    machine.folder_file(
        "[sandbox]\nfloor = \"MICRO_VM\"\nrequire = [\"memory\"]\naccept = []\nnetwork = [\"none\"]\nmost = 2\n\
         idle = \"1m\"\n[sandbox.ceilings]\ncpu = 0.5\nmemory = \"64MiB\"\n",
    );
    let sandbox = machine.load().unwrap().settings.sandbox;
    assert_eq!((sandbox.floor, sandbox.most, sandbox.idle_ms), (Tier::MicroVm, 2, 60_000));
    assert_eq!((sandbox.require, sandbox.accept), (vec!["memory".to_owned()], Vec::new()));
    assert_eq!((sandbox.ceilings.cpu, sandbox.ceilings.memory), (500, 64 << 20));
    machine.user_file("[sandbox]\nfloor = \"CONTAINER\"\nnetwork = [\"none\"]\n");
    for wider in [
        "floor = \"PROCESS\"",
        "network = [\"none\", \"host\"]",
        "accept = [\"privilege\"]",
        "most = 65",
        "absolute = \"25h\"",
        "ceilings.cpu = 9",
        "ceilings.memory = \"9GiB\"",
        "preset = \"dev\"",
    ] {
        machine.folder_file(&format!("[sandbox]\n{wider}\n"));
        assert!(machine.load().is_err(), "{wider}");
    }
}
