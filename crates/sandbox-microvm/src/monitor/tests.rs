#![expect(clippy::disallowed_methods, reason = "tests start a monitor of their own, by hand")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bailiwick_testkit::requires;

use super::{Begins, Monitor};
use crate::backend::{Choice, Options};
use crate::{firecracker, kernel};

/// The kernel that `make test-deps` fetches.
fn fetched() -> Option<PathBuf> {
    kernel::find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/microvm/boot")).ok()
}

fn begins() -> Begins {
    let kernel = kernel::read(&fetched().unwrap(), Monitor::Firecracker.modules()).unwrap();
    Monitor::Firecracker.begins(&kernel, bailiwick_agent_program::bytes().unwrap()).unwrap()
}

fn held(one: &impl std::os::fd::AsRawFd) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), one.as_raw_fd())
}

/// What Firecracker's machines begin with, in a machine of QEMU's that has nothing else: no virtual socket leads out of it. So its first
/// process says that, and the machine starts anew, which is its end.
#[test]
fn the_kernel_that_was_unpacked_boots_and_our_first_process_ends_its_machine() {
    requires!("qemu", Path::new("/usr/bin/qemu-system-x86_64").is_file() && fetched().is_some());
    let begins = begins();
    let told = firecracker::configuration(0, 0, String::new(), super::Size { memory: 1, processors: 1 });
    let told = serde_json::to_value(told).unwrap();
    let words = told.pointer("/boot-source/boot_args").and_then(serde_json::Value::as_str).unwrap();
    let output = Command::new("/usr/bin/qemu-system-x86_64")
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "q35"])
        .args(["-accel", "tcg", "-cpu", "max", "-m", "256", "-serial", "stdio", "-append", words])
        .args(["-kernel", &held(&begins.kernel), "-initrd", &held(&begins.initramfs)])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let trouble = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("bailiwick: cannot open the port to the host: No such device"), "{said} {trouble}");
    assert!(said.contains("Restarting system") && output.status.success(), "{said} {trouble}");
}

#[test]
fn the_kernel_that_was_unpacked_is_a_plain_program_for_this_processor() {
    use std::io::Read as _;
    requires!("qemu", fetched().is_some());
    let begins = begins();
    let mut head = [0; 64];
    std::fs::File::open(held(&begins.kernel)).unwrap().read_exact(&mut head).unwrap();
    // Sixty-four bits, little end first, a program with a fixed place, for x86-64.
    assert_eq!((&head[..6], &head[16..20]), (&b"\x7fELF\x02\x01"[..], &[2, 0, 62, 0][..]));
    let parts = u16::from_le_bytes([head[56], head[57]]);
    assert!((1..=16).contains(&parts), "{parts} parts");
}

#[test]
fn firecracker_is_taken_where_it_is_named_or_where_there_is_nothing_else() {
    #[track_caller]
    fn check(monitor: Choice, (qemu, firecracker): (bool, bool), expected: Monitor) {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str, is_there: bool| {
            let path = folder.path().join(name);
            if is_there {
                std::fs::write(&path, "").unwrap();
            }
            path
        };
        let (program, firecracker) = (place("qemu", qemu), place("firecracker", firecracker));
        let paths = (program.clone(), firecracker.clone());
        let options = Options { program, firecracker, monitor, ..Options::new(folder.path()) };
        let path = if expected == Monitor::Qemu { paths.0 } else { paths.1 };
        assert_eq!(Monitor::choose(&options), (expected, path));
    }
    check(Choice::Auto, (true, true), Monitor::Qemu);
    check(Choice::Auto, (true, false), Monitor::Qemu);
    check(Choice::Auto, (false, true), Monitor::Firecracker);
    check(Choice::Auto, (false, false), Monitor::Qemu);
    check(Choice::Firecracker, (true, true), Monitor::Firecracker);
    check(Choice::Firecracker, (true, false), Monitor::Firecracker);
    check(Choice::Qemu, (false, true), Monitor::Qemu);
}
