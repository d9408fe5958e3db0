//! Mounts: what a built root is made of. Each is one call, or two that belong together; what is mounted where is for
//! whoever calls to say.
//!
//! All of it happens in a mount namespace of one's own. Nothing here resolves a name that a guest chose.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, unmount,
};
use rustix::process::{chdir, pivot_root};

use crate::alone::Alone;
use crate::clone::Side;
use crate::descriptors::last;
use crate::namespaces::Mapping;
use crate::{Failed, Step};

/// Of `mount_setattr`: also what is mounted below.
const AT_RECURSIVE: libc::c_int = 0x8000;

/// Of `move_mount`: what is moved is a descriptor, and where to is one too.
const MOVE_MOUNT_BY_DESCRIPTORS: libc::c_uint = 4 | 0x40;

/// What cannot be done with what is mounted, beside gaining privileges by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Less {
    /// Nothing is written.
    pub read_only: bool,
    /// No device answers.
    pub no_devices: bool,
    /// Nothing is executed.
    pub no_programs: bool,
}

/// The size of a file system in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Bytes of what is in it; at least a page, for the kernel takes nothing for "no bound".
    pub bytes: u64,
    /// How many files and folders there can be.
    pub files: u64,
}

/// Nothing that is mounted here from now on is seen elsewhere, nor the other way round.
pub fn keep_to_oneself() -> Result<(), Failed> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|errno| Step::PrivateMounts.failed(errno))
}

/// Mounts an empty file system in memory.
pub fn memory(place: &Path, size: Size, mode: u32, less: Less) -> Result<(), Failed> {
    let step = Step::MountMemory;
    let data = format!("size={},nr_inodes={},mode={mode:o}", size.bytes.max(4096), size.files.max(1));
    let data = CString::new(data).map_err(|_| step.failed(Errno::INVAL))?;
    mount("tmpfs", place, "tmpfs", less.flags(), data.as_c_str()).map_err(|errno| step.failed(errno))
}

/// Mounts what is at `from`, with all that is mounted below it, at `to` too; and takes away from all of it what `less` says.
pub fn bind(from: &Path, to: &Path, less: Less) -> Result<(), Failed> {
    mount_bind_recursive(from, to).map_err(|errno| Step::BindMount.failed(errno))?;
    take_away(to, less, true)
}

/// Mounts what is at `from`, and nothing that is mounted below it, at `to` too, as it is there.
pub fn bind_as_it_is(from: &Path, to: &Path) -> Result<(), Failed> {
    rustix::mount::mount_bind(from, to).map_err(|errno| Step::BindMount.failed(errno))
}

/// Takes away from a mount, and from those below it where that is wanted, what `less` says, and gaining privileges.
pub fn take_away(place: &Path, less: Less, with_all_below: bool) -> Result<(), Failed> {
    let step = Step::NarrowMount;
    let place = CString::new(place.as_os_str().as_encoded_bytes()).map_err(|_| step.failed(Errno::INVAL))?;
    let attributes =
        libc::mount_attr { attr_set: less.attributes(), attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = if with_all_below { AT_RECURSIVE } else { 0 };
    // SAFETY: the path ends in a NUL, the structure lives in this frame, and its size is told.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            place.as_ptr(),
            flags | libc::AT_SYMLINK_NOFOLLOW,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(step.failed(last())) }
}

/// A copy of what is held as `from` that belongs to somebody else for whoever looks at it there: what `mapping.inside` owns on the
/// disk is `mapping.user`'s, and what they make there belongs to `mapping.inside`. It has no name yet. Needs root, and a file
/// system that can do it.
pub fn owned_copy(from: impl AsFd, user: Mapping, group: Mapping, alone: &Alone) -> Result<OwnedFd, Failed> {
    let step = Step::MapMount;
    let tree = tree(from.as_fd(), 0, step)?;
    let users = user_namespace(user, group, alone)?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_IDMAP | Less::WRITE.attributes(),
        attr_clr: 0,
        propagation: 0,
        userns_fd: u64::try_from(users.as_raw_fd()).map_err(|_| step.failed(Errno::BADF))?,
    };
    change(&tree, &attributes, 0, step)?;
    Ok(tree)
}

