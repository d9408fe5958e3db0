//! Folders of the host's that the sandbox sees as if it could change them: what it writes is laid over them, among its own files,
//! and the host is handed the folder where it is.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use bailiwick_sys::mounts::{self, Less};
use bailiwick_sys::overlay::{self, Layers};
use bailiwick_sys::{Errno, Failed, Step};
use bailiwick_wire::jail::{Lower, Plan};
use rustix::fs::{Mode, OFlags};

use super::build::OLD;
use super::found::Found;
use super::{image, way};

/// Covers each of them; gives the folders that hold what is written over them, in their order.
pub(super) fn cover(plan: &Plan, own: &Path, found: Found<'_>) -> Result<Vec<OwnedFd>, Failed> {
    if !plan.lays && !plan.overlays.is_empty() {
        return Err(Step::LayOver.failed(Errno::NODEV));
    }
    plan.overlays.iter().enumerate().map(|(number, lower)| one(number, lower, own, found)).collect()
}

fn one(number: usize, lower: &Lower, own: &Path, found: Found<'_>) -> Result<OwnedFd, Failed> {
    let [below, upper, work] = ["below", "over", "kernel"].map(|name| own.join(format!("{name}-{number}")));
    for place in [&below, &upper, &work] {
        image::new_folder(place)?;
    }
    let mount = found.mount(&lower.to, (Path::new(OLD), &lower.from), Less::READ)?;
    image::attach(&mount, &below)?;
    let whole = overlay::lay(Layers { lower: &below, upper: &upper, work: &work })?;
    let place = way::to(Path::new(&lower.to), true)?;
    mounts::attach(&whole, place.as_fd())?;
    // The whole of it holds on to it; it needs no name any more.
    mounts::detach(&below)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(&upper, flags, Mode::empty()).map_err(|errno| Step::HandOver.failed(errno))
}
