//! Starting a nursery: this program again, prepared from outside, then told to begin. Blocks for a few milliseconds.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bailiwick_engine::Breadth;
use bailiwick_sys::cgroup::Cgroup;
use bailiwick_sys::clock::{Woken, wait_readable};
use bailiwick_sys::pidfd::How;
use bailiwick_sys::{Errno, Failed, packets, pidfd, reexec};
use bailiwick_wire::{Ending, FromNursery, ToNursery, Walls, decode, encode};

use super::nest::REHEARSED;
use super::{Options, StartError};
use crate::enter;
use crate::nursery::{Copies, breadth_word};

/// How long a nursery may take until it is ready.
const PATIENCE: Duration = Duration::from_secs(20);

/// The largest packet a nursery sends.
pub(super) const LARGEST_PACKET: usize = 64 * 1024;

/// A nursery that is ready.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) control: OwnedFd,
    pub(super) process: Process,
    pub(super) walls: Walls,
    /// What holds the memory of all cells together.
    pub(super) cgroup: Option<&'static str>,
}

/// The nursery's process. When this is dropped it is killed, and with it every cell of its namespace, and reaped.
#[derive(Debug)]
pub(super) struct Process {
    pidfd: Option<OwnedFd>,
    cgroup: Option<Cgroup>,
    /// Kills by the kernel for want of memory that were told already.
    told: AtomicU64,
}

/// How long a program waits at most for the end of a nursery whose cgroup it has to remove.
const FAREWELL: Duration = Duration::from_millis(500);

impl Process {
    /// Whether the kernel has killed for want of memory since this was last asked.
    pub(super) fn was_out_of_memory(&self) -> bool {
        let kills = self.cgroup.as_ref().map_or(0, Cgroup::kills);
        self.told.swap(kills, Ordering::Relaxed) < kills
    }

    /// Kills it, and with it its cells.
    pub(super) fn kill(&self) {
        if let Some(pidfd) = &self.pidfd {
            // By its own handle: one that cannot be killed is gone.
            let _gone = pidfd::kill(pidfd);
        }
    }
}

impl Process {
    /// An error with how the process ended, where it ended without a word.
    fn last_words(&mut self, error: StartError) -> StartError {
        match (error, self.pidfd.take()) {
            (StartError::Silent(None), Some(pidfd)) => {
                // It closed its socket, so it has ended or is about to; one that lingers is killed.
                let _gone = pidfd::kill(&pidfd);
                let how = pidfd::reap(&pidfd).ok().flatten();
                StartError::Silent(how.map(|how| match how {
                    How::Exited(code) => Ending::Exited(code),
                    How::Signalled(signal) => Ending::Signalled(signal),
                }))
            }
            (error, pidfd) => {
                self.pidfd = pidfd;
                error
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let (Some(pidfd), cgroup) = (self.pidfd.take(), self.cgroup.take()) else { return };
        // A process that cannot be killed by its own handle is gone.
        let _gone = pidfd::kill(&pidfd);
        if let Some(cgroup) = cgroup {
            // A folder of the kernel's that nobody removes stays for ever, so its end is waited for, within reason.
            let _late = wait_readable(&pidfd, Some(FAREWELL));
            let _reaped_elsewhere = pidfd::reap_if_ended(&pidfd);
            drop(cgroup);
            return;
        }
        // Ending a namespace of thousands of cells takes a while, and nobody has to wait for it.
        let reaper = std::thread::Builder::new().name("reap-nursery".to_owned()).spawn(move || {
            let _reaped_elsewhere = pidfd::reap(&pidfd);
        });
        // Without a thread the process stays for whoever ends this one to reap.
        drop(reaper);
    }
}

/// Starts a nursery and waits until it is ready.
pub(super) fn start(options: &Options) -> Result<Fresh, StartError> {
    if !enter::was_entered() {
        return Err(StartError::NotEntered);
    }
    let (control, theirs) = packets::packet_pair()?;
    let arguments = [options.demand.asked().word(), breadth_word(options.breadth), copies(options).word()];
    let mut first = reexec::start(enter::NAME, &arguments, theirs)?;
    let cgroup = options.memory.and_then(|memory| bound_memory(first.id(), memory));
    let mechanism = cgroup.as_ref().map(Cgroup::mechanism);
    let mut process = Process { pidfd: None, cgroup, told: AtomicU64::new(0) };
    let heard = begin(&control).and_then(|()| hear_until_ready(&control, &mut process));
    // The first process ends as soon as the second stands on its own, or when the socket closes.
    if heard.is_err() {
        let _ended_already = first.kill();
    }
    let _reaped_elsewhere = first.wait();
    let walls = heard.map_err(|error| process.last_words(error))?;
    Ok(Fresh { control, process, walls, cgroup: mechanism })
}

/// Where few cells are parked and many are going to be used, they are born with what they need.
fn copies(options: &Options) -> Copies {
    let is_lasting = options.breadth == Breadth::All && options.parked <= *REHEARSED.end();
    if is_lasting { Copies::AtOnce } else { Copies::WhenWritten }
}

/// Tells the nursery that all is prepared.
fn begin(control: &OwnedFd) -> Result<(), StartError> {
    let begin = encode(&ToNursery::Begin).map_err(|_| StartError::Garbled)?;
    Ok(packets::send(control, &begin, &[])?)
}

/// A cgroup around a process, where one can be had; an ordinary user often cannot, and the receipt says so.
fn bound_memory(pid: u32, memory: u64) -> Option<Cgroup> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let cgroup = Cgroup::make("bailiwick", std::process::id(), number, memory).ok()?;
    cgroup.take_in(pid).ok()?;
    Some(cgroup)
}

fn hear_until_ready(control: &OwnedFd, process: &mut Process) -> Result<Walls, StartError> {
    let deadline = Instant::now() + PATIENCE;
    let mut buffer = vec![0; LARGEST_PACKET];
    loop {
        let rest = deadline.saturating_duration_since(Instant::now());
        match wait_readable(control, Some(rest))? {
            Woken::Late => return Err(StartError::Late(PATIENCE)),
            Woken::Interrupted => continue,
            Woken::Ready => {}
        }
        let packet = match packets::receive(control, &mut buffer) {
            Ok(packet) => packet,
            Err(Failed { errno: Errno::AGAIN, .. }) => continue,
            Err(Failed { errno: Errno::CONNRESET, .. }) => return Err(StartError::Silent(None)),
            Err(failed) => return Err(failed.into()),
        };
        if packet.length == 0 {
            return Err(StartError::Silent(None));
        }
        let message = buffer.get(4..packet.length).ok_or(StartError::Garbled)?;
        match decode(message).map_err(|_| StartError::Garbled)? {
            FromNursery::Started => {
                if let Some(given_up) = process.pidfd.take() {
                    pidfd::kill(&given_up)?;
                    pidfd::reap(&given_up)?;
                }
                process.pidfd = packet.descriptors.into_iter().next();
            }
            FromNursery::Ready(walls) => return Ok(*walls),
            FromNursery::Failed { step, errno } => return Err(StartError::Unbuilt { step, errno }),
            FromNursery::Born { .. } | FromNursery::Ended(_) | FromNursery::NotBorn { .. } => {
                return Err(StartError::Garbled);
            }
        }
    }
}
