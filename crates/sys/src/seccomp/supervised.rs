//! Calls of commands that wait for the answer of their sandbox's first process, because the kernel neither counts nor charges
//! what they make: `listen` (connections that nobody accepts), sockets of netlink (answers that nobody reads) and locks on files.
//!
//! Only numbers among the arguments are looked at, so a call that is let go on cannot be changed meanwhile. The same filter
//! keeps the receive buffers of sockets at the size that the kernel gives them, has sockets keep no errors of packets, and refuses to
//! join multicast groups: no limit counts the memory of either.

use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use rustix::io::Errno;

use crate::descriptors::last;
use crate::{Failed, Step};

/// Where the number of the call and its arguments are; the lower half of an argument comes first on both architectures.
const NUMBER: usize = offset_of!(libc::seccomp_data, nr);
const ARGUMENTS: usize = offset_of!(libc::seccomp_data, args);

const SOL_SOCKET: u32 = 1;
const SO_RCVBUF: u32 = 8;
const SO_RCVLOWAT: u32 = 18;
const SOL_IP: u32 = 0;
const IP_RECVERR: u32 = 11;
const SOL_IPV6: u32 = 41;
const IPV6_RECVERR: u32 = 25;
/// Options that join a multicast or an anycast group, some of them of one source.
const IP_JOINS: [u32; 4] = [35, 39, MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP];
const IPV6_JOINS: [u32; 4] = [20, 27, MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP];
const MCAST_JOIN_GROUP: u32 = 42;
const MCAST_JOIN_SOURCE_GROUP: u32 = 46;
const AF_NETLINK: u32 = 16;
/// Commands of `fcntl` that lock ranges of a file, for a process or for an open file.
const RANGES: [u32; 2] = [6, 7];
const RANGES_OF_OPEN_FILES: [u32; 2] = [37, 38];
/// Commands of `fcntl` that take a lease of a file or of a folder: like a lock by `flock`, there is one for each open file.
const LEASES: [u32; 2] = [1024, 1040];
/// The operations of `flock` that take no lock: to let it go, waiting for it or not.
const LETS_GO: [u32; 2] = [8, 12];

/// The letter of the requests to a filter's descriptor.
const SECCOMP: u32 = '!' as u32;
const RECEIVE: libc::Ioctl = libc::_IOWR::<libc::seccomp_notif>(SECCOMP, 0);
const SEND: libc::Ioctl = libc::_IOWR::<libc::seccomp_notif_resp>(SECCOMP, 1);
const SET_FLAGS: libc::Ioctl = libc::_IOW::<u64>(SECCOMP, 4);
/// Whoever asks and whoever answers take turns on one processor, which halves the time of a question (Linux 6.6).
const TAKE_TURNS: u64 = 1;
/// Lets the call go on in the kernel.
const CONTINUE: u32 = 1;

/// A filter whose questions this process answers.
#[derive(Debug)]
pub struct Supervised(OwnedFd);

/// What a process asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// To listen at a socket.
    Listen,
    /// A socket of netlink.
    Netlink,
    /// To lock or to unlock a range of a file. Either may add up to two locks, since a range can be split in three.
    Range,
    /// The same for an open file, whichever processes have it.
    RangeOfOpenFile,
    /// To lock a whole file, or to take a lease of it.
    File,
}

impl Wants {
    /// What a call that the filter has stopped is about.
    fn of(call: &libc::seccomp_data) -> Self {
        let number = libc::c_long::from(call.nr);
        let [_, command, ..] = call.args;
        let is_one_of =
            |list: &[u32]| list.iter().any(|one| u64::from(*one) == command & u64::from(u32::MAX));
        match number {
            libc::SYS_listen => Self::Listen,
            libc::SYS_fcntl if is_one_of(&RANGES_OF_OPEN_FILES) => Self::RangeOfOpenFile,
            libc::SYS_fcntl if is_one_of(&RANGES) => Self::Range,
            libc::SYS_fcntl | libc::SYS_flock => Self::File,
            _ => Self::Netlink,
        }
    }
}

/// A call that waits for its answer.
#[derive(Debug)]
pub struct Question {
    id: u64,
    /// What is asked for.
    pub wants: Wants,
}

