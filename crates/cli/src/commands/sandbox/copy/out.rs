//! Out of a sandbox. What is inside is a stranger's: only plain names are written, each in a directory that is held, never through
//! a link, and never more than the bounds.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bailiwick_core::sandboxes::FileWish;
use bailiwick_core::{Action, Reply};
use bailiwick_sandbox::{Entry, EntryKind, SandboxPath};
use bailiwick_sys::Errno;
use bailiwick_sys::held::HeldFile;
use bailiwick_types::ErrorCode;
use rustix::fs::{Mode, OFlags};

use super::{Copied, Inside, MOST_DEPTH, below, entries, hold, too_much};
use crate::desk::{At, ask};
use crate::failure::Failure;

/// A name here that something is written to.
struct Place {
    /// The directory that it is in.
    above: HeldFile,
    /// Empty for the directory itself.
    name: OsString,
    /// Where it is, for messages.
    path: PathBuf,
}

impl Place {
    /// Where a copy of something by this name goes: under its name into a directory that is there, else to the typed path.
    fn of(to: &Path, guarded: &[HeldFile], name: &str) -> Result<Self, Failure> {
        let (above, last) = match (to.parent(), to.file_name()) {
            (Some(above), Some(last)) => (hold(above, guarded)?, last.to_owned()),
            _ => (hold(to, guarded)?, OsString::new()),
        };
        let there = if last.is_empty() { Ok(above.clone()) } else { above.beneath(Path::new(&last)) };
        match there {
            Ok(there) if there.is_directory() && !name.is_empty() => {
                Ok(Self { above: there, name: OsString::from(name), path: to.join(name) })
            }
            // A link that was typed may lead to a directory.
            Err(Errno::LOOP) => {
                let there = hold(to, guarded)?;
                let name = OsString::from(name);
                Ok(Self { above: there, path: to.join(&name), name })
            }
            _ => Ok(Self { above, name: last, path: to.to_owned() }),
        }
    }

    fn failed(&self, source: impl Into<std::io::Error>) -> Failure {
        Failure::Folder { path: self.path.clone(), source: source.into() }
    }

    /// Makes a directory of it; one that is there is fine, a link is not.
    fn directory(&self) -> Result<HeldFile, Failure> {
        if self.name.is_empty() {
            return Ok(self.above.clone());
        }
        match rustix::fs::mkdirat(&self.above, &self.name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(self.failed(errno)),
        }
        let made = match self.above.beneath(Path::new(&self.name)) {
            Err(Errno::LOOP) => Err(Errno::NOTDIR),
            Ok(made) if !made.is_directory() => Err(Errno::NOTDIR),
            made => made,
        };
        made.map_err(|errno| self.failed(errno))
    }

    /// Writes a file, in the place of what is in it.
    fn write(&self, bytes: &[u8], executable: bool) -> Result<(), Failure> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if executable { 0o755 } else { 0o644 });
        let name: &OsStr = if self.name.is_empty() { OsStr::new(".") } else { &self.name };
        let opened =
            rustix::fs::openat(&self.above, name, flags, mode).map_err(|errno| self.failed(errno))?;
        std::fs::File::from(opened).write_all(bytes).map_err(|source| self.failed(source))
    }
}

/// Copies a file or folder out of a sandbox. Into a folder that is there it goes under its own name.
pub(super) async fn copy(
    desk: &At,
    from: &Inside,
    (to, guarded): (&Path, &[HeldFile]),
) -> Result<Copied, Failure> {
    let name = from.path.as_str().rsplit('/').next().unwrap_or_default();
    let place = Place::of(to, guarded, name)?;
    let mut copied = Copied::default();
    let listed = match entries(desk, &from.sandbox, &from.path).await {
        Ok(listed) => listed,
        // It is no folder, so it is a file or nothing.
        Err(refusal) if refusal.code != ErrorCode::NotFound => {
            let executable = is_executable(desk, from).await;
            write(desk, &from.sandbox, &from.path, &place, executable, &mut copied).await?;
            return Ok(copied);
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let mut open: Vec<(SandboxPath, Place, Vec<Entry>, usize)> = vec![(from.path.clone(), place, listed, 0)];
    while let Some((path, place, listed, depth)) = open.pop() {
        copied.one_more()?;
        if depth > MOST_DEPTH {
            return Err(too_much(format!("{} nests deeper than {MOST_DEPTH} folders", from.path)));
        }
        let directory = place.directory()?;
        for Entry { name, kind, mode, .. } in listed {
            if !is_plain(&name) {
                copied.left_out += 1;
                continue;
            }
            let inner = below(&path, &name)?;
            let beside =
                Place { above: directory.clone(), path: place.path.join(&name), name: OsString::from(name) };
            match kind {
                EntryKind::File => {
                    write(desk, &from.sandbox, &inner, &beside, mode & 0o111 != 0, &mut copied).await?;
                }
                EntryKind::Folder => {
                    let listed = entries(desk, &from.sandbox, &inner).await?;
                    open.push((inner, beside, listed, depth + 1));
                }
                EntryKind::Link | EntryKind::Other => copied.left_out += 1,
            }
        }
    }
    Ok(copied)
}

/// A name that stays where it is put.
fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0', '\u{fffd}'])
}

/// Whether a file inside can be run, as the folder above it says.
async fn is_executable(desk: &At, from: &Inside) -> bool {
    let Some((above, name)) = from.path.as_str().rsplit_once('/') else { return false };
    let Ok(above) = SandboxPath::new(if above.is_empty() { "/" } else { above }) else { return false };
    let listed = entries(desk, &from.sandbox, &above).await.unwrap_or_default();
    listed.iter().any(|entry| entry.name == name && entry.mode & 0o111 != 0)
}

async fn write(
    desk: &At,
    sandbox: &str,
    path: &SandboxPath,
    to: &Place,
    executable: bool,
    copied: &mut Copied,
) -> Result<(), Failure> {
    copied.one_more()?;
    let wish = FileWish::Read { path: path.clone() };
    let bytes = match ask(desk, Action::SandboxFiles { sandbox: sandbox.to_owned(), wish }).await? {
        Reply::FileBytes(bytes) => bytes.into_bytes(),
        _ => return Err(Failure::StrangeReply("a file")),
    };
    to.write(&bytes, executable)?;
    copied.files += 1;
    copied.bytes += bytes.len() as u64;
    Ok(())
}
