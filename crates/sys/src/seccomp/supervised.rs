//! Calls of commands that wait for the answer of their sandbox's first process, because the kernel neither counts nor charges
//! what they make: `listen` (connections that nobody accepts) and sockets of netlink (answers that nobody reads).
//!
//! Only numbers among the arguments are looked at, so a call that is let go on cannot be changed meanwhile. The same filter
//! keeps the receive buffers of sockets at the size that the kernel gives them.

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
const AF_NETLINK: u32 = 16;

/// The letter of the requests to a filter's descriptor.
const SECCOMP: u32 = '!' as u32;
const RECEIVE: libc::Ioctl = libc::_IOWR::<libc::seccomp_notif>(SECCOMP, 0);
const SEND: libc::Ioctl = libc::_IOWR::<libc::seccomp_notif_resp>(SECCOMP, 1);
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
}

/// A call that waits for its answer.
#[derive(Debug)]
pub struct Question {
    id: u64,
    /// What is asked for.
    pub wants: Wants,
}

/// An instruction: its code, the jumps where it holds and where not, and its operand.
type Line = (u32, u8, u8, u32);

/// The program. Other architectures are refused by the filter below it.
fn program() -> Option<Vec<libc::sock_filter>> {
    let number = |call: libc::c_long| u32::try_from(call).ok();
    let load =
        |place: usize| Some((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, u32::try_from(place).ok()?));
    let argument = |index: usize| load(ARGUMENTS + index * size_of::<u64>());
    let equals = |value: u32, then: u8, otherwise: u8| {
        (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, then, otherwise, value)
    };
    let result = |value: u32| (libc::BPF_RET | libc::BPF_K, 0, 0, value);
    let lines: [Line; 15] = [
        load(NUMBER)?,
        equals(number(libc::SYS_listen)?, 10, 0),
        equals(number(libc::SYS_socket)?, 0, 2),
        argument(0)?,
        equals(AF_NETLINK, 7, 6),
        equals(number(libc::SYS_setsockopt)?, 0, 5),
        argument(1)?,
        equals(SOL_SOCKET, 0, 3),
        argument(2)?,
        equals(SO_RCVBUF, 3, 0),
        equals(SO_RCVLOWAT, 3, 0),
        result(libc::SECCOMP_RET_ALLOW),
        result(libc::SECCOMP_RET_USER_NOTIF),
        // Success, and the size stays: the kernel does the same with a size above its own bound.
        result(libc::SECCOMP_RET_ERRNO),
        result(libc::SECCOMP_RET_ERRNO | 1),
    ];
    let line =
        |(code, jt, jf, k): Line| Some(libc::sock_filter { code: u16::try_from(code).ok()?, jt, jf, k });
    lines.into_iter().map(line).collect()
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
            // SAFETY: the kernel has just made this descriptor for this process, and nothing else knows of it.
            Ok(descriptor) if descriptor >= 0 => Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) })),
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
        let wants =
            if libc::c_long::from(told.data.nr) == libc::SYS_listen { Wants::Listen } else { Wants::Netlink };
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
