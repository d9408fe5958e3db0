//! What is done before it is looked: folders emptied, System V IPC removed, what was changed put back. Whatever fails here
//! is found by looking; nothing has to be told twice.

use std::ffi::CString;

use bailiwick_sys::{Errno, ipc, signals};
use rustix::fs::{Mode, Timespec, Timestamps, fchmod, futimens};

use super::state::{self, Folder, State};
use crate::descent::open_forced;
use crate::job::Progress;
use crate::job::remove::Emptying;

/// Empties folders. Gives what went wrong, in words.
pub(crate) fn wipe(folders: &[String]) -> Vec<String> {
    let emptied = |path: &String| {
        let name = CString::new(path.as_str()).map_err(|_| Errno::INVAL)?;
        let (folder, _) = open_forced(rustix::fs::CWD, &name)?;
        let mut emptying = Emptying::begin(folder)?;
        while emptying.turn()? == Progress::More {}
        Ok(())
    };
    let failed = |path: &String| {
        let failed: Result<(), Errno> = emptied(path);
        failed.err().map(|errno| format!("{path} cannot be emptied: {errno}"))
    };
    folders.iter().filter_map(failed).collect()
}

/// Puts back what can be: the folders themselves, System V IPC where it is the sandbox's own, and what is the agent's.
pub(crate) fn put_back(birth: &State, owns_ipc: bool) {
    for folder in &birth.folders {
        // Looked at later, as all of this.
        let _looked_at_later = restore(folder);
    }
    if owns_ipc && let (Ok(then), Ok(now)) = (&birth.ipc, state::ipc()) {
        for (kind, id) in now.difference(then) {
            let _looked_at_later = ipc::remove(*kind, *id);
        }
    }
    birth.ours.put_back();
    let _nothing_waits = signals::forget();
}

fn restore(folder: &Folder) -> Result<(), Errno> {
    let Ok(then) = &folder.stat else { return Ok(()) };
    let name = CString::new(folder.path.as_str()).map_err(|_| Errno::INVAL)?;
    let now = state::attributes(&folder.path)?;
    let before = folder.attributes.clone().unwrap_or_default();
    let known = |name: &[u8]| before.split(|byte| *byte == 0).any(|one| one == name);
    for attribute in now.split(|byte| *byte == 0).filter(|one| !one.is_empty() && !known(one)) {
        rustix::fs::removexattr(folder.path.as_str(), attribute)?;
    }
    let (opened, now) = open_forced(rustix::fs::CWD, &name)?;
    if rustix::fs::fstat(&opened)?.st_mode != then.st_mode || now.st_mode != then.st_mode {
        fchmod(&opened, Mode::from_raw_mode(then.st_mode & 0o7777))?;
    }
    let time = |seconds, nanoseconds: u64| Timespec { tv_sec: seconds, tv_nsec: nanoseconds.cast_signed() };
    let times = Timestamps {
        last_access: time(then.st_atime, then.st_atime_nsec),
        last_modification: time(then.st_mtime, then.st_mtime_nsec),
    };
    futimens(&opened, &times)
}
