//! A file to lock and a socket to listen at, in a held folder: for their owner alone from the moment they have a name.
//!
//! An address of a unix socket has 108 bytes at most. Here it goes through the number of the held folder, so the path of
//! that folder may be as long as it likes, and nobody can bend it between a check and a use.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Result;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// How many connections may wait to be accepted.
const WAITING: i32 = 128;

/// Whose a file is, by user id.
pub fn user_of(file: impl AsFd) -> Result<u32> {
    rustix::fs::fstat(file).map(|stat| stat.st_uid)
}

/// Opens the file of this name in a folder to lock it, and makes it first where it is not there. What else the name may
/// stand for is opened without waiting and without following a link; the caller looks at what it got.
pub fn lock_file(folder: impl AsFd, name: &CStr) -> Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Listens at a name in a folder that was not taken, without ever blocking.
pub fn listen(folder: impl AsFd, name: &CStr) -> Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket: OwnedFd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let ours_alone = Mode::RUSR | Mode::WUSR;
    // The name takes these over when it is made, so there is no moment in which others could connect.
    rustix::fs::fchmod(&socket, ours_alone)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(address(&folder, name))?)?;
    // The mask of the process may have taken more away than it should.
    rustix::fs::chmodat(&folder, name, ours_alone, AtFlags::empty())?;
    rustix::net::listen(&socket, WAITING)?;
    Ok(UnixListener::from(socket))
}

/// The address of a socket in a held folder, short whatever the folder's path. Good as long as the folder is held.
pub fn address(folder: impl AsFd, name: &CStr) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = PathBuf::from(format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd()));
    folder.join(std::ffi::OsStr::from_bytes(name.to_bytes()))
}
