//! What Landlock leaves open of what a jail sees.

use std::path::PathBuf;

use bailiwick_sys::landlock::{How, Opened};
use bailiwick_wire::jail::{Bind, Own, Place, Plan};

/// What Landlock leaves open.
pub(super) fn opened(plan: &Plan) -> Vec<Opened> {
    let open = |path: &str, how| Opened { path: PathBuf::from(path), how, checked: None };
    let mut opened: Vec<Opened> = plan.folders.iter().map(|place| open(place, How::Write)).collect();
    if plan.own == Own::Nothing {
        opened.extend(plan.readable.iter().map(|path| open(path, How::Read)));
        opened.extend(["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"].map(|path| open(path, How::Use)));
        opened.extend(["/dev/random", "/dev/urandom"].map(|path| open(path, How::Read)));
        // Here is no mount that could be looked at: what is opened has to be what was checked.
        opened.extend(plan.places.iter().filter_map(|place| match place {
            Place::Bind(Bind { from, writable, checked, .. }) => {
                let how = if *writable { How::Write } else { How::Read };
                Some(Opened { path: PathBuf::from(from), how, checked: *checked })
            }
            _ => None,
        }));
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
    opened
}
