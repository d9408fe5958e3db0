//! Starting a program of the host's that stands around a sandbox: with no environment, in a group of its own, and in its cgroups
//! before its first instruction.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// A program that goes through these doors when it is started. Its streams are for whoever calls to say.
///
/// No signal of a terminal reaches it.
#[expect(clippy::disallowed_methods, reason = "the one place where programs that build walls are started")]
pub fn through(program: &Path, doors: Vec<OwnedFd>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").process_group(0);
    let go = move || {
        for door in &doors {
            rustix::io::retry_on_intr(|| rustix::io::write(door, b"0"))?;
        }
        Ok(())
    };
    // SAFETY: the closure makes one system call for each door and nothing else: it allocates nothing and takes no lock.
    unsafe { command.pre_exec(go) };
    command
}
