use super::*;

#[track_caller]
fn check(runtime: Option<&str>, may_be: Tier) {
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { runtime: runtime.map(str::to_owned), ..Options::new(folder.path().join("container")) };
    let backend = ContainerBackend::new(options);
    assert_eq!((backend.tier(), backend.may_be()), (Tier::Container, may_be), "{runtime:?}");
}

#[test]
fn before_a_look_it_is_a_container_that_may_be_what_its_runtime_promises() {
    check(None, Tier::Container);
    check(Some("crun"), Tier::Container);
    check(Some("runsc"), Tier::UserKernel);
    check(Some("io.containerd.kata.v2"), Tier::MicroVm);
}
