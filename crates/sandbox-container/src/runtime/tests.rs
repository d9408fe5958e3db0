use super::*;

#[track_caller]
fn check(runtime: Option<&str>, kernel: &str, expected: Tier) {
    assert_eq!(tier_of(runtime, kernel, "6.1.0"), expected, "{runtime:?} on {kernel}");
}

#[test]
fn a_runtime_is_what_it_was_seen_to_be_and_not_what_it_is_called() {
    check(None, "6.1.0", Tier::Container);
    check(None, "4.4.0", Tier::Container);
    check(Some("crun"), "4.4.0", Tier::Container);
    check(Some("runsc"), "4.4.0", Tier::UserKernel);
    check(Some("/usr/local/bin/runsc"), "4.4.0", Tier::UserKernel);
    check(Some("kata-runtime"), "5.19.2", Tier::MicroVm);
    // As containerd calls its shims.
    check(Some("io.containerd.runsc.v1"), "4.4.0", Tier::UserKernel);
    check(Some("io.containerd.kata.v2"), "5.19.2", Tier::MicroVm);
    check(Some("io.containerd.kata-qemu.v2"), "5.19.2", Tier::MicroVm);
    check(Some("io.containerd.runc.v2"), "4.4.0", Tier::Container);
    // By its name alone nothing is claimed.
    check(Some("runsc"), "6.1.0", Tier::Container);
    check(Some("kata-runtime"), "6.1.0", Tier::Container);
    check(Some("kata-runtime"), "", Tier::Container);
    check(Some("io.containerd.kata.v2"), "6.1.0", Tier::Container);
}

#[track_caller]
fn check_unusable(runtime: Option<&str>, message: &str, expected: Option<(&str, &str)>) {
    let told = unusable(runtime, message).map(|error| (error.to_string(), error.hint().unwrap_or_default()));
    match (told, expected) {
        (None, None) => {}
        (Some((reason, fix)), Some((words, help))) => {
            assert!(reason.contains(words) && reason.contains(message), "{reason}");
            assert!(fix.contains(help), "{fix}");
        }
        (told, _) => panic!("{message}: {told:?}"),
    }
}

#[test]
fn why_a_runtime_cannot_be_used_is_told_with_what_to_do() {
    // What Docker says of gVisor on a kernel where each network looks like the machine's own.
    let network = "OCI runtime start failed: starting container: setting up network: creating interfaces from net namespace \
        \"/proc/7/ns/net\": cannot run with network enabled in root network namespace: unknown";
    check_unusable(Some("runsc"), network, Some(("cannot set up a network", "--network=none")));
    check_unusable(
        Some("kata"),
        "Unknown runtime specified kata",
        Some(("has no runtime `kata`", "daemon.json")),
    );
    check_unusable(None, "Unknown runtime specified runc", None);
    check_unusable(Some("runsc"), "no space left on device", None);
}

#[test]
fn advice_is_for_the_runtime_that_was_named() {
    let told = advice(Demand::Privilege, Some("runsc")).unwrap();
    assert!(told.contains("`runsc`") && told.contains("as root"), "{told}");
    assert_eq!(advice(Demand::Privilege, None), None);
    assert!(advice(Demand::Memory, None).unwrap().contains("the engine"));
}
