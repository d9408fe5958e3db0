//! What a command in a sandbox may ask of the kernel: what programs of an ordinary user need, and nothing that makes
//! namespaces, mounts, traces others, loads code into the kernel, or reaches it by a way that filters cannot see.
//!
//! What is not on the list answers EPERM; what programs know how to do without answers ENOSYS, so that they do.

use std::collections::BTreeMap;

use rustix::io::Errno;
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::{ARCH, Filter, number};
use crate::{Failed, Step};

/// System calls that are allowed for one reason.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// What they are for.
    pub why: &'static str,
    /// By name; one that this architecture does not have is left out.
    pub calls: &'static [&'static str],
}

/// Whether sockets of the internet can be made: where the network namespace is not one's own, they must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// Within a machine and over the internet's protocols.
    Internet,
    /// Only pairs that are connected from birth.
    PairsOnly,
}

/// Allowed with any arguments.
pub const ALLOWED: &[Group] = &[
    Group {
        why: "files and folders",
        calls: &[
            "access",
            "faccessat",
            "faccessat2",
            "chdir",
            "fchdir",
            "getcwd",
            "close",
            "close_range",
            "dup",
            "dup2",
            "dup3",
            "fcntl",
            "flock",
            "fstat",
            "stat",
            "lstat",
            "newfstatat",
            "statx",
            "statfs",
            "fstatfs",
            "ustat",
            "getdents",
            "getdents64",
            "lseek",
            "link",
            "linkat",
            "symlink",
            "symlinkat",
            "unlink",
            "unlinkat",
            "rename",
            "renameat",
            "renameat2",
            "mkdir",
            "mkdirat",
            "rmdir",
            "readlink",
            "readlinkat",
            "truncate",
            "ftruncate",
            "fallocate",
            "fadvise64",
            "readahead",
            "sync",
            "syncfs",
            "fsync",
            "fdatasync",
            "sync_file_range",
            "umask",
            "utime",
            "utimes",
            "utimensat",
            "futimesat",
            "chown",
            "fchown",
            "lchown",
            "fchownat",
            "cachestat",
            "name_to_handle_at",
            "inotify_init",
            "inotify_init1",
            "inotify_add_watch",
            "inotify_rm_watch",
        ],
    },
    Group {
        why: "attributes of files",
        calls: &[
            "getxattr",
            "lgetxattr",
            "fgetxattr",
            "setxattr",
            "lsetxattr",
            "fsetxattr",
            "listxattr",
            "llistxattr",
            "flistxattr",
            "removexattr",
            "lremovexattr",
            "fremovexattr",
        ],
    },
    Group {
        why: "reading and writing",
        calls: &[
            "read",
            "write",
            "readv",
            "writev",
            "pread64",
            "pwrite64",
            "preadv",
            "pwritev",
            "preadv2",
            "pwritev2",
            "sendfile",
            "splice",
            "tee",
            "vmsplice",
            "copy_file_range",
            "pipe",
            "pipe2",
            "eventfd",
            "eventfd2",
            "memfd_create",
            "io_setup",
            "io_submit",
            "io_cancel",
            "io_destroy",
            "io_getevents",
            "io_pgetevents",
        ],
    },
    Group {
        why: "waiting for several things",
        calls: &[
            "poll",
            "ppoll",
            "select",
            "pselect6",
            "epoll_create",
            "epoll_create1",
            "epoll_ctl",
            "epoll_ctl_old",
            "epoll_wait",
            "epoll_wait_old",
            "epoll_pwait",
            "epoll_pwait2",
            "signalfd",
            "signalfd4",
            "timerfd_create",
            "timerfd_settime",
            "timerfd_gettime",
        ],
    },
    Group {
        why: "memory",
        calls: &[
            "brk",
            "mmap",
            "munmap",
            "mremap",
            "mprotect",
            "madvise",
            "mincore",
            "mlock",
            "mlock2",
            "munlock",
            "mlockall",
            "munlockall",
            "msync",
            "pkey_alloc",
            "pkey_free",
            "pkey_mprotect",
            "membarrier",
            "get_mempolicy",
            "set_mempolicy",
            "mbind",
            "map_shadow_stack",
            "mseal",
            "remap_file_pages",
        ],
    },
    Group {
        why: "processes and threads of its own",
        calls: &[
            "fork",
            "vfork",
            "execve",
            "execveat",
            "exit",
            "exit_group",
            "wait4",
            "waitid",
            "getpid",
            "getppid",
            "gettid",
            "getpgid",
            "getpgrp",
            "setpgid",
            "getsid",
            "setsid",
            "set_tid_address",
            "set_robust_list",
            "get_robust_list",
            "rseq",
            "arch_prctl",
            "prctl",
            "futex",
            "futex_waitv",
            "futex_wait",
            "futex_wake",
            "futex_requeue",
            "set_thread_area",
            "get_thread_area",
            "pidfd_open",
            "pidfd_send_signal",
            "process_mrelease",
            "getcpu",
            "restart_syscall",
        ],
    },
    Group {
        why: "signals among its own",
        calls: &[
            "kill",
            "tkill",
            "tgkill",
            "rt_sigaction",
            "rt_sigprocmask",
            "rt_sigpending",
            "rt_sigqueueinfo",
            "rt_tgsigqueueinfo",
            "rt_sigreturn",
            "rt_sigsuspend",
            "rt_sigtimedwait",
            "sigaltstack",
            "pause",
            "alarm",
            "getitimer",
            "setitimer",
            "timer_create",
            "timer_settime",
            "timer_gettime",
            "timer_getoverrun",
            "timer_delete",
        ],
    },
    Group {
        why: "who it is; it can become nobody else",
        calls: &[
            "getuid",
            "geteuid",
            "getgid",
            "getegid",
            "getresuid",
            "getresgid",
            "getgroups",
            "setuid",
            "setgid",
            "setreuid",
            "setregid",
            "setresuid",
            "setresgid",
            "setfsuid",
            "setfsgid",
            "setgroups",
            "capget",
            "capset",
        ],
    },
    Group {
        why: "time and scheduling",
        calls: &[
            "clock_gettime",
            "clock_getres",
            "clock_nanosleep",
            "nanosleep",
            "gettimeofday",
            "time",
            "times",
            "sched_yield",
            "sched_getaffinity",
            "sched_setaffinity",
            "sched_getattr",
            "sched_setattr",
            "sched_getparam",
            "sched_setparam",
            "sched_getscheduler",
            "sched_setscheduler",
            "sched_get_priority_max",
            "sched_get_priority_min",
            "sched_rr_get_interval",
            "getpriority",
            "setpriority",
            "ioprio_get",
            "ioprio_set",
        ],
    },
    Group {
        why: "what there is: limits, usage, the system",
        calls: &["getrlimit", "getrusage", "sysinfo", "uname", "getrandom"],
    },
    Group {
        why: "sockets, once they are made",
        calls: &[
            "bind",
            "connect",
            "listen",
            "accept",
            "accept4",
            "getsockname",
            "getpeername",
            "getsockopt",
            "setsockopt",
            "sendto",
            "recvfrom",
            "sendmsg",
            "recvmsg",
            "sendmmsg",
            "recvmmsg",
            "shutdown",
            "socketpair",
        ],
    },
    Group {
        why: "shared memory, semaphores and queues, which are the sandbox's own",
        calls: &[
            "shmget",
            "shmat",
            "shmdt",
            "shmctl",
            "semget",
            "semop",
            "semtimedop",
            "semctl",
            "msgget",
            "msgsnd",
            "msgrcv",
            "msgctl",
            "mq_open",
            "mq_unlink",
            "mq_timedsend",
            "mq_timedreceive",
            "mq_notify",
            "mq_getsetattr",
        ],
    },
    Group {
        why: "walls of its own, within this one",
        calls: &["seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"],
    },
];

