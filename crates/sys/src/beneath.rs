//! Files beneath a held folder: opening, looking, reading, renaming and removing without ever leaving it.
//!
//! Every path here is resolved by the kernel in one step (`openat2`), beneath a descriptor that is already held, so
//! that there is nothing between a check and an opening. No function here takes a path from the host's root but
//! [`hold`], and none opens what may hang or act when it is opened: see [`read_again`].

use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags,
    Timestamps,
};
use rustix::io::{Errno, Result};
use rustix::path::Arg;

/// How often an opening is tried again when a rename elsewhere made the kernel unsure of the way.
const TRIES: u32 = 256;

/// What is done with symbolic links on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// They are followed as long as they stay beneath the folder.
    Beneath,
    /// The last name is looked at itself; on the way to it they are followed as long as they stay beneath.
    NotTheLast,
    /// None is followed: `ELOOP`.
    Never,
    /// None is followed on the way, `ELOOP`; the last name is looked at itself, also when it is a link.
    Itself,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

impl Kind {
    fn of(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The device, both its numbers.
    pub device: (u32, u32),
    /// The number of the file on it.
    pub inode: u64,
}

/// What is known of a file without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// What it is.
    pub kind: Kind,
    /// How long it is.
    pub size: u64,
    /// How many bytes are kept of it: fewer than its size where it has holes.
    pub stored: u64,
    /// How many names it has.
    pub names: u32,
    /// Its permission bits, without set-user-id and its like.
    pub permissions: u32,
    /// When its content last changed, in milliseconds since 1970.
    pub modified: i64,
    /// Which file it is.
    pub identity: Identity,
}

/// Opens a folder of the host by its path, to hold it.
pub fn hold(path: &Path) -> Result<OwnedFd> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a folder of the host by its path, to hold it, unless the last name of the path is a link.
pub fn hold_itself(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Opens a folder beneath a held one. Nothing else than a folder is opened: `ENOTDIR`.
pub fn folder(held: impl AsFd, path: impl Arg, links: Links) -> Result<OwnedFd> {
    open(held, path, OFlags::RDONLY | OFlags::DIRECTORY, links)
}

/// Gets hold of whatever a path names beneath a held folder, without opening it: it can be looked at, not read.
pub fn look(held: impl AsFd, path: impl Arg, links: Links) -> Result<OwnedFd> {
    open(held, path, OFlags::PATH, links)
}

fn open(held: impl AsFd, path: impl Arg, flags: OFlags, links: Links) -> Result<OwnedFd> {
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    let (flags, resolve) = match links {
        Links::Beneath => (flags, beneath),
        Links::NotTheLast => (flags | OFlags::NOFOLLOW, beneath),
        Links::Never => (flags, beneath | ResolveFlags::NO_SYMLINKS),
        Links::Itself => (flags | OFlags::NOFOLLOW, beneath | ResolveFlags::NO_SYMLINKS),
    };
    path.into_with_c_str(|path| {
        let mut tries = 0;
        loop {
            let opened = rustix::fs::openat2(&held, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve);
            match opened {
                Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => tries += 1,
                opened => return opened,
            }
        }
    })
}

/// Looks at what a descriptor stands for.
pub fn status(file: impl AsFd) -> Result<Status> {
    seen(&rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?)
}

/// Looks at a name in a folder: at the link, if it is one.
pub fn status_of(folder: impl AsFd, name: &CStr) -> Result<Status> {
    seen(&rustix::fs::statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?)
}

fn seen(stat: &rustix::fs::Statx) -> Result<Status> {
    if !StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BASIC_STATS & !StatxFlags::ATIME) {
        return Err(Errno::OPNOTSUPP);
    }
    let mode = u32::from(stat.stx_mode);
    let modified = stat.stx_mtime;
    Ok(Status {
        kind: Kind::of(FileType::from_raw_mode(mode)),
        size: stat.stx_size,
        stored: stat.stx_blocks.saturating_mul(512),
        names: stat.stx_nlink,
        permissions: mode & 0o777,
        modified: modified
            .tv_sec
            .saturating_mul(1000)
            .saturating_add(i64::from(modified.tv_nsec / 1_000_000)),
        identity: Identity { device: (stat.stx_dev_major, stat.stx_dev_minor), inode: stat.stx_ino },
    })
}

/// Opens for reading what [`look`] got hold of, if it is a regular file; anything else is `EOPNOTSUPP`, and is not
/// opened.
///
/// A pipe hangs and a device may act when it is opened, so what it is has to be known first; and a name could stand
/// for something else by the time it is opened. Here no name is used again: the held descriptor fixes the file, a file
/// never changes what it is, and `/proc/self/fd` opens that very file. Should something else be mounted there, the
/// comparison at the end finds it.
pub fn read_again(held: impl AsFd) -> Result<(File, Status)> {
    let before = status(&held)?;
    if before.kind != Kind::File {
        return Err(Errno::OPNOTSUPP);
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(by_number(held.as_fd()), flags, Mode::empty())?;
    let after = status(&file)?;
    if after.identity != before.identity || after.kind != before.kind {
        return Err(Errno::STALE);
    }
    Ok((File::from(file), after))
}

/// Opens for reading and writing what [`look`] got hold of, as [`read_again`] does for reading.
pub fn write_again(held: impl AsFd) -> Result<File> {
    let before = status(&held)?;
    if before.kind != Kind::File {
        return Err(Errno::OPNOTSUPP);
    }
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(by_number(held.as_fd()), flags, Mode::empty())?;
    if status(&file)?.identity == before.identity { Ok(File::from(file)) } else { Err(Errno::STALE) }
}

/// Opens for listing what [`look`] got hold of, if it is a folder.
pub fn list_again(held: impl AsFd) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(held, c".", flags, Mode::empty())
}

