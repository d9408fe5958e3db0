//! Ending processes by a handle that never means another process, and reaping them.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions, WaitIdStatus, pidfd_send_signal, waitid};

use crate::descriptors::last;
use crate::{Failed, Step};

/// A pidfd for a child of this process that nobody has reaped yet, so that its number is still its own.
pub fn of_child(pid: u32) -> Result<OwnedFd, Failed> {
    let failed = |errno| Step::Wait.failed(errno);
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.ok_or_else(|| failed(Errno::SRCH))?;
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).map_err(failed)
}

/// Kills the process behind a pidfd. One that is gone already is fine.
pub fn kill(pidfd: impl AsFd) -> Result<(), Failed> {
    match pidfd_send_signal(pidfd, Signal::KILL) {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => Err(Step::Kill.failed(errno)),
    }
}

/// Makes the process behind a pidfd stand still, or go on. One that is gone is fine.
pub fn halt(pidfd: impl AsFd, still: bool) -> Result<(), Failed> {
    match pidfd_send_signal(pidfd, if still { Signal::STOP } else { Signal::CONT }) {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => Err(Step::Kill.failed(errno)),
    }
}

/// Waits for the end of a child and reaps it. Gives how it ended, unless somebody else has reaped it.
pub fn reap(pidfd: impl AsFd) -> Result<Option<How>, Failed> {
    loop {
        match waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED) {
            Ok(status) => {
                let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
                let exited = status.as_ref().and_then(WaitIdStatus::exit_status);
                let signalled = status.as_ref().and_then(WaitIdStatus::terminating_signal);
                let how = exited.map(|code| How::Exited(byte(code)));
                return Ok(how.or_else(|| signalled.map(|signal| How::Signalled(byte(signal)))));
            }
            Err(Errno::CHILD) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Step::Reap.failed(errno)),
        }
    }
}

/// Reaps a child if it has ended, and does not wait for it.
pub fn reap_if_ended(pidfd: impl AsFd) -> Result<(), Failed> {
    match waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
        Ok(_) | Err(Errno::CHILD) => Ok(()),
        Err(errno) => Err(Step::Reap.failed(errno)),
    }
}

/// A child that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its number.
    pub pid: i32,
    /// How it ended.
    pub how: How,
    /// CPU time it used, in microseconds.
    pub cpu_us: u64,
    /// The most memory that it or a child it waited for held, in bytes. What it was forked from counts, up to there.
    pub memory_peak: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// With this exit code.
    Exited(u8),
    /// By this signal.
    Signalled(u8),
}

/// Reaps one child that has ended, if one has.
pub fn reap_one() -> Result<Option<Ended>, Failed> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is a valid one.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of this frame.
    let pid = unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage) };
    match pid {
        0 => Ok(None),
        1.. => {
            let how = if libc::WIFSIGNALED(status) {
                How::Signalled(u8::try_from(libc::WTERMSIG(status)).unwrap_or(u8::MAX))
            } else {
                How::Exited(u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX))
            };
            let microseconds = |time: libc::timeval| {
                u64::try_from(time.tv_sec)
                    .unwrap_or(0)
                    .saturating_mul(1_000_000)
                    .saturating_add(u64::try_from(time.tv_usec).unwrap_or(0))
            };
            let cpu_us = microseconds(usage.ru_utime).saturating_add(microseconds(usage.ru_stime));
            let memory_peak = u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(1024);
            Ok(Some(Ended { pid, how, cpu_us, memory_peak }))
        }
        _ => match last() {
            Errno::CHILD => Ok(None),
            errno => Err(Step::Reap.failed(errno)),
        },
    }
}
