//! Making a folder or a link.

use std::path::Path;

use bailiwick_sys::Errno;
use rustix::fs::{AtFlags, Mode};

use super::write::{last_name, make_folders};
use super::{Trouble, at};

const MAKE: &str = "make the folder or the link";

/// Makes a link that leads to `link`, or else a folder with these permissions, and the folders above that are missing.
pub(crate) fn make(path: &str, link: Option<&str>, mode: u32) -> Result<(), Trouble> {
    let path = Path::new(path);
    let name = last_name(path).map_err(at(MAKE))?;
    let above = make_folders(path.parent().unwrap_or(Path::new("/")))?;
    if let Some(link) = link {
        return rustix::fs::symlinkat(link, &above, &name).map_err(at(MAKE));
    }
    let mode = Mode::from_raw_mode(mode & 0o777);
    match rustix::fs::mkdirat(&above, &name, mode) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(at(MAKE)(errno)),
    }
    rustix::fs::chmodat(&above, &name, mode, AtFlags::empty()).map_err(at(MAKE))
}