/// What answers "there is no such call": programs know how to do without. What they could do with it hides behind a pointer,
/// where a filter cannot look, or is a way around filters.
pub const UNKNOWN: Group = Group {
    why: "arguments behind pointers, or rings that a filter does not see",
    calls: &["clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register", "fchmodat2"],
};

/// All namespaces that can be asked for by flags of `clone` and `unshare`.
const NAMESPACES: u64 = 0x7e02_0080;
/// Programs that run as their owner, or with their group.
const SET_ID: u64 = 0o6000;
/// A file may be made by `open` only with these.
const MAKES: u64 = (libc::O_CREAT as u64) | 0o20_000_000;
/// Puts bytes into a terminal's input, as if they were typed.
const TIOCSTI: u64 = 0x5412;
/// Does the same on a console, and more.
const TIOCLINUX: u64 = 0x541c;
const RLIMIT_CORE: u64 = 4;

/// A test of one argument.
#[derive(Debug, Clone, Copy)]
enum Test {
    Is(u8, u64),
    IsNot(u8, u64),
    Without(u8, u64),
    Masked(u8, u64, u64),
}

/// Calls that are allowed with some arguments: each list of tests is one way.
fn conditional(sockets: Sockets) -> Vec<(&'static str, Vec<Vec<Test>>)> {
    use Test::{Is, IsNot, Masked, Without};
    let made = |flags: u8, mode: u8| vec![vec![Without(flags, MAKES)], vec![Without(mode, SET_ID)]];
    let kinds = [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_SEQPACKET];
    let mut families = Vec::new();
    for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6] {
        for kind in kinds {
            families.push(vec![Is(0, bits(family)), Masked(1, 0xf, bits(kind))]);
        }
    }
    families.push(vec![Is(0, bits(libc::AF_NETLINK)), Is(2, bits(libc::NETLINK_ROUTE))]);
    let mut list = vec![
        ("clone", vec![vec![Without(0, NAMESPACES)]]),
        ("unshare", vec![vec![Without(0, NAMESPACES)]]),
        ("open", made(1, 2)),
        ("openat", made(2, 3)),
        ("creat", vec![vec![Without(1, SET_ID)]]),
        ("chmod", vec![vec![Without(1, SET_ID)]]),
        ("fchmod", vec![vec![Without(1, SET_ID)]]),
        ("fchmodat", vec![vec![Without(2, SET_ID)]]),
        // Plain files, fifos and sockets: what is left of the kinds of nodes.
        ("mknod", nodes(1)),
        ("mknodat", nodes(2)),
        ("ioctl", vec![vec![IsNot(1, TIOCSTI), IsNot(1, TIOCLINUX)]]),
        // What a core is piped to runs outside; with a limit of 1 the kernel leaves it, and so nobody changes that limit.
        ("setrlimit", vec![vec![IsNot(0, RLIMIT_CORE)]]),
        ("prlimit64", vec![vec![IsNot(1, RLIMIT_CORE)], vec![Is(2, 0)]]),
        ("personality", [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff].map(|one| vec![Is(0, one)]).to_vec()),
    ];
    if sockets == Sockets::Internet {
        list.push(("socket", families));
    }
    list
}

