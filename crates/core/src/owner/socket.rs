//! The socket in the data folder: bound by the owner alone, answered and used by one user alone.
//!
//! Both sides ask the kernel who the other is, and end what is not the same user, whatever the file's permissions say.

use std::ffi::CStr;
use std::io;

use bailiwick_sys::{Errno, beneath, local, privileges};
use bailiwick_types::ErrorCode;
use tokio::net::{UnixListener, UnixStream};

use super::lock::{Folder, Ownership, disk};
use crate::Refusal;

/// The socket's name.
const SOCKET: &CStr = c"owner.sock";

/// The name of the socket, for as long as its owner serves it. Dropping it takes the name away, still under the lock.
#[derive(Debug)]
pub(crate) struct Named(Ownership);

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum NoConnection {
    /// Nobody listens there yet, or any more.
    Nobody(io::Error),
    /// It must not be used.
    Refused(Refusal),
}

/// Listens. Whatever has the socket's name is what an earlier owner left, since this process has the lock.
pub(crate) fn listen(ownership: &Ownership) -> Result<(UnixListener, Named), Refusal> {
    let folder = ownership.folder();
    let path = folder.path().join("owner.sock");
    match beneath::remove(folder, SOCKET) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(disk("remove", &path, &errno)),
    }
    let listener = local::listen(folder, SOCKET).map_err(|errno| disk("listen at", &path, &errno))?;
    let named = Named(ownership.clone());
    let listener = UnixListener::from_std(listener).map_err(|error| disk("listen at", &path, &error))?;
    Ok((listener, named))
}

/// Connects to whoever listens.
pub(crate) async fn connect(folder: &Folder) -> Result<UnixStream, NoConnection> {
    let stream = UnixStream::connect(local::address(folder, SOCKET)).await.map_err(NoConnection::Nobody)?;
    let peer = peer(&stream).map_err(NoConnection::Nobody)?;
    if is_us(peer) {
        return Ok(stream);
    }
    let path = folder.path().join("owner.sock");
    let message = format!("{} is served by another user (uid {peer})", path.display());
    let hint = format!("find out who put it there: ls -l {}", path.display());
    Err(NoConnection::Refused(Refusal::new(ErrorCode::Forbidden, message).with_hint(hint)))
}

/// The user at the other end, by the kernel's word.
pub(crate) fn peer(stream: &UnixStream) -> io::Result<u32> {
    stream.peer_cred().map(|peer| peer.uid())
}

/// Whether a user is the one this process runs as. Nobody else is served, root neither.
pub(crate) fn is_us(user: u32) -> bool {
    user == privileges::identity().0
}

impl Drop for Named {
    fn drop(&mut self) {
        // The next owner removes what is left here.
        let _ = beneath::remove(self.0.folder(), SOCKET);
    }
}
