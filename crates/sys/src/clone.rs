//! Making processes: one into namespaces of its own, and many by plain forks.

use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

use rustix::io::Errno;

use crate::alone::Alone;
use crate::descriptors::last;
use crate::{Failed, Step};

/// Which side of a fork this is.
#[derive(Debug)]
pub enum Side {
    /// The process that asked; the other one is this.
    Parent(Child),
    /// The new process.
    Child,
}

/// A process that was made.
#[derive(Debug)]
pub struct Child {
    /// Its number, as this process sees it.
    pub pid: i32,
    /// A handle that never means another process.
    pub pidfd: OwnedFd,
}

/// The namespaces a process gets of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// User, pid, net, mount, IPC and UTS.
    All,
    /// All but the user namespace, for a root that may not make one.
    AllButUser,
    /// None.
    Nothing,
}

impl Own {
    const fn flags(self) -> i32 {
        let without_user = libc::CLONE_NEWPID
            | libc::CLONE_NEWNET
            | libc::CLONE_NEWNS
            | libc::CLONE_NEWIPC
            | libc::CLONE_NEWUTS;
        match self {
            Self::All => without_user | libc::CLONE_NEWUSER,
            Self::AllButUser => without_user,
            Self::Nothing => 0,
        }
    }
}

/// Starts a process in namespaces of its own, as a sibling: its parent is this process's parent, so that this process
/// can end and leave it behind. It is pid 1 of its pid namespace.
pub fn into_namespaces(own: Own, _alone: &Alone) -> Result<Side, Failed> {
    // With CLONE_PARENT the signal at its end is this process's own, and none may be named.
    clone(own.flags() | libc::CLONE_PARENT, Step::CloneNamespaces)
}

/// Forks, with a pidfd. The parent is told of the end by SIGCHLD.
pub fn fork(_alone: &Alone) -> Result<Side, Failed> {
    clone(libc::SIGCHLD, Step::CloneCell)
}

/// Starts a process that has nothing of its own but a user namespace.
pub(crate) fn into_user_namespace(_alone: &Alone) -> Result<Side, Failed> {
    clone(libc::CLONE_NEWUSER | libc::SIGCHLD, Step::CloneNamespaces)
}

/// Starts the first process of a jail, as a child: pid 1 of its pid namespace where it has one. Without `network` it stays in
/// this one.
pub fn into_jail(own: Own, network: bool, _alone: &Alone) -> Result<Side, Failed> {
    let mut flags = own.flags();
    if own != Own::Nothing && !network {
        flags &= !libc::CLONE_NEWNET;
    }
    clone(flags | libc::SIGCHLD, Step::CloneNamespaces)
}

fn clone(flags: i32, step: Step) -> Result<Side, Failed> {
    let mut pidfd: RawFd = -1;
    let flags = libc::c_long::from(flags | libc::CLONE_PIDFD);
    let nothing: libc::c_long = 0;
    // SAFETY: without CLONE_VM the child has its own copy of the memory and goes on with this stack, as after fork();
    // `Alone` says that no other thread could hold a lock in that copy. The kernel writes the pidfd into a live
    // variable of this frame. The order of the last two arguments differs between architectures; both are zero.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, nothing, &raw mut pidfd, nothing, nothing) };
    match pid {
        0 => Ok(Side::Child),
        1.. => {
            // SAFETY: the kernel made this descriptor for us just now, and nobody else knows it.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            let pid = i32::try_from(pid).map_err(|_| step.failed(Errno::OVERFLOW))?;
            Ok(Side::Parent(Child { pid, pidfd }))
        }
        _ => Err(step.failed(last())),
    }
}
