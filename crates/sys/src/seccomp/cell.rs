//! What a cell may ask of the kernel: memory that is not executable, its one socket, clocks, randomness, the end.

use super::{Allowed, When};

/// The descriptor of the one socket.
const SOCKET: &[u64] = &[0];

/// The descriptor of stderr, which is closed: a runtime that dies writes there first, and must not be taken for an
/// attack.
const NOTHING: &[u64] = &[2];

/// Either.
const SOCKET_OR_NOTHING: &[u64] = &[0, 2];

/// The bit that would make memory executable.
const EXECUTABLE: u64 = libc::PROT_EXEC as u64;

/// The bit that would take pages from a pool that no cgroup counts.
const HUGE: u64 = libc::MAP_HUGETLB as u64;

const fn allowed(number: libc::c_long, when: When, why: &'static str) -> Allowed {
    Allowed { number, when, why }
}

/// The list.
pub const ALLOWED: &[Allowed] = &[
    allowed(libc::SYS_read, When::OneOf(0, SOCKET), "the job comes in by the one socket"),
    allowed(
        libc::SYS_write,
        When::OneOf(0, SOCKET_OR_NOTHING),
        "lines and the report go out by the one socket",
    ),
    allowed(
        libc::SYS_writev,
        When::OneOf(0, NOTHING),
        "the C library's last words before an abort, which nobody hears",
    ),
    #[cfg(target_arch = "x86_64")]
    allowed(libc::SYS_poll, When::Always, "a timer waits, and notices when the host is gone"),
    allowed(libc::SYS_ppoll, When::Always, "a timer waits, and notices when the host is gone"),
    allowed(libc::SYS_restart_syscall, When::Always, "the kernel resumes a wait after a stop"),
    allowed(libc::SYS_mmap, When::WithoutEither((2, EXECUTABLE), (3, HUGE)), "the allocator asks for memory"),
    allowed(libc::SYS_munmap, When::Always, "the allocator gives memory back"),
    allowed(libc::SYS_mremap, When::Always, "the allocator grows large blocks"),
    allowed(libc::SYS_brk, When::Always, "the allocator grows its heap"),
    allowed(libc::SYS_madvise, When::Always, "the allocator gives pages back"),
    allowed(libc::SYS_clock_gettime, When::Always, "clocks, where the kernel's page for them is not mapped"),
    #[cfg(target_arch = "x86_64")]
    allowed(libc::SYS_gettimeofday, When::Always, "the engine's Date, where that page is not mapped"),
    allowed(libc::SYS_getrandom, When::Always, "seeds that clones must not share"),
    allowed(
        libc::SYS_prlimit64,
        When::Both((0, 0), (1, libc::RLIMIT_AS as u64)),
        "the job's own memory bound, downwards only",
    ),
    allowed(
        libc::SYS_prlimit64,
        When::Both((0, 0), (1, libc::RLIMIT_CPU as u64)),
        "the job's own CPU bound, downwards only",
    ),
    allowed(libc::SYS_rt_sigprocmask, When::Always, "abort() looks at its mask before it ends the process"),
    allowed(
        libc::SYS_gettid,
        When::Always,
        "abort() asks who it is; its kill then traps and is told as an abort",
    ),
    allowed(libc::SYS_getpid, When::Always, "abort() asks who it is"),
    allowed(libc::SYS_exit, When::Always, "the end"),
    allowed(libc::SYS_exit_group, When::Always, "the end"),
];