fn nodes(mode: u8) -> Vec<Vec<Test>> {
    [0, libc::S_IFREG, libc::S_IFIFO, libc::S_IFSOCK]
        .map(|kind| vec![Test::Masked(mode, 0o170_000 | SET_ID, u64::from(kind))])
        .to_vec()
}

fn bits(number: i32) -> u64 {
    u64::from(number.cast_unsigned())
}

impl Test {
    fn condition(self) -> Result<SeccompCondition, seccompiler::BackendError> {
        // The kernel looks at the lower half of these arguments only, so that is what is compared.
        let condition =
            |index, operator, value| SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value);
        match self {
            // A pointer, or none.
            Self::Is(2, 0) => SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0),
            Self::Is(index, value) => condition(index, SeccompCmpOp::Eq, value),
            Self::IsNot(index, value) => condition(index, SeccompCmpOp::Ne, value),
            Self::Without(index, mask) => condition(index, SeccompCmpOp::MaskedEq(mask), 0),
            Self::Masked(index, mask, value) => condition(index, SeccompCmpOp::MaskedEq(mask), value),
        }
    }
}

/// The two filters of a command: what is allowed, and over it what answers that there is no such call.
#[derive(Debug, Clone)]
pub struct Filters {
    allowed: Filter,
    unknown: Filter,
}

impl Filters {
    /// Makes them.
    pub fn compile(sockets: Sockets) -> Result<Self, Failed> {
        let build = || -> Result<Self, seccompiler::BackendError> {
            let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
            for name in ALLOWED.iter().flat_map(|group| group.calls) {
                if let Some(number) = number(name) {
                    rules.insert(i64::from(number), Vec::new());
                }
            }
            for (name, ways) in conditional(sockets) {
                let Some(number) = number(name) else { continue };
                let ways = ways.into_iter().map(|tests| {
                    let tests: Result<Vec<_>, _> = tests.into_iter().map(Test::condition).collect();
                    SeccompRule::new(tests?)
                });
                rules.insert(i64::from(number), ways.collect::<Result<_, _>>()?);
            }
            let errno = |errno: Errno| SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
            let allowed =
                SeccompFilter::new(rules, errno(Errno::PERM), SeccompAction::Allow, ARCH)?.try_into()?;
            let unknown: BTreeMap<i64, Vec<SeccompRule>> = UNKNOWN
                .calls
                .iter()
                .filter_map(|name| number(name))
                .map(|number| (i64::from(number), Vec::new()))
                .collect();
            let unknown =
                SeccompFilter::new(unknown, SeccompAction::Allow, errno(Errno::NOSYS), ARCH)?.try_into()?;
            Ok(Self { allowed: Filter(allowed), unknown: Filter(unknown) })
        };
        build().map_err(|_| Step::CompileFilter.failed(Errno::INVAL))
    }

    /// Installs both. Of two filters that refuse, the kernel takes the answer of the one that came last.
    pub fn install(&self) -> Result<(), Failed> {
        self.allowed.install()?;
        self.unknown.install()
    }

    /// A mark of what they hold, for receipts: the same filters have the same.
    pub fn mark(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for one in self.allowed.0.iter().chain(&self.unknown.0) {
            for part in [u64::from(one.code), u64::from(one.jt), u64::from(one.jf), u64::from(one.k)] {
                hash = (hash ^ part).wrapping_mul(0x0100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    }

    /// How many instructions they have.
    pub fn length(&self) -> usize {
        self.allowed.length() + self.unknown.length()
    }
}
