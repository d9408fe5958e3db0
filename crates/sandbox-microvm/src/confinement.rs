//! How little a monitor gets of the host: it is nobody, and sees no file of anybody's.

use std::ffi::CString;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bailiwick_sys::cgroups::{Group, open_door};
use bailiwick_sys::program::{Confined, confined};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

/// Whom a monitor is on the host: nobody.
pub(crate) const NOBODY: u32 = 64_925;
/// Folders at the top that a monitor needs: its libraries, and its own descriptors by number.
const NEEDED: [&str; 9] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "proc", "dev"];

/// Descriptors that a monitor keeps.
#[derive(Debug, Default)]
pub(crate) struct Keeps(Vec<OwnedFd>);

impl Keeps {
    /// Keeps one, and gives its number.
    pub(crate) fn keep(&mut self, one: impl Into<OwnedFd>) -> i32 {
        let one = one.into();
        let number = one.as_raw_fd();
        self.0.push(one);
        number
    }
}

/// A monitor that is ready to be started, with these words.
pub(crate) fn command(
    program: &Path,
    words: impl IntoIterator<Item = String>,
    keeps: Keeps,
    group: &Group,
    as_root: bool,
) -> Result<Command, String> {
    let doors = group.doors().iter().map(|door| open_door(door)).collect::<Result<Vec<_>, _>>();
    let doors = doors.map_err(|failed| failed.to_string())?;
    let user = as_root.then_some((NOBODY, NOBODY));
    let mut command = confined(program, Confined { user, covered: covered()?, kept: keeps.0, doors });
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// A file in memory that nobody can change any more.
pub(crate) fn sealed(name: &str, bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

/// Folders that a monitor sees empty: all at the top that it does not need.
fn covered() -> Result<Vec<CString>, String> {
    let mut covered = Vec::new();
    for place in unneeded().map_err(|error| format!("the host's root cannot be listed: {error}"))? {
        let place = CString::new(place.into_os_string().into_encoded_bytes());
        covered.push(place.map_err(|_| "a name in the host's root is none".to_owned())?);
    }
    Ok(covered)
}

/// Folders at the top that a monitor does not need.
pub(crate) fn unneeded() -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/")? {
        let entry = entry?;
        let is_needed = NEEDED.iter().any(|needed| entry.file_name() == *needed);
        if !is_needed && entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}
