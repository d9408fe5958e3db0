//! The wall from inside: every system call that could reach something is trapped and named, and each bad end is told
//! by its own name.

use bailiwick::{Probe, ProbeResult, Runtime, seccomp};

use crate::stage::{block_on, few, runtime};

bailiwick_testkit::tests!(
    dangerous_system_calls_are_trapped_by_name,
    what_is_allowed_is_allowed_only_on_the_one_socket,
    memory_cannot_be_made_executable,
    bounds_can_be_set_for_the_own_process_only,
    numbers_of_no_system_call_are_trapped,
    each_bad_end_has_its_own_name,
);

/// System calls that open, connect, start, trace, mount, change who one is, or reach into the kernel.
const DANGEROUS: &[&str] = &[
    "openat",
    "openat2",
    "creat",
    "socket",
    "socketpair",
    "connect",
    "bind",
    "listen",
    "accept4",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "recvmsg",
    "recvfrom",
    "clone",
    "clone3",
    "execve",
    "execveat",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kill",
    "tgkill",
    "tkill",
    "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "chdir",
    "fchdir",
    "unshare",
    "setns",
    "setuid",
    "setgid",
    "setresuid",
    "setgroups",
    "capset",
    "prctl",
    "seccomp",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "init_module",
    "finit_module",
    "kexec_load",
    "keyctl",
    "add_key",
    "request_key",
    "memfd_create",
    "mprotect",
    "pkey_mprotect",
    "shmget",
    "msgget",
    "semget",
    "mq_open",
    "inotify_init1",
    "fanotify_init",
    "ioctl",
    "fcntl",
    "dup",
    "dup3",
    "close",
    "pipe2",
    "epoll_create1",
    "eventfd2",
    "signalfd4",
    "timerfd_create",
    "name_to_handle_at",
    "open_by_handle_at",
    "statx",
    "readlinkat",
    "getdents64",
    "unlinkat",
    "renameat2",
    "linkat",
    "mknodat",
    "fchmodat",
    "fchownat",
    "truncate",
    "fallocate",
    "sethostname",
    "uname",
    "sysinfo",
    "syslog",
    "reboot",
    "swapon",
    "acct",
    "quotactl",
    "personality",
    "setrlimit",
    "sched_setaffinity",
    "setpriority",
    "rt_sigaction",
    "sigaltstack",
    "rt_sigreturn",
    "wait4",
    "waitid",
    "getppid",
    "vhangup",
    "move_pages",
    "migrate_pages",
    "mbind",
    "landlock_create_ruleset",
    "process_madvise",
    "kcmp",
    "lookup_dcookie",
    "splice",
    "vmsplice",
    "sendfile",
    "copy_file_range",
    "fsopen",
    "fsmount",
    "open_tree",
    "move_mount",
    "mount_setattr",
    "rseq",
    "membarrier",
];

/// The same for the older names that only some architectures have.
#[cfg(target_arch = "x86_64")]
const OLD: &[&str] = &[
    "open",
    "fork",
    "vfork",
    "stat",
    "access",
    "pipe",
    "dup2",
    "unlink",
    "iopl",
    "ioperm",
    "modify_ldt",
    "arch_prctl",
    "symlink",
    "mknod",
    "ustat",
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[&str] = &[];

async fn try_call(runtime: &Runtime, name: &str, arguments: [u64; 6]) -> ProbeResult {
    let number = seccomp::number(name).unwrap_or_else(|| panic!("no system call {name}"));
    runtime.probe(Probe::SystemCall { number, arguments }).await.expect("a cell")
}

async fn is_trapped(runtime: &Runtime, name: &str, arguments: [u64; 6]) {
    let result = try_call(runtime, name, arguments).await;
    assert_eq!(result, ProbeResult::Trapped(name.to_owned()), "{name} {arguments:?}");
}

fn dangerous_system_calls_are_trapped_by_name() {
    block_on(async {
        let runtime = few().parked(8).build().await.expect("cells");
        let mut tried = 0;
        for name in DANGEROUS.iter().chain(OLD) {
            // A kernel's newest are not in every table; what has no number here cannot be asked for by name.
            if seccomp::number(name).is_some() {
                is_trapped(&runtime, name, [0; 6]).await;
                tried += 1;
            }
        }
        assert!(tried >= 100, "only {tried} were tried");
    });
}

fn what_is_allowed_is_allowed_only_on_the_one_socket() {
    block_on(async {
        let runtime = runtime().await;
        for name in ["read", "write", "writev"] {
            for descriptor in [1, 3, 4, 100, u64::MAX, 1 << 32] {
                is_trapped(&runtime, name, [descriptor, 0, 0, 0, 0, 0]).await;
            }
        }
        is_trapped(&runtime, "read", [2, 0, 0, 0, 0, 0]).await;
        is_trapped(&runtime, "readv", [0; 6]).await;
        is_trapped(&runtime, "pread64", [0; 6]).await;
        // A read of nothing from the socket is let through, and harmless.
        assert!(matches!(try_call(&runtime, "read", [0; 6]).await, ProbeResult::WentThrough(_)));
    });
}

fn memory_cannot_be_made_executable() {
    block_on(async {
        let runtime = runtime().await;
        let (private_anonymous, nowhere) = (0x22, u64::MAX);
        for protection in [4, 5, 6, 7] {
            is_trapped(&runtime, "mmap", [0, 4096, protection, private_anonymous, nowhere, 0]).await;
        }
        let plain = try_call(&runtime, "mmap", [0, 4096, 3, private_anonymous, nowhere, 0]).await;
        assert!(matches!(plain, ProbeResult::WentThrough(address) if address > 0), "{plain:?}");
        // Memory of a file needs a descriptor, and there is none but a socket.
        let of_socket = try_call(&runtime, "mmap", [0, 4096, 1, 2, 0, 0]).await;
        assert!(matches!(of_socket, ProbeResult::WentThrough(error) if error < 0), "{of_socket:?}");
    });
}

fn bounds_can_be_set_for_the_own_process_only() {
    block_on(async {
        let runtime = runtime().await;
        let (cpu, files, memory) = (0, 7, 9);
        for (process, resource) in [(1, memory), (1, cpu), (0, files), (2, memory), (0, 6)] {
            is_trapped(&runtime, "prlimit64", [process, resource, 0, 0, 0, 0]).await;
        }
    });
}

fn numbers_of_no_system_call_are_trapped() {
    block_on(async {
        let runtime = runtime().await;
        for number in [400, 999, 5000, 0x4000_0000, 0x4000_0001, 0x4000_0208, u32::MAX] {
            let result =
                runtime.probe(Probe::SystemCall { number, arguments: [0; 6] }).await.expect("a cell");
            assert!(matches!(result, ProbeResult::Trapped(_)), "{number}: {result:?}");
        }
    });
}

fn each_bad_end_has_its_own_name() {
    block_on(async {
        let runtime = runtime().await;
        for (probe, expected) in [
            (Probe::Panic, "a panic"),
            (Probe::Overflow, "a native stack overflow"),
            (Probe::Fault, "a memory fault"),
            (Probe::Abort, "an abort"),
            // Told apart from an abort because this program's allocator is the one that tells.
            (Probe::Allocation, "a failed allocation"),
        ] {
            let result = runtime.probe(probe).await.expect("a cell");
            assert_eq!(result, ProbeResult::Ended(expected), "{probe:?}");
        }
    });
}
