//! The one interface of a fresh network namespace, sockets that belong to it whoever holds them, and the name of a fresh UTS
//! namespace.

use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

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

/// How many connections wait until they are taken.
const BACKLOG: i32 = 1024;

/// Listens for connections to an address of this network namespace.
pub fn listen_at(address: SocketAddrV4) -> Result<OwnedFd, Failed> {
    let made = || -> Result<OwnedFd, Errno> {
        let socket = bound(SocketType::STREAM, address)?;
        listen(&socket, BACKLOG)?;
        Ok(socket)
    };
    made().map_err(|errno| Step::ListenInside.failed(errno))
}

/// Takes datagrams that are sent to an address of this network namespace.
pub fn datagrams_at(address: SocketAddrV4) -> Result<OwnedFd, Failed> {
    bound(SocketType::DGRAM, address).map_err(|errno| Step::ListenInside.failed(errno))
}

/// A socket that connects from within this network namespace, to nobody yet.
pub fn unconnected(is_six: bool) -> Result<OwnedFd, Failed> {
    let family = if is_six { AddressFamily::INET6 } else { AddressFamily::INET };
    socket_with(family, SocketType::STREAM, FLAGS, None).map_err(|errno| Step::HandOver.failed(errno))
}

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

fn bound(kind: SocketType, address: SocketAddrV4) -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::INET, kind, FLAGS, None)?;
    bind(&socket, &address)?;
    Ok(socket)
}

/// Gives this UTS namespace a name. Needs one of one's own.
pub fn name_host(name: &str) -> Result<(), Failed> {
    rustix::system::sethostname(name.as_bytes()).map_err(|errno| Step::NameHost.failed(errno))
}
