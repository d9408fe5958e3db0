use bailiwick_sandbox::SandboxPath;

use super::*;

#[track_caller]
fn check(name: &str, kind: Kind, expected: Result<(), &str>) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("where it is");
    std::fs::create_dir(folder.join("there")).expect("a folder");
    std::fs::create_dir(folder.join("a,rw")).expect("a folder");
    std::os::unix::fs::symlink("there", folder.join("link")).expect("a link");
    let to = SandboxPath::new("/data").expect("a path");
    let mount = Mount { from: folder.join(name), to, writable: false };
    match (checked(&[mount], kind), expected) {
        (Ok(_), Ok(())) => {}
        (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{error}"),
        (found, _) => panic!("{name}: {found:?}"),
    }
}

#[test]
fn only_what_is_there_without_a_link_on_the_way_is_mounted() {
    for kind in [Kind::Docker, Kind::Podman] {
        check("there", kind, Ok(()));
        check("link", kind, Err("a symbolic link on the way"));
        check("missing", kind, Err("No such file"));
    }
}

#[test]
fn a_name_is_never_read_as_options_of_a_mount() {
    check("a,rw", Kind::Docker, Ok(()));
    check("a,rw", Kind::Podman, Err("more than one word"));
}
