//! An empty, read-only root. After this there is no path that names anything.

use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, mount_remount, unmount,
};
use rustix::process::{chdir, pivot_root};

use crate::{Failed, Step};

/// Folders of which at least one exists on any machine; the new root is mounted over it, in this mount namespace only.
const PLACES: [&str; 5] = ["/tmp", "/run", "/var", "/dev", "/proc"];

/// Leaves the file system for an empty one. Needs a mount namespace of one's own.
pub fn leave_file_system() -> Result<(), Failed> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|errno| Step::PrivateMounts.failed(errno))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let mounted = PLACES.iter().find_map(|place| {
        mount("none", *place, "tmpfs", flags, c"size=4k,nr_inodes=1,mode=555").ok().map(|()| *place)
    });
    let Some(place) = mounted else {
        // Said again for the first place, to have the reason.
        let again = mount("none", "/tmp", "tmpfs", flags, c"size=4k,nr_inodes=1,mode=555");
        return Err(Step::MountRoot.failed(again.err().unwrap_or(Errno::NOENT)));
    };
    chdir(place).map_err(|errno| Step::EnterRoot.failed(errno))?;
    // Both names are the new root: the old one ends up mounted over it and is detached at once.
    pivot_root(".", ".").map_err(|errno| Step::PivotRoot.failed(errno))?;
    unmount(".", UnmountFlags::DETACH).map_err(|errno| Step::DetachOldRoot.failed(errno))?;
    chdir("/").map_err(|errno| Step::EnterRoot.failed(errno))?;
    mount_remount("/", flags | MountFlags::RDONLY, c"").map_err(|errno| Step::SealRoot.failed(errno))
}

/// Whether the root is empty and read-only, by looking at it.
pub fn is_empty_and_sealed() -> Result<bool, Failed> {
    let failed = |errno| Step::LookAtRoot.failed(errno);
    let root = rustix::fs::open("/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(failed)?;
    let read_only = rustix::fs::fstatvfs(&root).map_err(failed)?.f_flag.contains(StatVfsMountFlags::RDONLY);
    let mut entries = rustix::fs::Dir::read_from(&root).map_err(failed)?;
    let empty =
        entries.all(|entry| entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")));
    Ok(read_only && empty)
}
