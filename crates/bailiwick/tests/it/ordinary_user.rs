//! The same walls for an ordinary user, as far as they can be had, and told where they cannot.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use bailiwick::types::WallStatus;

use crate::alone::{argument, program};
use crate::processes::{self, descriptors, namespace, status};
use crate::requires::{Needs, has, skip};
use crate::standing::Standing;
use crate::walls::NAMESPACES;

bailiwick_testkit::tests!(an_ordinary_user_has_all_walls_but_the_cgroup,);

/// A user that owns nothing.
const NOBODY: u32 = 65_534;

fn an_ordinary_user_has_all_walls_but_the_cgroup() {
    if !has(&[Needs::Root, Needs::UserNamespaces]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("permissions");
    let copy = folder.path().join("it");
    std::fs::copy(program(), &copy).expect("a copy that the user may read");
    let as_nobody = |program: &std::path::Path| {
        let mut command = Command::new(program);
        command.uid(NOBODY).gid(NOBODY).current_dir("/").env_clear();
        command
    };
    let mut unshare = as_nobody("/usr/bin/unshare".as_ref());
    if !unshare.args(["-U", "true"]).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        skip(Needs::UserNamespaces, "an ordinary user can make no user namespace");
        return;
    }
    let standing = Standing::start(as_nobody(&copy).arg(argument("standing")));
    assert!(!standing.receipt.insecure);
    for wall in &standing.receipt.walls {
        crate::output::line(format_args!("{:?}: {} ({})", wall.status, wall.demand, wall.mechanism));
    }
    for (demand, mechanism) in [
        ("own process", "one-shot fork"),
        ("no other system calls", "system call filter"),
        ("no network", "net namespace + system call filter"),
        ("no files", "empty read-only root + system call filter"),
        ("no other processes", "pid namespace + system call filter"),
        ("nothing shared with the host", "ipc namespace + uts namespace"),
        ("no privileges", "user namespace + no capabilities + no_new_privs"),
        ("not traceable", "not dumpable"),
    ] {
        assert_eq!(standing.wall(demand), (WallStatus::Enforced, mechanism), "{demand}");
    }
    // What is claimed is there, seen from root.
    let (nursery, cells) = standing.walled_in();
    let (memory, mechanism) = standing.wall("memory of all calls together");
    assert_eq!(memory == WallStatus::Enforced, processes::is_in_a_cgroup_of_ours(nursery), "{mechanism}");
    assert!(memory == WallStatus::Enforced || mechanism.contains("no cgroup"), "{mechanism}");
    for cell in cells {
        for kind in NAMESPACES {
            assert_ne!(namespace(cell, kind), namespace(standing.pid, kind), "{kind}");
        }
        for (field, expected) in [
            ("NoNewPrivs", "1"),
            ("Seccomp", "2"),
            ("CapEff", "0000000000000000"),
            ("CapBnd", "0000000000000000"),
        ] {
            assert_eq!(status(cell, field), expected, "{field}");
        }
        assert_eq!(status(cell, "Uid").split_whitespace().next(), Some("65534"));
        assert_eq!(std::fs::read_dir(format!("/proc/{cell}/root")).expect("its root").count(), 0);
        assert_eq!(std::fs::read(format!("/proc/{cell}/environ")).expect("its environment"), b"");
        assert_eq!(descriptors(cell).len(), 1);
    }
    standing.end();
}
