//! Packets between host and nursery, with descriptors beside them.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::{Failed, Step};

/// The most descriptors in one packet.
pub const MOST_DESCRIPTORS: usize = 128;

/// Two ends of packets: whole messages, in order, nothing cut.
pub fn packet_pair() -> Result<(OwnedFd, OwnedFd), Failed> {
    pair(SocketType::SEQPACKET)
}

/// Two ends of a stream.
pub fn stream_pair() -> Result<(OwnedFd, OwnedFd), Failed> {
    pair(SocketType::STREAM)
}

fn pair(kind: SocketType) -> Result<(OwnedFd, OwnedFd), Failed> {
    socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
        .map_err(|errno| Step::MakeSocketPair.failed(errno))
}

/// Makes reads and writes of a descriptor return at once.
pub fn never_block(descriptor: impl AsFd) -> Result<(), Failed> {
    rustix::io::ioctl_fionbio(descriptor, true).map_err(|errno| Step::MakeSocketPair.failed(errno))
}

/// Sends one packet and the descriptors that belong to it. `WouldBlock` comes as [`Errno::AGAIN`].
pub fn send(socket: impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Failed> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    loop {
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(Step::SendPacket.failed(Errno::TOOBIG));
        }
        match sendmsg(&socket, &[IoSlice::new(bytes)], &mut beside, SendFlags::NOSIGNAL) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Step::SendPacket.failed(errno)),
        }
    }
}

/// One packet that came.
#[derive(Debug)]
pub struct Packet {
    /// How many bytes of the buffer it filled; zero when the other side is gone.
    pub length: usize,
    /// The descriptors beside it; fewer than were sent when this process may open no more.
    pub descriptors: Vec<OwnedFd>,
}

/// Receives one packet that is there already, else fails with [`Errno::AGAIN`]; one that does not fit is an error, not
/// a part.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> Result<Packet, Failed> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    loop {
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            &socket,
            &mut [IoSliceMut::new(buffer)],
            &mut beside,
            RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
        );
        let message = match received {
            Ok(message) => message,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(Step::ReceivePacket.failed(errno)),
        };
        let mut descriptors = Vec::new();
        for one in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = one {
                descriptors.extend(rights);
            }
        }
        if message.flags.contains(ReturnFlags::TRUNC) {
            return Err(Step::ReceivePacket.failed(Errno::MSGSIZE));
        }
        return Ok(Packet { length: message.bytes, descriptors });
    }
}

/// Ends a stream in both directions, whoever else holds it.
pub fn shut(stream: impl AsFd) -> Result<(), Errno> {
    rustix::net::shutdown(stream, rustix::net::Shutdown::Both)
}

/// Reads what is there from a stream; zero when the other side is gone.
pub fn read(stream: impl AsFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::read(&stream, &mut *buffer) {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

/// Writes what fits into a stream.
pub fn write(stream: impl AsFd, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::write(&stream, bytes) {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}
