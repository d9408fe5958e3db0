//! Taking a place that somebody else built: a container's, or one on another kernel. Everything that can be given up is given up,
//! what stands is looked at and told, and then it is the agent of the place.
//!
//! Nothing of a guest runs before the last step. What cannot be taken is told, and nothing runs at all.

use std::os::fd::OwnedFd;
use std::path::Path;

use bailiwick_sys::privileges::{self, CapabilitiesLeft};
use bailiwick_sys::seccomp::command::{Filters, Neighbours, Sockets};
use bailiwick_sys::{Errno, Failed, Step, bounds, mounts, packets, seccomp};
use bailiwick_wire::seat::{FromSeat, LONGEST, Seat, Seen};
use bailiwick_wire::{Decoder, encode};
use serde::de::DeserializeOwned;

use crate::laid;
use crate::{BROKEN, CLOSED, OUR_FAULT, Setup, Supervision, ToHost, run, supervisor};

/// How much is read at once before there is an agent: no more than one message, since nothing follows it.
const PIECE: usize = 4096;

/// Takes the place that the host says, and lives as its agent. Gives the exit code with which the process has to end at once.
pub fn take(host: ToHost) -> u8 {
    take_after(host, &mut Decoder::new(LONGEST))
}

/// The same, where something was heard of the host before.
pub(crate) fn take_after(host: ToHost, decoder: &mut Decoder) -> u8 {
    let seat = match hear(&host.from, decoder) {
        Ok(Some(seat)) => seat,
        Ok(None) => return CLOSED,
        Err(_) => return BROKEN,
    };
    let taken = settle(&seat);
    let said = match &taken {
        Ok(seen) => FromSeat::Taken(Box::new(seen.clone())),
        Err(Failed { step, errno }) => {
            FromSeat::Untaken { step: step.says().to_owned(), errno: errno.raw_os_error() }
        }
    };
    if tell(host.to.as_ref().unwrap_or(&host.from), &said).is_err() {
        return CLOSED;
    }
    let Ok(seen) = taken else { return OUR_FAULT };
    let setup = Setup {
        is_init: seen.first,
        signals_stay: false,
        owns_ipc: true,
        reset: seat.resets.then_some(seat.folders),
        hand: None,
        supervision: if seen.supervises { Supervision::AtFirstCommand } else { Supervision::Off },
    };
    run(host, setup)
}

/// The next message of the host; none where it is gone.
pub(crate) fn hear<T: DeserializeOwned>(from: &OwnedFd, decoder: &mut Decoder) -> Result<Option<T>, Errno> {
    let mut piece = [0; PIECE];
    loop {
        if let Some(message) = decoder.take().map_err(|_| Errno::PROTO)? {
            return Ok(Some(message));
        }
        match packets::read(from, &mut piece)? {
            0 => return Ok(None),
            length => decoder.push(piece.get(..length).unwrap_or_default()),
        }
    }
}

pub(crate) fn tell(to: &OwnedFd, said: &FromSeat) -> Result<(), Errno> {
    let frame = encode(said).map_err(|_| Errno::INVAL)?;
    let mut rest = frame.as_slice();
    while !rest.is_empty() {
        let written = packets::write(to, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Gives up what can be given up, and looks at what stands.
fn settle(seat: &Seat) -> Result<Seen, Failed> {
    laid::lay(&seat.laid, &seat.away, seat.user)?;
    if let Some((user, group)) = seat.user {
        privileges::clear_groups()?;
        privileges::become_user(user, group)?;
        // What can be gained is given up with what is there, which needs a privilege itself.
        privileges::regain_kept()?;
    }
    // One more than commands may have: the agent.
    bounds::for_a_sandbox(seat.processes.map(|most| u64::from(most) + 1), None)?;
    privileges::drop_all()?;
    privileges::never_gain()?;
    privileges::hide()?;
    let mut seen = look(&seat.folders)?;
    if seat.filter {
        let filters = Filters::compile(Sockets::Internet, Neighbours::Nobody)?;
        filters.install()?;
        seen.filter = seccomp::in_force().then(|| filters.mark());
    }
    seen.filtered = seccomp::in_force();
    seen.supervises = seat.supervises && supervisor::is_possible()?;
    Ok(seen)
}

fn look(folders: &[String]) -> Result<Seen, Failed> {
    let rooms = folders.iter().map(|folder| mounts::room(Path::new(folder)).map(|room| room.bytes));
    Ok(Seen {
        first: rustix::process::getpid() == rustix::process::Pid::INIT,
        user: privileges::identity().0,
        no_groups: privileges::has_no_other_groups(),
        no_capabilities: !matches!(privileges::look_at_capabilities()?, CapabilitiesLeft::Some),
        no_new_privileges: privileges::never_gains(),
        hidden: privileges::is_hidden(),
        filtered: false,
        supervises: false,
        filter: None,
        root_is_read_only: mounts::is_read_only(Path::new("/"))?,
        interfaces: interfaces()?,
        room: rooms.collect::<Result<Vec<_>, _>>()?.into_iter().max(),
        most_processes: bounds::most_processes(),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
    })
}

/// The interfaces of this network namespace, by name.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, of a few lines")]
fn interfaces() -> Result<Vec<String>, Failed> {
    let told = std::fs::read_to_string("/proc/net/dev")
        .map_err(|error| Step::LookAtNamespace.failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    // Behind two lines of headings, each begins with its name.
    let names = told.lines().skip(2).filter_map(|line| line.split_once(':'));
    Ok(names.map(|(name, _)| name.trim().to_owned()).collect())
}
