//! The signals of a process that waits for everything at one place: none reaches it, and ended children can be polled for.

use std::os::fd::{FromRawFd as _, OwnedFd};
use std::ptr;

use rustix::io::Errno;

use crate::descriptors::last;
use crate::{Failed, Step};

/// How many signals the kernel has, and how many bytes its set of them.
const SIGNALS: libc::c_int = 64;
const SET: usize = 8;

/// Blocks every signal, puts every disposition back to the default, so that a command inherits none, and gives a descriptor
/// that can be read when a child has ended.
///
/// The two signals that the C library keeps for itself are among them, which its own functions would leave out.
pub fn hold_all() -> Result<OwnedFd, Failed> {
    mask(u64::MAX)?;
    set_all(libc::SIG_DFL)?;
    // SAFETY: an all-zero set is a valid one, and sigaddset writes into it.
    let set = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        set
    };
    // SAFETY: the set lives in this frame.
    let descriptor = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(Step::BlockChildSignal.failed(last()));
    }
    // SAFETY: the kernel made this descriptor just now, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Forgets the signals that were sent to this process and that it does not take: others could see that they wait. Those of
/// ended children are not among them.
pub fn forget() -> Result<(), Failed> {
    // The kernel throws away what waits when a signal is ignored.
    set_all(libc::SIG_IGN)?;
    set_all(libc::SIG_DFL)
}

/// Sets what is done at every signal but those that cannot be caught, and those of ended children, for whom the default is
/// the only one with which they wait to be reaped.
fn set_all(disposition: libc::sighandler_t) -> Result<(), Failed> {
    for signal in 1..=SIGNALS {
        let disposition = match signal {
            libc::SIGKILL | libc::SIGSTOP => continue,
            libc::SIGCHLD => libc::SIG_DFL,
            _ => disposition,
        };
        // The kernel's own structure begins with the disposition; the rest is zero on every architecture.
        let action = [disposition as u64, 0, 0, 0];
        // SAFETY: the pointer is to a live variable that is at least as large as the kernel's structure.
        let result = unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                action.as_ptr(),
                ptr::null_mut::<libc::c_void>(),
                SET,
            )
        };
        if result != 0 {
            return Err(Step::SetHandler.failed(last()));
        }
    }
    Ok(())
}

/// Sets which signals are blocked, one bit each.
pub(crate) fn mask(blocked: u64) -> Result<(), Failed> {
    let nothing = ptr::null_mut::<libc::c_void>();
    // SAFETY: the pointer is to a live variable of the kernel's size of a set.
    let result = unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const blocked, nothing, SET)
    };
    if result == 0 { Ok(()) } else { Err(Step::BlockSignals.failed(last())) }
}

/// Sends a signal to a process. A number of a group or of everyone is refused.
pub fn send(pid: i32, signal: i32) -> Result<(), Errno> {
    if pid <= 1 {
        return Err(Errno::INVAL);
    }
    raw(pid, signal)
}

/// Sends a signal to every process but this one, which has to be the first of its pid namespace: elsewhere that would be
/// everybody on the machine.
pub fn send_to_all_others(signal: i32) -> Result<(), Errno> {
    if std::process::id() != 1 {
        return Err(Errno::PERM);
    }
    raw(-1, signal)
}

/// Sends a signal to everybody whom one can reach. Only for a process whose signals were seen to stay among its own: by
/// Landlock, where there is no pid namespace. Anywhere else this would end the user's every program.
pub fn send_within(signal: i32) -> Result<(), Errno> {
    raw(-1, signal)
}

fn raw(pid: i32, signal: i32) -> Result<(), Errno> {
    // SAFETY: kill takes numbers only.
    if unsafe { libc::kill(pid, signal) } == 0 { Ok(()) } else { Err(last()) }
}
