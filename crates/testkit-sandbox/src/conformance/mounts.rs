//! Directories and files of the host's inside.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use bailiwick_sandbox::{Held, Mount, SandboxError, SandboxSpec};
use bailiwick_types::ErrorCode;

use super::stage::Traces;
use super::{MountOwner, Place, Subject, checks};
use crate::{entries, is_root, path, sh, shell, wait};

checks!(
    mounts_are_read_or_written_as_they_were_asked_for,
    what_is_no_plain_directory_or_file_is_not_mounted,
    a_mount_within_another_makes_nothing_on_the_host,
);

/// Somebody else on the host.
const SOMEBODY: u32 = 1234;

pub(super) fn mount(from: &Path, to: &str, writable: bool) -> Held<Mount> {
    let from = from.canonicalize().expect("a path");
    Mount { from, to: path(to), writable }.open_by_name().expect("it is held")
}

fn mounts_are_read_or_written_as_they_were_asked_for(subject: &dyn Subject) {
    let (place, claims) = (Place::new(subject), subject.claims());
    let (read, write, file) =
        (place.path().join("read"), place.path().join("write"), place.path().join("file"));
    for folder in [&read, &write] {
        std::fs::create_dir(folder).expect("a directory");
        std::fs::write(folder.join("one"), "of the host's\n").expect("a file");
    }
    std::fs::write(&file, "alone\n").expect("a file");
    // What is mounted is open to whoever the sandbox is on the host: only the mount itself is in the way.
    let open = |one: &Path, mode| {
        std::fs::set_permissions(one, std::fs::Permissions::from_mode(mode)).expect("permissions");
    };
    open(&place.path(), 0o755);
    for one in [&read, &read.join("one"), &write, &file] {
        match claims.mount_owner {
            MountOwner::OfTheSandbox => open(one, 0o777),
            MountOwner::OfTheMount if is_root() => {
                std::os::unix::fs::chown(one, Some(SOMEBODY), Some(SOMEBODY)).expect("another owner");
            }
            MountOwner::OfTheMount => {}
        }
    }
    let mounts = vec![
        mount(&read, "/srv/deep/read", false),
        mount(&write, "/work/write", true),
        mount(&file, "/tmp/file", false),
    ];
    wait(async {
        let sandbox = place.create(SandboxSpec { mounts, ..place.spec() }).await.expect("a sandbox");
        let all = "cat /srv/deep/read/one /work/write/one /tmp/file; ls /tmp; echo of the sandbox > /work/write/two; \
                   mkdir /work/write/deep; echo x > /work/write/deep/er; stat -c %U /work/write/two; echo x > /work/own";
        let told = sh(sandbox.as_ref(), all).await;
        assert_eq!(told, "of the host's\nof the host's\nalone\nfile\nsandbox\n");
        for refused in [
            "echo x > /srv/deep/read/two",
            "echo x >> /srv/deep/read/one",
            "rm -f /srv/deep/read/one",
            "echo x > /tmp/file",
            "rm /tmp/file",
        ] {
            let result = sandbox.exec(shell(refused)).await.expect("it runs");
            assert_ne!(result.exit.status(), 0, "{refused}");
        }
        sandbox.terminate().await.expect("ended");
    });
    assert_eq!(std::fs::read_to_string(write.join("two")).expect("written"), "of the sandbox\n");
    let owner = match claims.mount_owner {
        MountOwner::OfTheMount => std::fs::metadata(&write).expect("a directory").uid(),
        MountOwner::OfTheSandbox => claims.user,
    };
    for made in ["two", "deep", "deep/er"] {
        assert_eq!(std::fs::metadata(write.join(made)).expect("written").uid(), owner, "{made}");
    }
    assert_eq!(std::fs::read_to_string(read.join("one")).expect("a file"), "of the host's\n");
    assert_eq!(entries(&read).len(), 1);
    assert!(!write.join("own").exists());
}

fn what_is_no_plain_directory_or_file_is_not_mounted(subject: &dyn Subject) {
    let place = Place::new(subject);
    let link = place.path().join("link");
    std::os::unix::fs::symlink("/usr", &link).expect("a link");
    for (from, why) in [
        (link.join("share"), "a symbolic link on the way"),
        (link, "a symbolic link on the way"),
        (place.path().join("nothing"), "No such file"),
        ("/dev/null".into(), "neither a file nor a folder"),
    ] {
        let mount = Mount { from, to: path("/srv/x"), writable: false };
        let error = mount.open_by_name().expect_err("it is refused");
        assert!(matches!(error, SandboxError::Mount { .. }), "{error}");
        assert_eq!(error.code(), ErrorCode::FsDenied, "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(place.traces(), Traces::default());
}

fn a_mount_within_another_makes_nothing_on_the_host(subject: &dyn Subject) {
    let place = Place::new(subject);
    let (outer, inner) = (place.path().join("outer"), place.path().join("inner"));
    std::fs::create_dir_all(outer.join("there")).expect("a directory");
    std::fs::create_dir(&inner).expect("a directory");
    std::fs::write(inner.join("one"), "one").expect("a file");
    wait(async {
        let with = |to: &str| {
            let mounts = vec![mount(&outer, "/srv/outer", true), mount(&inner, to, false)];
            SandboxSpec { mounts, ..place.spec() }
        };
        let refused = place.create(with("/srv/outer/new")).await.err();
        assert!(matches!(refused, Some(SandboxError::Mount { .. })), "{refused:?}");
        let sandbox = place.create(with("/srv/outer/there")).await.expect("a sandbox");
        assert_eq!(sh(sandbox.as_ref(), "cat /srv/outer/there/one").await, "one");
    });
    assert_eq!(entries(&outer).len(), 1);
}