/// Sets when what [`look`] got hold of was last read and written.
pub fn set_times(held: impl AsFd, times: &Timestamps) -> Result<()> {
    rustix::fs::utimensat(CWD, by_number(held.as_fd()), times, AtFlags::empty())
}

fn by_number(held: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", held.as_raw_fd())
}

/// Where a held folder is now, by its real path.
pub fn real_path(held: impl AsFd) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let path = rustix::fs::readlink(by_number(held.as_fd()), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())))
}

/// Whether a held folder is on a file system that is a view of the kernel (`/proc`, `/sys` and their like): reading
/// there is more than reading.
pub fn is_kernel_view(held: impl AsFd) -> Result<bool> {
    /// By the magic numbers of `linux/magic.h`: proc, sysfs, cgroup, cgroup2, debugfs, tracefs, securityfs, selinux,
    /// smack, bpf, pstore, efivarfs, devpts, nsfs, configfs, mqueue, `binfmt_misc`, pipefs, sockfs, anonymous inodes.
    const VIEWS: [u32; 20] = [
        0x9fa0,
        0x6265_6572,
        0x0027_e0eb,
        0x6367_7270,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0xf97c_ff8c,
        0x4341_5d53,
        0xcafe_4a11,
        0x6165_676c,
        0xde5e_81e4,
        0x1cd1,
        0x6e73_6673,
        0x6265_6570,
        0x1980_0202,
        0x4249_4e4d,
        0x5049_5045,
        0x534f_434b,
        0x0904_1934,
    ];
    let kind = rustix::fs::fstatfs(held)?.f_type;
    Ok(VIEWS.iter().any(|view| kind & 0xffff_ffff == i64::from(*view)))
}

/// The names in a folder but `.` and `..`, at most so many; and whether there are more.
pub fn names(folder: impl AsFd, most: usize) -> Result<(Vec<CString>, bool)> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if found.len() == most {
            return Ok((found, true));
        }
        found.push(name.to_owned());
    }
    Ok((found, false))
}

/// Makes a file that was not there, for writing, readable by its owner alone.
pub fn create(folder: impl AsFd, name: &CStr) -> Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Sets the permission bits of an open file.
pub fn set_permissions(file: impl AsFd, permissions: u32) -> Result<()> {
    rustix::fs::fchmod(file, Mode::from_raw_mode(permissions & 0o777))
}

/// Sets the mode of a file or a folder that [`look`] got hold of, also where it could not be opened. A link has none:
/// `EOPNOTSUPP`.
pub fn set_mode(held: impl AsFd, mode: u32) -> Result<()> {
    rustix::fs::chmod(by_number(held.as_fd()), Mode::from_raw_mode(mode & 0o7777))
}

/// Where a link that [`look`] got hold of leads, as it is written.
pub fn target(held: impl AsFd) -> Result<CString> {
    rustix::fs::readlinkat(held, c"", Vec::new())
}

/// An extended attribute of an open file or folder, if it has one by that name; empty when it is longer than `most`.
pub fn attribute(file: impl AsFd, name: &CStr, most: usize) -> Result<Option<Vec<u8>>> {
    let mut value = vec![0; most];
    match rustix::fs::fgetxattr(file, name, value.as_mut_slice()) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::RANGE) => Ok(Some(Vec::new())),
        // None by that name, or a file system that knows of none.
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Makes a folder that was not there, for its owner alone.
pub fn make_folder(folder: impl AsFd, name: &CStr) -> Result<()> {
    rustix::fs::mkdirat(folder, name, Mode::RWXU)
}

/// What a rename does when the new name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It takes the name over.
    Replace,
    /// It fails: `EEXIST`.
    Refuse,
}

/// Gives a name another name. Links are never followed: a link is renamed, or replaced, itself.
pub fn rename(
    (from, old): (BorrowedFd<'_>, &CStr),
    (to, new): (BorrowedFd<'_>, &CStr),
    taken: Taken,
) -> Result<()> {
    let flags = match taken {
        Taken::Replace => RenameFlags::empty(),
        Taken::Refuse => RenameFlags::NOREPLACE,
    };
    rustix::fs::renameat_with(from, old, to, new, flags)
}

/// Lets two names of a folder change places in one step, whatever they stand for. Not every file system can: `EINVAL`.
pub fn exchange(folder: BorrowedFd<'_>, one: &CStr, other: &CStr) -> Result<()> {
    rustix::fs::renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
}

/// Takes away a name that is no folder. A link goes itself, not what it leads to.
pub fn remove(folder: impl AsFd, name: &CStr) -> Result<()> {
    rustix::fs::unlinkat(folder, name, AtFlags::empty())
}

/// Takes away an empty folder.
pub fn remove_folder(folder: impl AsFd, name: &CStr) -> Result<()> {
    rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// Waits until a file, or the names in a folder, are on the disk.
pub fn sync(file: impl AsFd) -> Result<()> {
    rustix::fs::fsync(file)
}

/// Marks an open file as in use, until it is closed. `false` when somebody else uses it.
pub fn claim(file: impl AsFd) -> Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Sixteen bytes that nobody can guess.
pub fn unguessable() -> Result<[u8; 16]> {
    let mut bytes = [0; 16];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}