/// Where the program goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    /// At the next instruction.
    Next,
    /// At the instruction with this name.
    Named(&'static str),
    /// Nowhere: this is the result.
    End(u32),
}

const ALLOW: To = To::End(libc::SECCOMP_RET_ALLOW);
const ASK: To = To::End(libc::SECCOMP_RET_USER_NOTIF);
/// Success, and nothing changes: so does the kernel with a size of a buffer above its own bound.
const IGNORE: To = To::End(libc::SECCOMP_RET_ERRNO);
const NOT_PERMITTED: To = To::End(libc::SECCOMP_RET_ERRNO + libc::EPERM.cast_unsigned());
/// What a machine without a network that has groups answers.
const NO_DEVICE: To = To::End(libc::SECCOMP_RET_ERRNO + libc::ENODEV.cast_unsigned());
/// Every result that there is.
const ENDS: [To; 5] = [ALLOW, ASK, IGNORE, NOT_PERMITTED, NO_DEVICE];

/// An instruction, the name of its place, and where it goes on if its test holds and if not.
#[derive(Debug, Clone, Copy)]
struct Line {
    name: Option<&'static str>,
    code: u32,
    operand: u32,
    then: To,
    otherwise: To,
}

/// Instructions in their order, which become a program once all names are known.
#[derive(Debug, Default)]
struct Lines(Vec<Line>);

impl Lines {
    /// Loads an argument of the call, or its number; other instructions get here by this name.
    fn load(&mut self, name: &'static str, place: usize) -> Option<()> {
        let operand = u32::try_from(place).ok()?;
        let code = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
        self.0.push(Line { name: Some(name), code, operand, then: To::Next, otherwise: To::Next });
        Some(())
    }

    /// Goes elsewhere where one of these was loaded.
    fn if_one_of(&mut self, values: &[u32], then: To) {
        let code = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        let line = |operand: &u32| Line { name: None, code, operand: *operand, then, otherwise: To::Next };
        self.0.extend(values.iter().map(line));
    }

    /// Goes elsewhere in all other cases.
    fn otherwise(&mut self, to: To) -> Option<()> {
        self.0.last_mut()?.otherwise = to;
        Some(())
    }

    /// The program: the instructions, and behind them the results.
    fn program(self) -> Option<Vec<libc::sock_filter>> {
        let distance = |from: usize, to: To| {
            let at = match to {
                To::Next => from + 1,
                To::Named(name) => self.0.iter().position(|line| line.name == Some(name))?,
                To::End(_) => self.0.len() + ENDS.iter().position(|end| *end == to)?,
            };
            u8::try_from(at.checked_sub(from + 1)?).ok()
        };
        let line = |(at, line): (usize, &Line)| {
            Some(libc::sock_filter {
                code: u16::try_from(line.code).ok()?,
                jt: distance(at, line.then)?,
                jf: distance(at, line.otherwise)?,
                k: line.operand,
            })
        };
        let result = |end: &To| {
            let To::End(k) = *end else { return None };
            Some(libc::sock_filter {
                code: u16::try_from(libc::BPF_RET | libc::BPF_K).ok()?,
                jt: 0,
                jf: 0,
                k,
            })
        };
        self.0.iter().enumerate().map(line).chain(ENDS.iter().map(result)).collect()
    }
}

