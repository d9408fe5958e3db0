//! Laying folders over places of a root that somebody else built, before anything of a guest runs: so one file system of a bounded
//! size is behind several folders, and what the host put aside is over them.

use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use bailiwick_sys::{Errno, Failed, Step, mounts};
use bailiwick_wire::seat::Laid;

/// The permissions of folders that are made: as those of `/tmp`, since one of them is.
pub(crate) const EVERYBODYS: u32 = 0o1777;

/// Lays each over its place, and takes away where they came from.
pub(crate) fn lay(laid: &[Laid], away: &[String], user: Option<(u32, u32)>) -> Result<(), Failed> {
    for Laid { from, to, own } in laid {
        let (from, to) = (Path::new(from), Path::new(to));
        let made = if *own { make(from, user) } else { Ok(()) };
        made.and_then(|()| find(from, to))
            .map_err(|error| Step::MakePlace.failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        mounts::bind_as_it_is(from, to)?;
    }
    away.iter().try_for_each(|place| mounts::detach(Path::new(place)))
}

fn make(folder: &Path, user: Option<(u32, u32)>) -> io::Result<()> {
    std::fs::create_dir(folder)?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(EVERYBODYS))?;
    user.map_or(Ok(()), |(user, group)| chown(folder, Some(user), Some(group)))
}

/// Makes the place for something, if it is not there: a folder for a folder, a file for anything else.
pub(crate) fn find(from: &Path, to: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(to).is_ok() {
        return Ok(());
    }
    if std::fs::metadata(from)?.is_dir() {
        return std::fs::create_dir_all(to);
    }
    if let Some(above) = to.parent() {
        std::fs::create_dir_all(above)?;
    }
    std::fs::OpenOptions::new().write(true).create_new(true).open(to).map(|_| ())
}
