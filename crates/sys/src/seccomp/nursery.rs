//! What a nursery may ask of the kernel beside what its cells may: fork exactly one kind of process, pass it on, reap.

use super::{Allowed, When};

/// A fork with a pidfd, and nothing else: no namespace, no thread, no shared memory.
const A_FORK: &[u64] = &[(libc::CLONE_PIDFD | libc::SIGCHLD) as u64];

/// What may be set about the process itself.
const SETTINGS: &[u64] = &[
    libc::PR_SET_PDEATHSIG as u64,
    libc::PR_SET_NO_NEW_PRIVS as u64,
    libc::PR_GET_SECCOMP as u64,
    libc::PR_GET_NO_NEW_PRIVS as u64,
    libc::PR_GET_DUMPABLE as u64,
];

const fn allowed(number: libc::c_long, when: When, why: &'static str) -> Allowed {
    Allowed { number, when, why }
}

/// The list; the cells' own is added to it.
pub const ALLOWED: &[Allowed] = &[
    allowed(libc::SYS_clone, When::OneOf(0, A_FORK), "cells are forks"),
    allowed(
        libc::SYS_socketpair,
        When::OneOf(0, &[libc::AF_UNIX as u64]),
        "each cell has a socket of its own",
    ),
    allowed(libc::SYS_recvmsg, When::OneOf(0, &[0]), "the host asks for cells"),
    allowed(libc::SYS_sendmsg, When::OneOf(0, &[0]), "a cell's socket and pidfd go to the host"),
    allowed(libc::SYS_wait4, When::Always, "ended cells are reaped"),
    allowed(libc::SYS_rt_sigreturn, When::Always, "the signal of an ended cell returns"),
    allowed(libc::SYS_close, When::Always, "the nursery keeps no handle of its cells"),
    allowed(
        libc::SYS_fcntl,
        When::OneOf(1, &[libc::F_GETFD as u64]),
        "a debug build looks at a descriptor before it closes it",
    ),
    allowed(libc::SYS_close_range, When::Always, "a new cell closes all but its socket"),
    allowed(libc::SYS_dup3, When::Always, "a new cell puts its socket in its place"),
    allowed(
        libc::SYS_prlimit64,
        When::Both((0, 0), (1, libc::RLIMIT_NOFILE as u64)),
        "a new cell gives up all descriptors but its one",
    ),
    allowed(
        libc::SYS_prctl,
        When::OneOf(0, SETTINGS),
        "a new cell dies with its nursery and takes its filter",
    ),
    allowed(libc::SYS_seccomp, When::Always, "a new cell takes its narrower filter"),
];

/// The nursery's list with the cells' own.
pub fn with_cells() -> Vec<Allowed> {
    let mut all = super::cell::ALLOWED.to_vec();
    all.extend_from_slice(ALLOWED);
    all
}
