//! The moment in which a name changes hands: what goes is set aside first, looked at, and only then taken away.
//!
//! Between the last look at a file and the step that replaces it, somebody else may write. So the two change places in one
//! step, and what came out is looked at once more: if it is not what the plan saw, they change back, and nothing of
//! somebody else's is lost. Where a file system cannot exchange, the new file simply takes the place.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use bailiwick_sys::beneath::{self, Links, Taken};
use rustix::io::Errno;

use super::apply::{Stand, Work, clear};
use super::{Act, Op};
use crate::fault::{Doing, Fault};
use crate::seen::{Kind, Seen};
use crate::{Finding, RelPath};

/// A name in an opened folder, and the name beside it that is ours.
#[derive(Debug)]
pub(super) struct Spot<'a> {
    pub(super) parent: BorrowedFd<'a>,
    pub(super) name: &'a CStr,
    pub(super) beside: &'a CStr,
    pub(super) path: &'a RelPath,
}

impl Spot<'_> {
    /// What is beside the place.
    fn aside(&self) -> Result<Option<Seen>, Fault> {
        match beneath::look(self.parent, self.beside, Links::Itself).and_then(Seen::of) {
            Ok(seen) => Ok(Some(seen)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(Fault::system(Doing::LookAtHost, self.path)(errno)),
        }
    }

    fn clear(&self) -> Result<(), Fault> {
        clear(self.parent, self.beside).map_err(Fault::system(Doing::Remove, self.path))
    }

    fn exchange(&self) -> Result<(), Errno> {
        beneath::exchange(self.parent, self.beside, self.name)
    }

    /// Gives somebody else's file its place back, and takes ours away.
    fn exchange_back(&self) -> Result<Option<Finding>, Fault> {
        self.exchange().map_err(Fault::system(Doing::Write, self.path))?;
        self.clear()?;
        Ok(Some(Finding::HostChanged))
    }

    /// Gives what was set aside its name back. If somebody has taken that meanwhile, it stays under ours: never is it lost.
    fn put_back(&self) -> Result<Option<Finding>, Fault> {
        let (from, to) = ((self.parent, self.beside), (self.parent, self.name));
        match beneath::rename(from, to, Taken::Refuse) {
            Ok(()) | Err(Errno::EXIST) => Ok(Some(Finding::HostChanged)),
            Err(errno) => Err(Fault::system(Doing::Write, self.path)(errno)),
        }
    }
}

impl Work<'_> {
    /// What was made beside its place takes it, if nobody else did.
    pub(super) fn take_place(&mut self, op: &Op, spot: &Spot<'_>) -> Result<Option<Finding>, Fault> {
        self.steps.reached("take the place");
        let writing = Fault::system(Doing::Write, spot.path);
        let give_up = |finding| {
            spot.clear()?;
            Ok(Some(finding))
        };
        if self.stand(op)? != Stand::Old {
            return give_up(if op.before.is_some() { Finding::HostChanged } else { Finding::HostAdded });
        }
        self.steps.reached("change places");
        let (from, to) = ((spot.parent, spot.beside), (spot.parent, spot.name));
        let Some(before) = &op.before else {
            return match beneath::rename(from, to, Taken::Refuse) {
                Ok(()) => Ok(None),
                Err(Errno::EXIST) => give_up(Finding::HostAdded),
                Err(errno) => Err(writing(errno)),
            };
        };
        match spot.exchange() {
            Ok(()) => {}
            Err(Errno::NOENT) => return give_up(Finding::HostGone),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return match beneath::rename(from, to, Taken::Replace) {
                    Ok(()) => Ok(None),
                    Err(Errno::ISDIR) => give_up(Finding::HostChanged),
                    Err(errno) => Err(writing(errno)),
                };
            }
            Err(errno) => return Err(writing(errno)),
        }
        self.steps.reached("look at what came out");
        match spot.aside()? {
            Some(seen) if !seen.was(before) => spot.exchange_back(),
            _ => clear_away(spot),
        }
    }

    /// Removes what was there, if it is what the plan saw.
    pub(super) fn remove(&mut self, op: &Op, spot: &Spot<'_>) -> Result<Option<Finding>, Fault> {
        let removing = Fault::system(Doing::Remove, spot.path);
        if op.before.is_some_and(|before| before.kind == Kind::Folder) {
            return match beneath::remove_folder(spot.parent, spot.name) {
                Ok(()) | Err(Errno::NOENT) => Ok(None),
                Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(Some(Finding::HostAdded)),
                // It is no folder any more.
                Err(Errno::NOTDIR) => Ok(Some(Finding::HostChanged)),
                Err(errno) => Err(removing(errno)),
            };
        }
        let (from, to) = ((spot.parent, spot.name), (spot.parent, spot.beside));
        match beneath::rename(from, to, Taken::Refuse) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(removing(errno)),
        }
        self.steps.reached("look at what is set aside");
        match (spot.aside()?, &op.before) {
            (Some(seen), Some(before)) if !seen.was(before) => spot.put_back(),
            _ => clear_away(spot),
        }
    }

    /// What an earlier try left beside a place: half of a file of ours, what was set aside, or somebody else's that came out.
    pub(super) fn tidy(&self, op: &Op, spot: &Spot<'_>) -> Result<Option<Finding>, Fault> {
        let Some(seen) = spot.aside()? else { return Ok(None) };
        let Some(before) = &op.before else { return clear_away(spot) };
        if seen.was(before) {
            return clear_away(spot);
        }
        match &op.act {
            Act::Remove => spot.put_back(),
            Act::File { .. } | Act::Link { .. } if self.stand(op)? == Stand::New => spot.exchange_back(),
            _ => clear_away(spot),
        }
    }
}

/// Takes away what is beside a place and nobody's any more.
fn clear_away(spot: &Spot<'_>) -> Result<Option<Finding>, Fault> {
    spot.clear()?;
    Ok(None)
}
