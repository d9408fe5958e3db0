//! Descriptors: which stay open, and under which number.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use crate::{Failed, Step};

/// No descriptor has a higher number. A larger one is none for kernels that take it for a signed number, as gVisor's does.
const HIGHEST: u32 = i32::MAX.cast_unsigned();

/// Closes every descriptor from `first` on.
///
/// Descriptors that some value owns must not be among them: call it where nothing of the kind lives, at the start of a
/// program or of a fork.
pub fn close_from(first: u32) -> Result<(), Failed> {
    // SAFETY: close_range takes numbers only; that nothing owns them is the caller's promise above, and a broken
    // promise gives EBADF later, not a memory error.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, HIGHEST, 0) };
    if result == 0 { Ok(()) } else { Err(Step::CloseInherited.failed(last())) }
}

/// Has every descriptor from `first` on closed when a program is executed.
pub fn close_on_execute_from(first: u32) -> Result<(), Failed> {
    // SAFETY: only a flag of each descriptor is set; none is closed here.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, HIGHEST, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(Step::CloseInherited.failed(last())) }
}

/// Puts a descriptor under the number 0, closing what was there.
pub fn put_at_zero(descriptor: OwnedFd) -> Result<(), Failed> {
    put_at(0, descriptor)
}

/// Puts a descriptor under the number of a standard stream (0 to 2) for ever, closing what was there.
pub fn put_at(number: u8, descriptor: OwnedFd) -> Result<(), Failed> {
    let number = i32::from(number);
    if number > 2 {
        return Err(Step::MoveDescriptor.failed(Errno::INVAL));
    }
    if descriptor.as_raw_fd() == number {
        std::mem::forget(descriptor);
        return Ok(());
    }
    // SAFETY: dup3 takes numbers only; those of the standard streams are owned by no value.
    let result = unsafe { libc::dup3(descriptor.as_raw_fd(), number, 0) };
    if result < 0 { Err(Step::MoveDescriptor.failed(last())) } else { Ok(()) }
}

/// The descriptor 0: what a nursery or a cell talks through.
pub fn zero() -> BorrowedFd<'static> {
    // SAFETY: a nursery and a cell never close 0 while they run; elsewhere it is stdin, open since before main.
    unsafe { BorrowedFd::borrow_raw(0) }
}

/// Copies of the standard input and output, under numbers of their own.
pub fn take_standard() -> Result<(OwnedFd, OwnedFd), Failed> {
    // SAFETY: only for the duration of the calls below; one that is closed gives EBADF.
    let (input, output) = unsafe { (BorrowedFd::borrow_raw(0), BorrowedFd::borrow_raw(1)) };
    let copy = |end: BorrowedFd<'_>| {
        rustix::io::fcntl_dupfd_cloexec(end, 3).map_err(|errno| Step::MoveDescriptor.failed(errno))
    };
    Ok((copy(input)?, copy(output)?))
}

/// How many descriptors may be open at once, after raising the soft limit to the hard one.
pub fn raise_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    if setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum }).is_ok() {
        return now.maximum.unwrap_or(u64::MAX);
    }
    now.current.unwrap_or(u64::MAX)
}

/// Whether a descriptor is a socket.
pub fn is_socket(descriptor: impl AsFd) -> bool {
    rustix::net::sockopt::socket_type(descriptor).is_ok()
}

pub(crate) fn last() -> Errno {
    Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}