/// The program. Other architectures are refused by the filter below it.
fn program() -> Option<Vec<libc::sock_filter>> {
    let number = |call: libc::c_long| u32::try_from(call).ok();
    let argument = |index: usize| ARGUMENTS + index * size_of::<u64>();
    let mut lines = Lines::default();
    lines.load("call", NUMBER)?;
    lines.if_one_of(&[number(libc::SYS_fcntl)?], To::Named("fcntl"));
    lines.if_one_of(&[number(libc::SYS_flock)?], To::Named("flock"));
    lines.if_one_of(&[number(libc::SYS_setsockopt)?], To::Named("level"));
    lines.if_one_of(&[number(libc::SYS_socket)?], To::Named("family"));
    lines.if_one_of(&[number(libc::SYS_listen)?], ASK);
    lines.otherwise(ALLOW)?;
    lines.load("fcntl", argument(1))?;
    for commands in [RANGES, RANGES_OF_OPEN_FILES, LEASES] {
        lines.if_one_of(&commands, ASK);
    }
    lines.otherwise(ALLOW)?;
    lines.load("flock", argument(1))?;
    lines.if_one_of(&LETS_GO, ALLOW);
    lines.otherwise(ASK)?;
    lines.load("family", argument(0))?;
    lines.if_one_of(&[AF_NETLINK], ASK);
    lines.otherwise(ALLOW)?;
    lines.load("level", argument(1))?;
    lines.if_one_of(&[SOL_SOCKET], To::Named("SOL_SOCKET"));
    lines.if_one_of(&[SOL_IP], To::Named("SOL_IP"));
    lines.if_one_of(&[SOL_IPV6], To::Named("SOL_IPV6"));
    lines.otherwise(ALLOW)?;
    lines.load("SOL_SOCKET", argument(2))?;
    lines.if_one_of(&[SO_RCVBUF], IGNORE);
    lines.if_one_of(&[SO_RCVLOWAT], NOT_PERMITTED);
    lines.otherwise(ALLOW)?;
    // A resolver may give up where this fails.
    lines.load("SOL_IP", argument(2))?;
    lines.if_one_of(&[IP_RECVERR], IGNORE);
    lines.if_one_of(&IP_JOINS, NO_DEVICE);
    lines.otherwise(ALLOW)?;
    lines.load("SOL_IPV6", argument(2))?;
    lines.if_one_of(&[IPV6_RECVERR], IGNORE);
    lines.if_one_of(&IPV6_JOINS, NO_DEVICE);
    lines.otherwise(ALLOW)?;
    lines.program()
}

impl Supervised {
    /// Installs the filter for this process and all that it starts. From now on this process must not make such a call itself:
    /// nobody would answer it. Fails where the kernel has no such filters, or where one is in force already.
    pub fn install() -> Result<Self, Failed> {
        let failed = |errno| Step::InstallFilter.failed(errno);
        let mut lines = program().ok_or(failed(Errno::INVAL))?;
        let length = u16::try_from(lines.len()).map_err(|_| failed(Errno::INVAL))?;
        let program = libc::sock_fprog { len: length, filter: lines.as_mut_ptr() };
        // SAFETY: the program and its instructions live in this frame until the call returns, which copies them.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
                &raw const program,
            )
        };
        match i32::try_from(descriptor) {
            Ok(descriptor) if descriptor >= 0 => {
                // SAFETY: a number goes to a descriptor of ours; an older kernel refuses it.
                let _slower = unsafe { libc::ioctl(descriptor, SET_FLAGS, TAKE_TURNS) };
                // SAFETY: the kernel has just made this descriptor for this process, and nothing else knows of it.
                Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
            }
            _ => Err(failed(last())),
        }
    }

    /// The same by another descriptor.
    pub fn moved(self, to: impl FnOnce(OwnedFd) -> Result<OwnedFd, Failed>) -> Result<Self, Failed> {
        to(self.0).map(Self)
    }

    /// The next question, after its descriptor was readable; none where the process that asked is gone.
    pub fn next(&self) -> Result<Option<Question>, Errno> {
        // SAFETY: an all-zero notification is a valid one, and the kernel wants it to be.
        let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one notification of this size, which the number of the request names.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), RECEIVE, &raw mut told) };
        if result != 0 {
            return match last() {
                Errno::NOENT | Errno::INTR | Errno::AGAIN => Ok(None),
                errno => Err(errno),
            };
        }
        let wants = Wants::of(&told.data);
        Ok(Some(Question { id: told.id, wants }))
    }

    /// Answers a question: the call goes on, or fails with this error. A process that is gone needs no answer.
    pub fn answer(&self, question: &Question, refusal: Option<Errno>) -> Result<(), Errno> {
        let answer = libc::seccomp_notif_resp {
            id: question.id,
            val: 0,
            error: refusal.map_or(0, |errno| -errno.raw_os_error()),
            flags: if refusal.is_some() { 0 } else { CONTINUE },
        };
        // SAFETY: the kernel reads one answer of this size, which the number of the request names.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), SEND, &raw const answer) };
        if result == 0 {
            return Ok(());
        }
        match last() {
            Errno::NOENT => Ok(()),
            errno => Err(errno),
        }
    }
}

impl AsFd for Supervised {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
