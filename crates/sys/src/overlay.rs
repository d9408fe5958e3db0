//! One folder over another: what is written to the whole of them goes to the upper one, and the lower one stays as it is.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::FsWord;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen,
};

use crate::{Failed, Step};

/// The magic number of such a file system.
const OVERLAY: FsWord = 0x794c_7630;

/// The three folders of an overlay. `upper` and `work` lie on one file system, where whoever mounts may write.
#[derive(Debug, Clone, Copy)]
pub struct Layers<'a> {
    /// What is there at first; nothing is ever written to it.
    pub lower: &'a Path,
    /// Where everything goes that is written.
    pub upper: &'a Path,
    /// A folder for the kernel's own use.
    pub work: &'a Path,
}

/// Puts one folder over another; it has no name yet. No program in it gains privileges, and no device in it is one. It needs
/// capabilities in the user namespace that this process is in, and keeps its marks in attributes that an ordinary user may write.
pub fn lay(layers: Layers<'_>) -> Result<OwnedFd, Failed> {
    lay_with(layers, Marks::Ordinary)
}

/// The same for the first process of a machine, whose file systems in memory take no marks of ordinary users.
pub fn lay_as_root(layers: Layers<'_>) -> Result<OwnedFd, Failed> {
    lay_with(layers, Marks::Trusted)
}

/// In which attributes an overlay keeps its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// Those that an ordinary user may write.
    Ordinary,
    /// Those that only root may write.
    Trusted,
}

fn lay_with(Layers { lower, upper, work }: Layers<'_>, marks: Marks) -> Result<OwnedFd, Failed> {
    let build = || -> Result<OwnedFd, Errno> {
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&context, "source", "overlay")?;
        fsconfig_set_string(&context, "lowerdir", lower)?;
        fsconfig_set_string(&context, "upperdir", upper)?;
        fsconfig_set_string(&context, "workdir", work)?;
        if marks == Marks::Ordinary {
            fsconfig_set_flag(&context, "userxattr")?;
        }
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    };
    build().map_err(|errno| Step::LayOver.failed(errno))
}

/// Tries whether a folder takes the marks by which an overlay remembers what is gone. Where it does not, an overlay can be laid
/// over it all the same, and fails later, in the middle of somebody's work.
pub fn takes_marks(upper: &Path) -> Result<(), Failed> {
    const MARK: &str = "user.overlay.tried";
    rustix::fs::setxattr(upper, MARK, b"y", rustix::fs::XattrFlags::CREATE)
        .and_then(|()| rustix::fs::removexattr(upper, MARK))
        .map_err(|errno| Step::KeepMarks.failed(errno))
}

/// Whether an overlay is at a place, by asking the kernel.
pub fn is_at(place: &Path) -> Result<bool, Failed> {
    let told = rustix::fs::statfs(place).map_err(|errno| Step::LookAtRoot.failed(errno))?;
    Ok(told.f_type == OVERLAY)
}
