//! The one interface of a fresh network namespace, sockets that belong to it whoever holds them, and the name of a fresh UTS
//! namespace.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, accept_with, bind, connect,
    getsockname, listen, recvfrom, sendto, shutdown, socket_with,
};

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

/// A socket that connects to a port of this network namespace's own loopback; it may not stand yet.
pub fn dial(port: u16, is_six: bool) -> Result<OwnedFd, Errno> {
    let family = if is_six { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None)?;
    let address = if is_six { IpAddr::V6(Ipv6Addr::LOCALHOST) } else { IpAddr::V4(Ipv4Addr::LOCALHOST) };
    match connect(&socket, &SocketAddr::new(address, port)) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(errno) => Err(errno),
    }
}

/// How a connection that was begun went.
pub fn dialled(socket: impl AsFd) -> Result<(), Errno> {
    rustix::net::sockopt::socket_error(socket)?
}

/// Takes a connection: it, and the address of this side that it was made to.
pub fn accept_at(listener: impl AsFd) -> Result<(OwnedFd, SocketAddrV4), Errno> {
    let socket = accept_with(listener, FLAGS)?;
    let address = SocketAddr::try_from(getsockname(&socket)?).map_err(|_| Errno::AFNOSUPPORT)?;
    match address {
        SocketAddr::V4(address) => Ok((socket, address)),
        SocketAddr::V6(_) => Err(Errno::AFNOSUPPORT),
    }
}

/// Small messages of a connection go at once.
pub fn at_once(socket: impl AsFd) -> Result<(), Errno> {
    rustix::net::sockopt::set_tcp_nodelay(socket, true)
}

/// Takes a datagram: its length, and whom it is from.
pub fn take_datagram(socket: impl AsFd, buffer: &mut [u8]) -> Result<(usize, SocketAddrV4), Errno> {
    let (length, _, from) = recvfrom(socket, buffer, RecvFlags::empty())?;
    match from.map(SocketAddr::try_from) {
        Some(Ok(SocketAddr::V4(from))) => Ok((length, from)),
        _ => Err(Errno::AFNOSUPPORT),
    }
}

/// Sends a datagram.
pub fn send_datagram(socket: impl AsFd, bytes: &[u8], to: SocketAddrV4) -> Result<(), Errno> {
    sendto(socket, bytes, SendFlags::empty(), &to).map(drop)
}

/// Nothing more goes out by a connection.
pub fn end_sending(socket: impl AsFd) -> Result<(), Errno> {
    shutdown(socket, Shutdown::Write)
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
