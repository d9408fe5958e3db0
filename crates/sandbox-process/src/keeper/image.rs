//! A root that is an image: its files below, and over them what this sandbox writes, in memory; or all of it copied there.
//!
//! Whoever made the image is a stranger. While the host's files still have a name, no link of the image is followed.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use bailiwick_sys::mounts::{self, Less, Size};
use bailiwick_sys::overlay::{self, Layers};
use bailiwick_sys::{Errno, Failed, Step, beneath, privileges};
use bailiwick_wire::jail::{Laid, Plan};
use rustix::fs::{AtFlags, Mode, OFlags};

use super::unbuilt::Unbuilt;
use super::{copied, way};

/// A root that is an image.
pub(super) struct Root {
    /// Where it is.
    pub(super) place: PathBuf,
    /// The sandbox's own files, which have no name there.
    pub(super) own: OwnedFd,
    /// How it is one.
    pub(super) laid: Laid,
}

/// Lays the sandbox's own files over an image, below `base`, which is the sandbox's own already. Where the kernel does not do
/// that, the image is copied among them.
pub(super) fn lay(base: &Path, plan: &Plan, image: &OwnedFd) -> Result<Root, Unbuilt> {
    let [lower, own, root] = ["image", "own", "root"].map(|name| base.join(name));
    for place in [&lower, &own, &root] {
        new_folder(place)?;
    }
    mounts::attach(image, open_folder(&lower)?.as_fd())?;
    mounts::memory(&own, Size { bytes: plan.disk, files: plan.files }, 0o755, Less::WRITE)?;
    let (upper, work) = (own.join("upper"), own.join("work"));
    new_folder(&upper)?;
    new_folder(&work)?;
    let layers = Layers { lower: &lower, upper: &upper, work: &work };
    let (whole, laid) = match over(plan, image, layers) {
        Ok(whole) => (whole, Laid::Over),
        Err(failed) => {
            let why = failed.to_string();
            copy(&lower, &upper, plan, &why)?;
            (mounts::copy_at(&upper, Less::WRITE)?, Laid::Copied { why })
        }
    };
    mounts::attach(&whole, open_folder(&root)?.as_fd())?;
    let own = mounts::copy_at(&own, Less::WRITE)?;
    Ok(Root { place: root, own, laid })
}

/// The whole of an image and what is written over it, if there is any.
fn over(plan: &Plan, image: &OwnedFd, layers: Layers<'_>) -> Result<OwnedFd, Failed> {
    if !plan.lays {
        return Err(Step::LayOver.failed(Errno::NODEV));
    }
    let found = rustix::fs::fstat(image).map_err(|errno| Step::MapMount.failed(errno))?;
    if found.st_uid != privileges::identity().0 {
        // Laid over, its files would be somebody else's for good; a copy of them is the sandbox's.
        return Err(Step::MapMount.failed(Errno::INVAL));
    }
    overlay::takes_marks(layers.upper)?;
    overlay::lay(layers)
}

/// Copies an image into a folder of the sandbox's own, if it fits.
fn copy(from: &Path, to: &Path, plan: &Plan, why: &str) -> Result<(), Unbuilt> {
    let hold = |path| beneath::hold_itself(path).map_err(|errno| Step::CopyImage.failed(errno));
    let (from, to) = (hold(from)?, hold(to)?);
    let needs = copied::needs(&from)?;
    if needs.bytes > plan.disk || needs.files > plan.files {
        return Err(Unbuilt::TooLarge { needs, why: why.to_owned() });
    }
    Ok(copied::copy(&from, &to)?)
}

/// Puts something that has no name at a place.
pub(super) fn attach(what: &OwnedFd, place: &Path) -> Result<(), Failed> {
    mounts::attach(what, open_folder(place)?.as_fd())
}

/// Makes a folder that must not be there yet.
pub(super) fn new_folder(path: &Path) -> Result<(), Failed> {
    rustix::fs::mkdir(path, Mode::from_raw_mode(0o755)).map_err(|errno| Step::MakePlace.failed(errno))
}

fn open_folder(path: &Path) -> Result<OwnedFd, Failed> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| Step::MakePlace.failed(errno))
}

/// Writes a file in the place of whatever the image has there.
pub(super) fn write(at: &Path, text: &[u8]) -> Result<(), Failed> {
    let failed = |errno| Step::WritePlace.failed(errno);
    let (Some(above), Some(name)) = (at.parent(), at.file_name()) else {
        return Err(failed(Errno::INVAL));
    };
    let above = way::to(above, true)?;
    match rustix::fs::unlinkat(&above, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(failed(errno)),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&above, name, flags, Mode::from_raw_mode(0o644)).map_err(failed)?;
    let mut rest = text;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest).map_err(failed)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Puts a folder of the sandbox's own at a place of the image.
pub(super) fn put(source: &Path, place: &Path) -> Result<(), Failed> {
    let copy = mounts::copy_at(source, Less::WRITE)?;
    let place = way::to(place, true)?;
    mounts::attach(&copy, place.as_fd())
}
