use bailiwick_sandbox::SandboxPath;

use super::*;

#[track_caller]
fn check(name: &str, kind: Kind, expected: Result<(), &str>) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("where it is");
    std::fs::create_dir(folder.join(name)).expect("a folder");
    let to = SandboxPath::new("/data").expect("a path");
    let mount = Mount { from: folder.join(name), to, writable: false };
    let mount = mount.open_by_name().expect("it is held");
    match (one(&mount, &mount.from, kind), expected) {
        (Ok(bound), Ok(())) => assert_eq!(bound.checked, Some(mount.source().identity())),
        (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{error}"),
        (found, _) => panic!("{name}: {found:?}"),
    }
}

#[test]
fn a_name_is_never_read_as_options_of_a_mount() {
    check("there", Kind::Docker, Ok(()));
    check("there", Kind::Podman, Ok(()));
    check("a,rw", Kind::Docker, Ok(()));
    check("a,rw", Kind::Podman, Err("more than one word"));
}
