//! Mounts as they are typed, and where they can be.

use std::path::PathBuf;

use crate::{Mount, SandboxPath, check_mounts};

#[track_caller]
fn check(text: &str, expected: Result<(&str, &str, bool), &str>) {
    match (text.parse::<Mount>(), expected) {
        (Ok(mount), Ok((from, to, writable))) => {
            let read = Mount { from: PathBuf::from(from), to: SandboxPath::new(to).unwrap(), writable };
            assert_eq!(mount, read, "{text}");
            assert_eq!(mount.to_string().parse(), Ok(mount), "{text}: what is shown can be typed");
        }
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{text}: {error}"),
        (given, _) => panic!("{text}: {given:?} instead of {expected:?}"),
    }
}

#[test]
fn mounts_are_read_as_they_are_typed() {
    let table = [
        ("/srv/data:/data", Ok(("/srv/data", "/data", false))),
        ("/srv/data:/data:ro", Ok(("/srv/data", "/data", false))),
        ("/srv/data:/data:rw", Ok(("/srv/data", "/data", true))),
        (".:/work:rw", Ok((".", "/work", true))),
        ("/a:b:/c", Ok(("/a:b", "/c", false))),
        ("/a:/b:/c", Ok(("/a:/b", "/c", false))),
        ("/a://b/./c/", Ok(("/a", "/b/c", false))),
        ("/a:/ro", Ok(("/a", "/ro", false))),
        ("/srv/data", Err("write HOST:SANDBOX")),
        ("", Err("write HOST:SANDBOX")),
        ("/srv:ro", Err("write HOST:SANDBOX")),
        ("/srv:data", Err("is not an absolute path")),
        ("/srv:./data:rw", Err("is not an absolute path")),
        ("/srv:/data:rx", Err("neither `ro` nor `rw`")),
        ("/srv:/data:rw:ro", Err("neither `ro` nor `rw`")),
        ("/srv:/data:", Err("neither `ro` nor `rw`")),
        (":/data", Err("no path of the host")),
        ("/srv:/a/../b", Err("has a `..` in it")),
        ("/srv:/a\0b", Err("NUL")),
    ];
    for (text, expected) in table {
        check(text, expected);
    }
}

#[track_caller]
fn check_all(mounts: &[&str], expected: Result<(), &str>) {
    let read: Vec<Mount> = mounts.iter().map(|text| text.parse().unwrap()).collect();
    match (check_mounts(&read, &[]), expected) {
        (Ok(()), Ok(())) => {}
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{mounts:?}: {error}"),
        (given, _) => panic!("{mounts:?}: {given:?} instead of {expected:?}"),
    }
}

#[test]
fn mounts_lie_where_a_sandbox_has_nothing_of_its_own() {
    check_all(&["/srv:/work:rw", "/srv/b:/data", "/srv/c:/opt/x"], Ok(()));
    check_all(&["/srv:/procession", "/srv:/library", "/srv:/home/me", "/srv:/tmp/x"], Ok(()));
    let taken = [
        "/",
        "/proc",
        "/proc/self",
        "/dev",
        "/dev/shm",
        "/sys",
        "/sys/fs/cgroup",
        "/usr",
        "/.agent",
        "/.agent/program",
        "/.aside/0",
        "/.bailiwick-agent",
        "/.old",
        "/.own/0",
        "//./.agent",
        "/usr/local/bin",
        "/bin",
        "/sbin",
        "/lib",
        "/lib32",
        "/lib64",
        "/libx32",
        "/etc",
        "/etc/passwd",
        "/run",
        "/boot",
        "//proc//x",
        "/./etc",
    ];
    for place in taken {
        check_all(&[&format!("/srv:{place}")], Err("the sandbox has its own there"));
    }
}

#[test]
fn two_mounts_never_hide_each_other() {
    check_all(&["/a:/work", "/b:/work"], Err("two mounts at `/work`"));
    check_all(&["/a:/work", "/b:/other", "/c:/work/"], Err("two mounts at `/work`"));
    check_all(&["/a:/work", "/b:/work/sub"], Ok(()));
    check_all(&["/b:/work/sub", "/a:/work"], Err("name the outer one first"));
    check_all(&["/b:/work/a/b", "/x:/other", "/a:/work"], Err("would hide the one at `/work/a/b`"));
    check_all(&["/a:/work", "/b:/workshop"], Ok(()));
}

#[test]
fn the_hosts_side_of_a_mount_is_an_absolute_path_without_detours() {
    check_all(&["srv:/work"], Err("must be absolute"));
    check_all(&[".:/work"], Err("must be absolute"));
    check_all(&["/srv/../etc:/work"], Err("has a `..` in it"));
    check_all(&["/srv\0x:/work"], Err("NUL"));
    let many: Vec<String> = (0..65).map(|n| format!("/srv:/m{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    check_all(&many[..64], Ok(()));
    check_all(&many, Err("65 mounts"));
}