/// A mount of what is held as `from`, with all that is mounted below it, from which is taken away what `less` says. It has no name
/// yet. No path is looked up: what is mounted is what the descriptor stands for, in this process's mount namespace.
pub fn copy(from: impl AsFd, less: Less) -> Result<OwnedFd, Failed> {
    copy_with(from.as_fd(), less, AT_RECURSIVE)
}

/// The same without what is mounted below it.
pub fn copy_alone(from: impl AsFd, less: Less) -> Result<OwnedFd, Failed> {
    copy_with(from.as_fd(), less, 0)
}

/// The same of a path that no guest can change. A link at its end is not followed.
pub fn copy_at(from: &Path, less: Less) -> Result<OwnedFd, Failed> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = rustix::fs::open(from, flags, Mode::empty()).map_err(|errno| Step::BindMount.failed(errno))?;
    copy(&held, less)
}

fn copy_with(from: BorrowedFd<'_>, less: Less, below: libc::c_int) -> Result<OwnedFd, Failed> {
    let tree = tree(from, below, Step::BindMount)?;
    let attributes =
        libc::mount_attr { attr_set: less.attributes(), attr_clr: 0, propagation: 0, userns_fd: 0 };
    change(&tree, &attributes, below, Step::NarrowMount)?;
    Ok(tree)
}

/// A mount of what a descriptor stands for.
fn tree(from: BorrowedFd<'_>, flags: libc::c_int, step: Step) -> Result<OwnedFd, Failed> {
    let flags =
        libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | (flags | libc::AT_EMPTY_PATH).unsigned_abs();
    // SAFETY: the path is empty and ends in a NUL; the call gives a new descriptor or an error.
    let tree = unsafe { libc::syscall(libc::SYS_open_tree, from.as_raw_fd(), c"".as_ptr(), flags) };
    let tree = i32::try_from(tree).ok().filter(|tree| *tree >= 0).ok_or_else(|| step.failed(last()))?;
    // SAFETY: the kernel made this descriptor for us just now, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(tree) })
}

/// Changes what can be done with a copy that has no name.
fn change(tree: &OwnedFd, to: &libc::mount_attr, flags: libc::c_int, step: Step) -> Result<(), Failed> {
    // SAFETY: the path is empty, the structure lives as long as the call, and its size is told.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | flags,
            std::ptr::from_ref(to),
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(step.failed(last())) }
}

/// A user namespace in which one user and one group are known, and nobody lives.
fn user_namespace(user: Mapping, group: Mapping, alone: &Alone) -> Result<OwnedFd, Failed> {
    match crate::clone::into_user_namespace(alone)? {
        Side::Child => loop {
            // Until it is killed, a moment from now.
            let _woken = rustix::event::poll(&mut [], None);
        },
        Side::Parent(child) => {
            let opened = crate::namespaces::map_apart(child.pid, user, group).and_then(|()| {
                let path = format!("/proc/{}/ns/user", child.pid);
                rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                    .map_err(|errno| Step::MapMount.failed(errno))
            });
            crate::pidfd::kill(&child.pidfd)?;
            crate::pidfd::reap(&child.pidfd)?;
            opened
        }
    }
}

/// Gives a copy of [`owned_copy`] or [`copy`] a place, which is open already: its name may lead elsewhere by now.
pub fn attach(tree: &OwnedFd, to: BorrowedFd<'_>) -> Result<(), Failed> {
    let step = Step::BindMount;
    // SAFETY: both paths end in a NUL; the call takes no other memory.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            to.as_raw_fd(),
            c"".as_ptr(),
            MOVE_MOUNT_BY_DESCRIPTORS,
        )
    };
    if result == 0 { Ok(()) } else { Err(step.failed(last())) }
}

/// Mounts what the kernel tells about the processes of this pid namespace.
pub fn processes(place: &Path) -> Result<(), Failed> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", place, "proc", flags, None).map_err(|errno| Step::MountProcesses.failed(errno))
}

/// Mounts terminals of one's own.
pub fn terminals(place: &Path) -> Result<(), Failed> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    // The kernel has so many for all: one sandbox does not take those of others.
    let data = c"newinstance,ptmxmode=0666,mode=0620,max=128";
    mount("devpts", place, "devpts", flags, data).map_err(|errno| Step::MountTerminals.failed(errno))
}

