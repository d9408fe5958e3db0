//! System calls that a command may make with some arguments only, and which these are. Only what is in the arguments themselves
//! can be tested: what a pointer leads to may change after the look.

use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition};

use super::{Neighbours, Sockets};

/// All namespaces that can be asked for by flags of `clone` and `unshare`.
const NAMESPACES: u64 = 0x7e02_0080;
/// Flags of `clone`: a thread of the same process, and the same open files.
const THREAD: u64 = 0x0001_0000;
const FILES: u64 = 0x0000_0400;
/// Gives a thread open files of its own.
const CLOSE_RANGE_UNSHARE: u64 = 2;
/// Programs that run as their owner, or with their group.
const SET_ID: u64 = 0o6000;
/// A file may be made by `open` only with these.
const MAKES: u64 = (libc::O_CREAT as u64) | 0o20_000_000;
/// Puts bytes into a terminal's input, as if they were typed.
const TIOCSTI: u64 = 0x5412;
/// Does the same on a console, and more.
const TIOCLINUX: u64 = 0x541c;
/// Gives a terminal another line discipline, which loads code into the kernel that nothing here needs.
const TIOCSETD: u64 = 0x5423;
const RLIMIT_CORE: u64 = 4;
const SOL_SOCKET: u64 = 1;
const SO_TIMESTAMPING: u64 = 37;
const SO_TIMESTAMPING_NEW: u64 = 65;
/// The first argument of `ioprio_set` for one process.
const IOPRIO_WHO_PROCESS: u64 = 1;

/// A test of one argument.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    Is(u8, u64),
    IsNot(u8, u64),
    Without(u8, u64),
    Masked(u8, u64, u64),
}

/// Calls that are allowed with some arguments: each list of tests is one way.
pub(super) fn conditional(sockets: Sockets, neighbours: Neighbours) -> Vec<(&'static str, Vec<Vec<Test>>)> {
    use Test::{Is, IsNot, Masked, Without};
    let made = |flags: u8, mode: u8| vec![vec![Without(flags, MAKES)], vec![Without(mode, SET_ID)]];
    let mut list = vec![
        // Threads of a process have the same open files: the locks on them are found by any of the threads.
        (
            "clone",
            vec![
                vec![Without(0, NAMESPACES | THREAD)],
                vec![Masked(0, NAMESPACES | THREAD | FILES, THREAD | FILES)],
            ],
        ),
        ("unshare", vec![vec![Without(0, NAMESPACES | FILES)]]),
        ("close_range", vec![vec![Without(2, CLOSE_RANGE_UNSHARE)]]),
        ("open", made(1, 2)),
        ("openat", made(2, 3)),
        ("creat", vec![vec![Without(1, SET_ID)]]),
        ("chmod", vec![vec![Without(1, SET_ID)]]),
        ("fchmod", vec![vec![Without(1, SET_ID)]]),
        ("fchmodat", vec![vec![Without(2, SET_ID)]]),
        // Plain files, fifos and sockets: what is left of the kinds of nodes.
        ("mknod", nodes(1)),
        ("mknodat", nodes(2)),
        ("ioctl", vec![vec![IsNot(1, TIOCSTI), IsNot(1, TIOCLINUX), IsNot(1, TIOCSETD)]]),
        // What a core is piped to runs outside; with a limit of 1 the kernel leaves it, and so nobody changes that limit.
        ("setrlimit", vec![vec![IsNot(0, RLIMIT_CORE)]]),
        // Nobody lowers what every later command would inherit from the first process.
        ("prlimit64", vec![vec![IsNot(0, 1), IsNot(1, RLIMIT_CORE)], vec![Is(2, 0)]]),
        ("personality", [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff].map(|one| vec![Is(0, one)]).to_vec()),
        ("socketpair", pairs(sockets)),
        // Huge pages are a pool of the whole machine, and no limit on memory counts them.
        ("mmap", vec![vec![Without(3, bits(libc::MAP_HUGETLB))]]),
        ("memfd_create", vec![vec![Without(1, u64::from(libc::MFD_HUGETLB))]]),
        // Stamps of what was sent come back by a queue that no limit on memory counts.
        (
            "setsockopt",
            vec![vec![IsNot(1, SOL_SOCKET)], vec![IsNot(2, SO_TIMESTAMPING), IsNot(2, SO_TIMESTAMPING_NEW)]],
        ),
    ];
    if neighbours == Neighbours::Nobody {
        list.push(("shmget", vec![vec![Without(2, bits(libc::SHM_HUGETLB))]]));
    }
    if sockets == Sockets::Internet {
        list.push(("socket", families()));
    }
    if neighbours == Neighbours::Everybody {
        list.extend(only_oneself());
    }
    list
}

/// The sockets that can be made. Every other family and protocol would have the kernel load code for it.
fn families() -> Vec<Vec<Test>> {
    use Test::{Is, Masked};
    let kind = |kind: i32| Masked(1, 0xf, bits(kind));
    let mut families: Vec<Vec<Test>> = [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_SEQPACKET]
        .map(|one| vec![Is(0, bits(libc::AF_UNIX)), kind(one)])
        .to_vec();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let protocols = [
            (libc::SOCK_STREAM, libc::IPPROTO_IP),
            (libc::SOCK_STREAM, libc::IPPROTO_TCP),
            (libc::SOCK_DGRAM, libc::IPPROTO_IP),
            (libc::SOCK_DGRAM, libc::IPPROTO_UDP),
            (libc::SOCK_DGRAM, libc::IPPROTO_ICMP),
            (libc::SOCK_DGRAM, libc::IPPROTO_ICMPV6),
        ];
        families.extend(
            protocols.map(|(one, protocol)| vec![Is(0, bits(family)), kind(one), Is(2, bits(protocol))]),
        );
    }
    families.push(vec![Is(0, bits(libc::AF_NETLINK)), Is(2, bits(libc::NETLINK_ROUTE))]);
    families
}

/// Pairs of sockets: those of other families have the kernel load code, and among those that should stay pairs, one of
/// datagrams could be sent from to anybody.
fn pairs(sockets: Sockets) -> Vec<Vec<Test>> {
    use Test::{Is, Masked};
    let family = Is(0, bits(libc::AF_UNIX));
    match sockets {
        Sockets::Internet => vec![vec![family]],
        Sockets::PairsOnly => [libc::SOCK_STREAM, libc::SOCK_SEQPACKET]
            .map(|kind| vec![family, Masked(1, 0xf, bits(kind))])
            .to_vec(),
    }
}

/// Limits and priorities are changed of oneself only: those of another process of the same user end it as well as a signal.
fn only_oneself() -> Vec<(&'static str, Vec<Vec<Test>>)> {
    use Test::{Is, IsNot};
    let oneself = Is(0, 0);
    let mut list: Vec<(&'static str, Vec<Vec<Test>>)> =
        ["sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"]
            .map(|name| (name, vec![vec![oneself]]))
            .to_vec();
    list.push(("setpriority", vec![vec![Is(0, 0), Is(1, 0)]]));
    list.push(("ioprio_set", vec![vec![Is(0, IOPRIO_WHO_PROCESS), Is(1, 0)]]));
    list.push(("prlimit64", vec![vec![oneself, IsNot(1, RLIMIT_CORE)], vec![oneself, Is(2, 0)]]));
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
    /// As the condition of a rule.
    pub(super) fn condition(self) -> Result<SeccompCondition, seccompiler::BackendError> {
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
