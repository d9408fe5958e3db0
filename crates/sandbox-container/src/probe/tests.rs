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
    // By its name alone nothing is claimed.
    check(Some("runsc"), "6.1.0", Tier::Container);
    check(Some("kata-runtime"), "6.1.0", Tier::Container);
    check(Some("kata-runtime"), "", Tier::Container);
}
