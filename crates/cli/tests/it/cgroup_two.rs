//! The backend `process` where the only cgroups are those of version 2, as on most machines today: in an emulated machine, since the machine
//! that runs the tests may have version 1.

use std::path::Path;
use std::process::Command;

use bailiwick_testkit::requires;

/// Attacks at 90 % and 110 % of memory, and those where the two versions differ most.
const CASES: [&str; 9] = [
    "limits/memory-nine-tenths",
    "limits/memory-on-the-heap",
    "limits/memory-of-many",
    "limits/memory-and-files",
    "limits/memory-without-a-name",
    "limits/memory-that-stays",
    "limits/memory-in-sockets",
    "limits/fork-bomb",
    "limits/processor",
];

#[test]
#[expect(clippy::disallowed_methods, reason = "a script of the tests' own")]
fn sessions_services_and_users_have_sandboxes_that_hold_their_limits_by_cgroups_of_version_two() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let has_kernel = top.join("target/microvm/boot").is_dir();
    requires!("qemu", has_kernel && Path::new("/usr/bin/qemu-system-x86_64").exists());
    requires!("busybox", Path::new("/usr/bin/busybox").exists());
    requires!("mkfs.ext4", Path::new("/usr/sbin/mkfs.ext4").exists());
    requires!("python3", Path::new("/usr/bin/python3").exists());
    let folder = tempfile::tempdir().expect("a folder");
    let mut script = Command::new(top.join(".ci/cgroup2"));
    script.arg(env!("CARGO_BIN_EXE_bailiwick")).arg(folder.path().join("machine")).args(CASES);
    let ran = script.output().expect("the script");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    for case in CASES {
        assert!(said.contains(&format!("\nok {case}")), "{case}: {said}");
    }
}
