//! A box for attacks that nothing stops: the rest of a test runs as root with every capability, in namespaces of its own.
//!
//! There the attacks of `specs/commands` are seen to win. What they could harm (mounts, names, processes, shared memory,
//! the network) is the box's, not the machine's. They share the kernel with everybody all the same: an attack that is
//! run here must be harmless when it wins.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::again;

const UNSHARE: &str = "/usr/bin/unshare";
/// Loopback is there, as on any machine.
const SET_UP: &str = "ip link set lo up && exec \"$@\"";

/// Whether such a box can be made here, as `requires!("root", ...)` wants to know.
pub fn is_possible() -> bool {
    rustix::process::geteuid().is_root() && Path::new(UNSHARE).exists() && crate::netns::has_ip()
}

/// Runs what is left of a test in a box. The closure must be written in the test itself.
///
/// # Panics
/// When the test fails inside, is not found there, or no box can be made.
#[track_caller]
pub fn run(inside_of_it: impl FnOnce()) {
    if is_inside() {
        return inside_of_it();
    }
    again::run(&inside_of_it, &mark(), command);
}

/// What a process in the box is told: the pid namespace that it must not be in.
pub(crate) fn mark() -> String {
    format!("hollow {}", here().display())
}

/// A command that runs a program in a box.
pub(crate) fn command(program: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the box is made here and nowhere else")]
    let mut command = Command::new(UNSHARE);
    command
        .args(["--mount", "--uts", "--ipc", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"])
        .args(["--", "/bin/sh", "-c", SET_UP, "hollow"])
        .arg(program);
    command
}

/// Whether this process is in a box; one that should be and is not must run nothing.
pub(crate) fn is_inside() -> bool {
    let Some(told) = again::told() else { return false };
    let Some(outside) = told.strip_prefix("hollow ") else { return false };
    assert_ne!(here().display().to_string(), outside, "this should be a box");
    true
}

/// The processes that this one sees.
#[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
fn here() -> PathBuf {
    std::fs::read_link("/proc/self/ns/pid").expect("the kernel says which namespace this is")
}
