use super::*;

#[track_caller]
fn check(found: &[&str], expected: Option<&str>) {
    assert_eq!(accelerator(&owned(found)), expected, "{found:?}");
}

#[test]
fn a_machine_beside_ours_has_the_accelerator_that_ours_had() {
    check(&["qemu /usr/bin/qemu-system-x86_64", "machines by KVM"], Some("kvm"));
    check(&["machines by emulation (TCG)", "seccomp x inside"], Some("tcg"));
    check(&["qemu /usr/bin/qemu-system-x86_64"], None);
}
