//! Clocks, randomness and waiting, for a process that has nothing else.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::{Failed, Step};

/// CPU time this thread has used: in a cell that is all of it. With a bound on CPU time the kernel tells that of a
/// process in ticks only.
pub fn cpu() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// The time of day, since the epoch.
pub fn realtime() -> Duration {
    read(ClockId::Realtime)
}

/// The time of day that file systems stamp files with, since the epoch: it moves on by ticks, and is never ahead of
/// [`realtime`]. What is changed after this was read has a stamp of this or later.
pub fn stamp() -> Duration {
    read(ClockId::RealtimeCoarse)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

unsafe extern "C" {
    /// Of the C library: reads the time zone, once and for all that ask for local time by `localtime_r`.
    safe fn tzset();
}

/// Has the C library settle on its time zone now, while it may still look for a file. In an empty root there is none,
/// and local time is UTC.
pub fn settle_time_zone() {
    tzset();
}

/// Looks up how the kernel tells the time without a system call, once for this process and all it forks.
pub fn find_clocks() {
    let _now = realtime();
}

/// Fills bytes that nobody can guess.
pub fn random(bytes: &mut [u8]) -> Result<(), Errno> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// There is something to read, or the other side is gone.
    Ready,
    /// The time is over.
    Late,
    /// A signal came.
    Interrupted,
}

/// What can be done with a stream now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// There is something to read, or the other side is gone.
    pub readable: bool,
    /// There is room to write, or the other side is gone.
    pub writable: bool,
}

/// Waits until a stream can be read or written.
pub fn wait_either(descriptor: impl AsFd) -> Result<Ready, Failed> {
    loop {
        let mut polled = [PollFd::new(&descriptor, PollFlags::IN | PollFlags::OUT)];
        match poll(&mut polled, None) {
            Ok(_) => {
                let [polled] = polled;
                let gone = PollFlags::HUP | PollFlags::ERR;
                return Ok(Ready {
                    readable: polled.revents().intersects(PollFlags::IN | gone),
                    writable: polled.revents().intersects(PollFlags::OUT | gone),
                });
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Step::Wait.failed(errno)),
        }
    }
}

/// Waits until a descriptor can be read, or for a while.
pub fn wait_readable(descriptor: impl AsFd, how_long: Option<Duration>) -> Result<Woken, Failed> {
    let timeout = how_long.map(|time| Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    });
    let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
    match poll(&mut polled, timeout.as_ref()) {
        Ok(0) => Ok(Woken::Late),
        Ok(_) => Ok(Woken::Ready),
        Err(Errno::INTR) => Ok(Woken::Interrupted),
        Err(errno) => Err(Step::Wait.failed(errno)),
    }
}
