//! Asks about files that take more than one turn. Each does a piece, and then others have theirs.

mod list;
mod make;
mod read;
pub(crate) mod remove;
mod write;

use bailiwick_sys::Errno;
use bailiwick_wire::agent::FromAgent;

pub(crate) use list::List;
pub(crate) use make::make;
pub(crate) use read::Read;
pub(crate) use remove::Remove;
pub(crate) use write::Write;

use crate::outgoing::Outgoing;
use crate::pack::{Pack, Unpack};

/// Why an ask was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// What was being done.
    pub(crate) step: &'static str,
    /// What the system said.
    pub(crate) errno: Errno,
}

/// Names the step that failed.
pub(crate) fn at(step: &'static str) -> impl Fn(Errno) -> Trouble + Copy {
    move |errno| Trouble { step, errno }
}

/// How far an ask is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It can go on at once.
    More,
    /// It waits: for the host, for credit or for room.
    Waits,
    /// It is done.
    Done,
}

/// An ask under way.
#[derive(Debug)]
pub(crate) enum Job {
    Read(Read),
    Write(Write),
    List(List),
    Remove(Remove),
    Pack(Box<Pack>),
    Unpack(Box<Unpack>),
}

impl Job {
    /// Does a piece.
    pub(crate) fn turn(
        &mut self,
        id: u32,
        scratch: &mut [u8],
        out: &mut Outgoing,
    ) -> Result<Progress, Trouble> {
        match self {
            Self::Read(read) => read.turn(id, scratch, out),
            Self::List(list) => list.turn(id, out),
            Self::Remove(remove) => remove.turn(),
            Self::Pack(pack) => pack.turn(id, scratch, out),
            // These go on when something comes.
            Self::Write(_) | Self::Unpack(_) => Ok(Progress::Waits),
        }
    }

    /// Takes a part of what is to be written.
    pub(crate) fn data(&mut self, id: u32, bytes: &[u8], out: &mut Outgoing) -> Result<(), Trouble> {
        match self {
            Self::Write(write) => write.data(bytes)?,
            Self::Unpack(unpack) => unpack.data(bytes)?,
            _ => return Ok(()),
        }
        // It is on its way to the disk, and of no weight here any more.
        out.push(&FromAgent::Credit { id, bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX) });
        Ok(())
    }

    /// All of it came.
    pub(crate) fn finish(&mut self) -> Result<Progress, Trouble> {
        match self {
            Self::Write(write) => write.finish()?,
            Self::Unpack(unpack) => unpack.finish()?,
            _ => return Ok(Progress::Waits),
        }
        Ok(Progress::Done)
    }

    /// The host took so many bytes.
    pub(crate) fn give_credit(&mut self, bytes: u32) {
        match self {
            Self::Read(read) => read.give_credit(bytes),
            Self::Pack(pack) => pack.give_credit(bytes),
            _ => {}
        }
    }
}
