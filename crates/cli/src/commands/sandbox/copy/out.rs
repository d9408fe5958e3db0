//! Out of a sandbox. What is inside is a stranger's: only plain names are written, never through a link, and never more than
//! the bounds.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bailiwick_core::sandboxes::FileWish;
use bailiwick_core::{Action, Reply};
use bailiwick_sandbox::{Entry, EntryKind, SandboxPath};
use bailiwick_types::ErrorCode;
use rustix::fs::{Mode, OFlags};

use super::{Copied, Inside, MOST_DEPTH, below, entries, too_much};
use crate::desk::{At, ask};
use crate::failure::Failure;

/// Copies a file or folder out of a sandbox. Into a folder that is there it goes under its own name.
pub(super) async fn copy(desk: &At, from: &Inside, to: &Path) -> Result<Copied, Failure> {
    let name = from.path.as_str().rsplit('/').next().unwrap_or_default();
    let place = if to.is_dir() && !name.is_empty() { to.join(name) } else { to.to_owned() };
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
    let mut open: Vec<(SandboxPath, PathBuf, Vec<Entry>, usize)> =
        vec![(from.path.clone(), place, listed, 0)];
    while let Some((path, place, listed, depth)) = open.pop() {
        copied.one_more()?;
        if depth > MOST_DEPTH {
            return Err(too_much(format!("{} nests deeper than {MOST_DEPTH} folders", from.path)));
        }
        make_folder(&place)?;
        for Entry { name, kind, mode, .. } in listed {
            if !is_plain(&name) {
                copied.left_out += 1;
                continue;
            }
            let (inner, beside) = (below(&path, &name)?, place.join(&name));
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

/// A folder here; one that is there is fine, a link is not.
fn make_folder(path: &Path) -> Result<(), Failure> {
    let failed = |source: std::io::Error| Failure::Folder { path: path.to_owned(), source };
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let kind = path.symlink_metadata().map_err(failed)?;
            if kind.is_dir() { Ok(()) } else { Err(failed(std::io::ErrorKind::NotADirectory.into())) }
        }
        made => made.map_err(failed),
    }
}

async fn write(
    desk: &At,
    sandbox: &str,
    path: &SandboxPath,
    to: &Path,
    executable: bool,
    copied: &mut Copied,
) -> Result<(), Failure> {
    copied.one_more()?;
    let wish = FileWish::Read { path: path.clone() };
    let bytes = match ask(desk, Action::SandboxFiles { sandbox: sandbox.to_owned(), wish }).await? {
        Reply::FileBytes(bytes) => bytes.into_bytes(),
        _ => return Err(Failure::StrangeReply("a file")),
    };
    let failed = |source: std::io::Error| Failure::Folder { path: to.to_owned(), source };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(if executable { 0o755 } else { 0o644 });
    let opened = rustix::fs::open(to, flags, mode).map_err(|errno| failed(errno.into()))?;
    let mut file = std::fs::File::from(opened);
    file.write_all(&bytes).map_err(failed)?;
    copied.files += 1;
    copied.bytes += bytes.len() as u64;
    Ok(())
}
