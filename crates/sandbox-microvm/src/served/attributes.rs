//! What is known of a file, as a kernel reads it.

use bailiwick_sys::Errno;
use rustix::fs::{FileType, Statx};

/// For how many seconds a machine does not ask again about what the host changes seldom.
const STEADY: u64 = 60;
/// And about everything else.
const BRISK: u64 = 1;

/// Bits of a mode that a machine sees: what it is, permissions, and whether names in a folder are only for their owners to take;
/// nothing gains privileges by a bit.
const SEEN: u32 = 0o171_777;

/// Something that is told to a machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) found: Statx,
    pub(crate) number: u64,
    /// Whose it is said to be.
    pub(crate) owner: (u32, u32),
    pub(crate) steady: bool,
}

impl Told {
    fn seconds(&self) -> u64 {
        if self.steady { STEADY } else { BRISK }
    }

    /// Its attributes.
    fn attributes(&self, into: &mut Vec<u8>) {
        let found = &self.found;
        let seconds = |time: i64| u64::try_from(time).unwrap_or(0);
        let (read, written, changed) = (found.stx_atime, found.stx_mtime, found.stx_ctime);
        for long in [
            self.number,
            found.stx_size,
            found.stx_blocks,
            seconds(read.tv_sec),
            seconds(written.tv_sec),
            seconds(changed.tv_sec),
        ] {
            into.extend(long.to_le_bytes());
        }
        for number in [
            read.tv_nsec,
            written.tv_nsec,
            changed.tv_nsec,
            u32::from(found.stx_mode) & SEEN,
            found.stx_nlink,
            self.owner.0,
            self.owner.1,
            0,
            4096,
            0,
        ] {
            into.extend(number.to_le_bytes());
        }
    }

    /// The answer about a file.
    pub(crate) fn alone(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(104);
        body.extend(self.seconds().to_le_bytes());
        body.extend([0; 8]);
        self.attributes(&mut body);
        body
    }

    /// The answer about a name.
    pub(crate) fn named(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(128);
        for long in [self.number, 0, self.seconds(), self.seconds()] {
            body.extend(long.to_le_bytes());
        }
        body.extend([0; 8]);
        self.attributes(&mut body);
        body
    }
}

/// What it is. Pipes, sockets and devices of the host are not served.
pub(crate) fn kind(found: &Statx) -> Result<FileType, Errno> {
    match FileType::from_raw_mode(u32::from(found.stx_mode)) {
        kind @ (FileType::RegularFile | FileType::Directory | FileType::Symlink) => Ok(kind),
        _ => Err(Errno::NOENT),
    }
}
