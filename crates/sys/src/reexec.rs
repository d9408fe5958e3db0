//! Starting this very program again, with an empty environment and one descriptor.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use crate::namespaces::errno;
use crate::{Failed, Step};

/// Starts this program under another name. Its stdin is `socket`; it has no environment and nowhere to write.
///
/// The program is the one that runs now, even if its file was replaced since.
#[expect(clippy::disallowed_methods, reason = "the one program that is started on the host is ourselves")]
pub fn start(name: &str, arguments: &[&str], socket: OwnedFd) -> Result<Child, Failed> {
    Command::new("/proc/self/exe")
        .arg0(name)
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Step::StartSelf.failed(errno(&error)))
}
