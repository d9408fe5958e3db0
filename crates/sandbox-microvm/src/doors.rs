//! The host's ends of a machine's virtual sockets, where the monitor itself carries them: for each number that the machine connects to,
//! it connects to a socket in a folder, by that number. We listen there before the machine is started.
//!
//! Each door opens once, for the monitor that was started and for nobody else. When all three have opened, which is before anything of a
//! guest runs, the folder and everything in it is gone: whatever of a machine asks for a virtual socket later finds nobody.

use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::chown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use bailiwick_agent_host::folders;
use bailiwick_wire::machine::{AGENT_SOCKET, FILES_SOCKET, ORDERS_SOCKET};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};

/// What the monitor's own socket is called, at which it would take connections into the machine; ours have their number behind that.
const NAME: &str = "v";
/// The doors, in the order in which a machine's first process comes to them.
const NUMBERS: [u32; 3] = [AGENT_SOCKET, FILES_SOCKET, ORDERS_SOCKET];

/// Doors at which nobody was yet.
#[derive(Debug)]
pub(crate) struct Doors {
    folder: PathBuf,
    place: OwnedFd,
    listeners: Vec<UnixListener>,
}

/// Streams to a machine.
#[derive(Debug)]
pub(crate) struct Come {
    pub(crate) agent: UnixStream,
    pub(crate) files: UnixStream,
    pub(crate) orders: UnixStream,
}

impl Doors {
    /// Listens in a fresh folder, which is nobody's but this user's.
    pub(crate) fn open(folder: PathBuf, user: Option<(u32, u32)>) -> std::io::Result<Self> {
        folders::private(&folder)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = rustix::fs::open(&folder, flags, Mode::empty())?;
        let mut doors = Self { folder, place, listeners: Vec::new() };
        for number in NUMBERS {
            // By the folder that is held: the whole path may be longer than the name of a socket can be.
            let path = format!("{}_{number}", Self::name(doors.place.as_raw_fd()));
            let listener = UnixListener::bind(&path)?;
            listener.set_nonblocking(true)?;
            if let Some((user, group)) = user {
                chown(&path, Some(user), Some(group))?;
            }
            doors.listeners.push(listener);
        }
        if let Some((user, group)) = user {
            chown(&doors.folder, Some(user), Some(group))?;
        }
        Ok(doors)
    }

    /// The folder, for whoever is started.
    pub(crate) fn place(&self) -> std::io::Result<OwnedFd> {
        self.place.try_clone()
    }

    /// What the socket is called by whoever holds the folder by this number.
    pub(crate) fn name(held: i32) -> String {
        format!("/proc/self/fd/{held}/{NAME}")
    }

    /// Waits until the monitor, which is this process, has come to every door; or has ended.
    pub(crate) fn wait(self, monitor: &OwnedFd, number: u32) -> std::io::Result<Come> {
        let mut come: Vec<Option<UnixStream>> = NUMBERS.iter().map(|_| None).collect();
        while come.iter().any(Option::is_none) {
            let mut waited = vec![PollFd::from_borrowed_fd(monitor.as_fd(), PollFlags::IN)];
            waited.extend(self.listeners.iter().map(|door| PollFd::new(door, PollFlags::IN)));
            rustix::io::retry_on_intr(|| poll(&mut waited, None))?;
            let ready: Vec<bool> = waited.iter().map(|one| !one.revents().is_empty()).collect();
            if ready.first() == Some(&true) {
                return Err(std::io::Error::other("it ended before its machine stood"));
            }
            for ((door, place), is_ready) in self.listeners.iter().zip(&mut come).zip(ready.iter().skip(1)) {
                if *is_ready {
                    let stream = let_in(door, number)?;
                    if place.replace(stream).is_some() {
                        return Err(std::io::Error::other("its machine came to the same door twice"));
                    }
                }
            }
        }
        let mut come = come.into_iter().flatten();
        match (come.next(), come.next(), come.next()) {
            (Some(agent), Some(files), Some(orders)) => Ok(Come { agent, files, orders }),
            _ => Err(std::io::Error::other("its machine did not come to every door")),
        }
    }
}

/// Lets somebody in who is this process, and nobody else.
fn let_in(door: &UnixListener, number: u32) -> std::io::Result<UnixStream> {
    let (stream, _) = door.accept()?;
    let who = rustix::net::sockopt::socket_peercred(&stream)?.pid.as_raw_nonzero().get();
    if u32::try_from(who) != Ok(number) {
        return Err(std::io::Error::other(format!("process {who} came to a door of machine {number}")));
    }
    stream.set_nonblocking(false)?;
    Ok(stream)
}

impl Drop for Doors {
    fn drop(&mut self) {
        folders::remove(&self.folder);
    }
}

#[cfg(test)]
mod tests;
