//! What Landlock leaves open of what a jail sees.

use std::path::PathBuf;

use bailiwick_sys::landlock::{self, How, Opened};
use bailiwick_sys::{Errno, Failed, Step};
use bailiwick_wire::jail::{Bind, Own, Place, Plan};

use super::found::Found;

/// What Landlock leaves open.
pub(super) fn opened(plan: &Plan, found: Found<'_>) -> Result<Vec<Opened>, Failed> {
    let open = |path: &str, how| Opened { place: landlock::Place::At(PathBuf::from(path)), how };
    let mut opened: Vec<Opened> = plan.folders.iter().map(|place| open(place, How::Write)).collect();
    if plan.own == Own::Nothing {
        opened.extend(plan.readable.iter().map(|path| open(path, How::Read)));
        opened.extend(["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"].map(|path| open(path, How::Use)));
        opened.extend(["/dev/random", "/dev/urandom"].map(|path| open(path, How::Read)));
        for place in &plan.places {
            let Place::Bind(Bind { to, writable, .. }) = place else { continue };
            let how = if *writable { How::Write } else { How::Read };
            // Here is no mount: what is opened is what is held.
            let held = found.held(to)?.try_clone_to_owned();
            let held = held.map_err(|_| Step::RestrictFiles.failed(Errno::MFILE))?;
            opened.push(Opened { place: landlock::Place::Held(held), how });
        }
    } else {
        let root = if plan.image.is_some() { How::Write } else { How::Read };
        opened.extend([open("/", root), open("/dev", How::Use), open("/proc", How::Use)]);
        opened.extend(plan.overlays.iter().map(|lower| open(&lower.to, How::Write)));
        let writable = plan.places.iter().filter_map(|place| match place {
            Place::Bind(bind) if bind.writable => Some(open(&bind.to, How::Write)),
            _ => None,
        });
        opened.extend(writable);
    }
    Ok(opened)
}
