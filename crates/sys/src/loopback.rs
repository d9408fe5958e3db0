//! The one interface of a fresh network namespace, and the name of a fresh UTS namespace.

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use std::os::fd::AsRawFd as _;

use crate::descriptors::last;
use crate::{Failed, Step};

/// Raises `lo`, so that programs inside can talk to each other. Needs a network namespace of one's own.
pub fn raise() -> Result<(), Failed> {
    let failed = |errno| Step::RaiseLoopback.failed(errno);
    let socket =
        socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None).map_err(failed)?;
    // SAFETY: an all-zero ifreq is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *place = libc::c_char::from_ne_bytes([*byte]);
    }
    let up = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).map_err(|_| failed(Errno::INVAL))?;
    request.ifr_ifru.ifru_flags = up;
    // SAFETY: the request lives in this frame and has a name that ends in a NUL.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if result == 0 { Ok(()) } else { Err(failed(last())) }
}

/// Gives this UTS namespace a name. Needs one of one's own.
pub fn name_host(name: &str) -> Result<(), Failed> {
    rustix::system::sethostname(name.as_bytes()).map_err(|errno| Step::NameHost.failed(errno))
}
