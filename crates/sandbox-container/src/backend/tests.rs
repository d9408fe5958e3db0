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

#[test]
fn an_owner_that_ends_in_order_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let backend = ContainerBackend::new(Options::new(folder.path()));
    let name = backend.inner.held().unwrap().to_owned();
    assert_eq!(crate::owner::all(folder.path()), [name.as_str()]);
    drop(backend);
    assert!(crate::owner::all(folder.path()).is_empty());
    // Where a container could not be removed, the next owner has to know.
    let backend = ContainerBackend::new(Options::new(folder.path()));
    let name = backend.inner.held().unwrap().to_owned();
    backend.inner.left.lock().unwrap().push("a container".to_owned());
    drop(backend);
    assert_eq!(crate::owner::all(folder.path()), [name]);
}