/// Mounts the devices that the kernel knows.
pub fn devices(place: &Path) -> Result<(), Failed> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devices", place, "devtmpfs", flags, None).map_err(|errno| Step::MountDevices.failed(errno))
}

/// Mounts the cgroups of this kernel.
pub fn cgroups(place: &Path) -> Result<(), Failed> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("cgroups", place, "cgroup2", flags, None).map_err(|errno| Step::MountCgroups.failed(errno))
}

/// Mounts files that somebody serves who is asked through this descriptor of `/dev/fuse`. The kernel looks at permissions.
pub fn served(place: &Path, asked: BorrowedFd<'_>) -> Result<(), Failed> {
    let step = Step::MountServed;
    let asked = asked.as_raw_fd();
    let data = format!("fd={asked},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions");
    let data = CString::new(data).map_err(|_| step.failed(Errno::INVAL))?;
    mount("served", place, "fuse", MountFlags::NOSUID | MountFlags::NODEV, data.as_c_str())
        .map_err(|errno| step.failed(errno))
}

/// Makes the mount at `root` the root, over the first one of a kernel, which can be covered and not moved away.
pub fn cover_root_with(root: &Path) -> Result<(), Failed> {
    chdir(root).map_err(|errno| Step::EnterRoot.failed(errno))?;
    rustix::mount::mount_move(".", "/").map_err(|errno| Step::PivotRoot.failed(errno))?;
    rustix::process::chroot(".").map_err(|errno| Step::PivotRoot.failed(errno))?;
    chdir("/").map_err(|errno| Step::EnterRoot.failed(errno))
}

/// Makes `root` the root; what was the root before is at `old` from then on, which is a folder of the new one.
pub fn move_to(root: &Path, old: &str) -> Result<(), Failed> {
    chdir(root).map_err(|errno| Step::EnterRoot.failed(errno))?;
    pivot_root(".", old).map_err(|errno| Step::PivotRoot.failed(errno))?;
    chdir("/").map_err(|errno| Step::EnterRoot.failed(errno))
}

/// Detaches what is mounted at a place, with all that is mounted below it.
pub fn detach(place: &Path) -> Result<(), Failed> {
    unmount(place, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)
        .map_err(|errno| Step::DetachMount.failed(errno))
}

/// Whether the mount at a place can be written to, by asking the kernel.
pub fn is_read_only(place: &Path) -> Result<bool, Failed> {
    let told = rustix::fs::statvfs(place).map_err(|errno| Step::LookAtRoot.failed(errno))?;
    Ok(told.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Whether a file system in memory is at a place, by asking the kernel.
pub fn is_in_memory(place: &Path) -> Result<bool, Failed> {
    const TMPFS: rustix::fs::FsWord = 0x0102_1994;
    let told = rustix::fs::statfs(place).map_err(|errno| Step::LookAtRoot.failed(errno))?;
    Ok(told.f_type == TMPFS)
}

/// How many bytes and files a file system can hold, by asking the kernel.
pub fn room(place: &Path) -> Result<Size, Failed> {
    let told = rustix::fs::statvfs(place).map_err(|errno| Step::LookAtRoot.failed(errno))?;
    Ok(Size { bytes: told.f_blocks.saturating_mul(told.f_frsize), files: told.f_files })
}

impl Less {
    /// Read-only, without devices.
    pub const READ: Self = Self { read_only: true, no_devices: true, no_programs: false };
    /// Without devices.
    pub const WRITE: Self = Self { read_only: false, no_devices: true, no_programs: false };

    fn flags(self) -> MountFlags {
        let Self { read_only, no_devices, no_programs } = self;
        let mut flags = MountFlags::NOSUID;
        flags.set(MountFlags::RDONLY, read_only);
        flags.set(MountFlags::NODEV, no_devices);
        flags.set(MountFlags::NOEXEC, no_programs);
        flags
    }

    fn attributes(self) -> u64 {
        let Self { read_only, no_devices, no_programs } = self;
        let bit = |is: bool, bit: u64| if is { bit } else { 0 };
        libc::MOUNT_ATTR_NOSUID
            | bit(read_only, libc::MOUNT_ATTR_RDONLY)
            | bit(no_devices, libc::MOUNT_ATTR_NODEV)
            | bit(no_programs, libc::MOUNT_ATTR_NOEXEC)
    }
}
