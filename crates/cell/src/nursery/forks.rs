//! The nursery's life: fork when asked, pass the cell on, reap, say how each ended.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};

use bailiwick_sys::alone::Alone;
use bailiwick_sys::clone::{Child, Side, fork};
use bailiwick_sys::pidfd::{How, reap_one};
use bailiwick_sys::{Errno, Failed, descriptors, ending, packets};
use bailiwick_wire::{Ended, Ending, FromNursery, ToNursery, decode};

use super::tell;

/// The most endings told in one packet.
const MOST_ENDINGS: usize = 256;

/// A cell that was just forked.
pub(crate) struct Newborn {
    /// Its one socket.
    pub(crate) socket: OwnedFd,
    /// Whether it goes through a call once before it is needed.
    pub(crate) rehearse: bool,
}

/// Forks cells as the host asks for them. Returns in a cell only; in the nursery it ends the process
/// when the host is gone.
pub(super) fn fork_on_demand(alone: &Alone) -> Newborn {
    let mut living: BTreeMap<i32, u64> = BTreeMap::new();
    let mut born = 0_u64;
    loop {
        match turn(alone, &mut living, &mut born) {
            Ok(Turn::GoOn) => {}
            Ok(Turn::Cell(newborn)) => return newborn,
            // Pid 1 ends, and with it every cell of the namespace.
            Ok(Turn::HostGone) => ending::exit_now(crate::ending::FINE),
            Err(Failed { step, errno }) => {
                let failed =
                    FromNursery::Failed { step: step.says().to_owned(), errno: errno.raw_os_error() };
                let _host_gone = tell(&failed, &[]);
                ending::exit_now(crate::ending::NO_WALL)
            }
        }
    }
}

enum Turn {
    GoOn,
    HostGone,
    Cell(Newborn),
}

fn turn(alone: &Alone, living: &mut BTreeMap<i32, u64>, born: &mut u64) -> Result<Turn, Failed> {
    ending::wait_for_packet_or_child()?;
    tell_endings(living)?;
    let mut buffer = [0; 64];
    let packet = match packets::receive(descriptors::zero(), &mut buffer) {
        Ok(packet) => packet,
        Err(Failed { errno: Errno::AGAIN, .. }) => return Ok(Turn::GoOn),
        Err(failed) => return Err(failed),
    };
    let Some(bytes) = buffer.get(4..packet.length) else { return Ok(Turn::HostGone) };
    // Host and nursery are one binary; a message that is none means that the host is not a host.
    let Ok(ToNursery::Fork { count, rehearse }) = decode(bytes) else { return Ok(Turn::HostGone) };
    for _ in 0..count {
        *born += 1;
        let (outer, inner) = packets::stream_pair()?;
        match fork(alone) {
            Ok(Side::Child) => return Ok(Turn::Cell(Newborn { socket: inner, rehearse })),
            Ok(Side::Parent(Child { pid, pidfd })) => {
                living.insert(pid, *born);
                match tell(&FromNursery::Born { serial: *born }, &[outer.as_fd(), pidfd.as_fd()]) {
                    Ok(()) => {}
                    // Too many descriptors are on their way to a host that does not take them: this cell sees its
                    // socket close and ends, and the host asks again.
                    Err(Failed { errno, .. }) if matches!(errno, Errno::TOOMANYREFS | Errno::NOBUFS) => {
                        tell(&FromNursery::NotBorn { errno: errno.raw_os_error() }, &[])?;
                    }
                    Err(failed) => return Err(failed),
                }
            }
            Err(Failed { errno, .. }) => tell(&FromNursery::NotBorn { errno: errno.raw_os_error() }, &[])?,
        }
    }
    Ok(Turn::GoOn)
}

fn tell_endings(living: &mut BTreeMap<i32, u64>) -> Result<(), Failed> {
    loop {
        let mut ended = Vec::new();
        while ended.len() < MOST_ENDINGS
            && let Some(one) = reap_one()?
        {
            // Pid 1 also inherits processes that nobody else waits for; cells cannot make any.
            let Some(serial) = living.remove(&one.pid) else { continue };
            let ending = match one.how {
                How::Exited(code) => Ending::Exited(code),
                How::Signalled(signal) => Ending::Signalled(signal),
            };
            ended.push(Ended { serial, ending, cpu_us: one.cpu_us });
        }
        if ended.is_empty() {
            return Ok(());
        }
        tell(&FromNursery::Ended(ended), &[])?;
    }
}
