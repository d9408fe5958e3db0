//! Reading a file, as far as there is credit.

use std::os::fd::OwnedFd;

use bailiwick_sys::{Errno, packets};
use bailiwick_wire::agent::{CHUNK, FromAgent, WINDOW};
use rustix::fs::{FileType, Mode, OFlags};

use super::{Progress, Trouble, at};
use crate::outgoing::Outgoing;

const STEP: &str = "read the file";

/// A file that is read.
#[derive(Debug)]
pub(crate) struct Read {
    file: OwnedFd,
    credit: u32,
    left: u64,
}

impl Read {
    /// Opens a file of at most so many bytes. What is no file (a pipe, a device) is refused and not waited for.
    pub(crate) fn begin(path: &str, most: u64) -> Result<Self, Trouble> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(at("open the file"))?;
        let stat = rustix::fs::fstat(&file).map_err(at(STEP))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(at(STEP)(Errno::ISDIR)),
            _ => return Err(at("read what is no file")(Errno::INVAL)),
        }
        if u64::try_from(stat.st_size).unwrap_or(0) > most {
            return Err(at(STEP)(Errno::FBIG));
        }
        Ok(Self { file, credit: WINDOW, left: most })
    }

    pub(super) fn give_credit(&mut self, bytes: u32) {
        self.credit = self.credit.saturating_add(bytes).min(WINDOW);
    }

    pub(super) fn turn(
        &mut self,
        id: u32,
        scratch: &mut [u8],
        out: &mut Outgoing,
    ) -> Result<Progress, Trouble> {
        if self.credit == 0 || !out.has_room() {
            return Ok(Progress::Waits);
        }
        let most = CHUNK.min(self.credit as usize);
        let buffer = scratch.get_mut(..most).unwrap_or_default();
        let length = packets::read(&self.file, buffer).map_err(at(STEP))?;
        if length == 0 {
            return Ok(Progress::Done);
        }
        // It may have grown since it was opened.
        self.left = self.left.checked_sub(length as u64).ok_or(Trouble { step: STEP, errno: Errno::FBIG })?;
        self.credit = self.credit.saturating_sub(u32::try_from(length).unwrap_or(u32::MAX));
        out.push(&FromAgent::Data { id, bytes: buffer.get(..length).unwrap_or_default().to_vec() });
        Ok(Progress::More)
    }
}
