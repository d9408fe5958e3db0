//! The bare system calls that figures are measured against.

use rustix::io::Errno;

use crate::descriptors::last;
use crate::{Failed, Step};

/// Forks, lets the child exit at once, and waits for it: the least that a process can cost.
pub fn fork_exit_wait() -> Result<(), Failed> {
    // SAFETY: the child calls nothing but _exit, which is safe whatever other threads were doing.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => crate::ending::exit_now(0),
        1.. => wait(pid),
        _ => Err(Step::CloneCell.failed(last())),
    }
}

fn wait(pid: i32) -> Result<(), Failed> {
    let mut status = 0;
    loop {
        // SAFETY: the pointer is to a live variable of this frame.
        if unsafe { libc::waitpid(pid, &raw mut status, 0) } == pid {
            return Ok(());
        }
        match last() {
            Errno::INTR => {}
            errno => return Err(Step::Reap.failed(errno)),
        }
    }
}
