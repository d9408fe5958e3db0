//! What a file is known to be without opening it, in the detail that tells whether somebody touched it.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, StatxFlags};
use rustix::io::{Errno, Result};
use serde::{Deserialize, Serialize};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Special,
}

/// A time that a file system stamped, or that of a begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment {
    /// Since 1970.
    pub seconds: i64,
    /// Within the second.
    pub nanos: u32,
}

impl Moment {
    /// Now, by the clock that file systems stamp with.
    pub fn now() -> Self {
        let now = bailiwick_sys::clock::stamp();
        Self { seconds: i64::try_from(now.as_secs()).unwrap_or(i64::MAX), nanos: now.subsec_nanos() }
    }

    /// Whether this stamp may be of something done at or after `began`.
    ///
    /// A stamp without a part of a second may come from a file system that keeps whole seconds only, or every second one:
    /// up to two seconds may have been cut off.
    pub(crate) fn may_be_since(self, began: Self) -> bool {
        let latest =
            if self.nanos == 0 { Self { seconds: self.seconds.saturating_add(2), ..self } } else { self };
        latest >= began
    }
}

/// What is known of a file. It is kept in journals, so the device is left out: its number may be another one tomorrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    /// All twelve bits.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) names: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) inode: u64,
    pub(crate) changed: Moment,
    pub(crate) modified: Moment,
    /// A device with the numbers 0 and 0: what overlayfs writes for a name that was removed.
    pub(crate) whiteout: bool,
}

impl Seen {
    /// Looks at what a descriptor stands for.
    pub(crate) fn of(file: impl AsFd) -> Result<Self> {
        let stat = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
        let wanted = StatxFlags::BASIC_STATS & !StatxFlags::ATIME;
        if !StatxFlags::from_bits_retain(stat.stx_mask).contains(wanted) {
            return Err(Errno::OPNOTSUPP);
        }
        let mode = u32::from(stat.stx_mode);
        let file_type = FileType::from_raw_mode(mode);
        let moment = |at: rustix::fs::StatxTimestamp| Moment { seconds: at.tv_sec, nanos: at.tv_nsec };
        Ok(Self {
            kind: match file_type {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                FileType::Symlink => Kind::Link,
                _ => Kind::Special,
            },
            mode: mode & 0o7777,
            size: stat.stx_size,
            names: stat.stx_nlink,
            user: stat.stx_uid,
            group: stat.stx_gid,
            inode: stat.stx_ino,
            changed: moment(stat.stx_ctime),
            modified: moment(stat.stx_mtime),
            whiteout: file_type == FileType::CharacterDevice
                && (stat.stx_rdev_major, stat.stx_rdev_minor) == (0, 0),
        })
    }

    /// When a folder was made, where the file system knows. Together with its number it says which one it is.
    pub(crate) fn born(folder: impl AsFd) -> Result<Option<Moment>> {
        let stat = rustix::fs::statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME)?;
        let known = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
        let at = stat.stx_btime;
        Ok(known.then_some(Moment { seconds: at.tv_sec, nanos: at.tv_nsec }))
    }

    /// The bits that say who may read, write and execute.
    pub(crate) fn permissions(&self) -> u32 {
        self.mode & 0o777
    }

    /// Whether it is the file that was seen before, and nobody touched it since.
    ///
    /// A folder's stamps move with every name in it, so only which one it is counts. A file of several names has its stamp
    /// moved when another of its names goes, which may be our own doing.
    pub(crate) fn is_still(&self, before: &Self) -> bool {
        let same = self.kind == before.kind && self.inode == before.inode;
        match self.kind {
            Kind::Folder => same,
            Kind::File | Kind::Link | Kind::Special => {
                self.was(before) && (before.names > 1 || self.changed == before.changed)
            }
        }
    }

    /// The same for a file that we have just given another name, which moves a stamp.
    pub(crate) fn was(&self, before: &Self) -> bool {
        self.kind == before.kind
            && self.inode == before.inode
            && self.size == before.size
            && self.mode == before.mode
            && self.modified == before.modified
    }
}
