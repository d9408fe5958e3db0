//! Into a sandbox. Files here are opened without following a link, and read within a bound.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bailiwick_core::sandboxes::{FileWish, InputBytes};
use bailiwick_core::{Action, Reply};
use bailiwick_sandbox::{EntryKind, SandboxPath};
use rustix::fs::{Mode, OFlags};

use super::{Copied, Inside, MOST_BYTES, MOST_DEPTH, below, entries, too_much};
use crate::desk::{At, ask};
use crate::failure::Failure;

/// Copies a file or folder into a sandbox. Into a folder that is there it goes under its own name.
pub(super) async fn copy(desk: &At, from: &Path, to: &Inside) -> Result<Copied, Failure> {
    let kind = looked(from)?;
    let mut place = to.path.clone();
    if is_folder(desk, to).await
        && let Some(name) = from.file_name().and_then(|name| name.to_str())
    {
        place = below(&place, name)?;
    }
    let mut copied = Copied::default();
    // A stack of folders instead of recursion.
    let mut open: Vec<(PathBuf, SandboxPath, Metadata, usize)> = vec![(from.to_owned(), place, kind, 0)];
    while let Some((path, place, kind, depth)) = open.pop() {
        copied.one_more()?;
        if depth > MOST_DEPTH {
            return Err(too_much(format!("{} nests deeper than {MOST_DEPTH} folders", from.display())));
        }
        if kind.is_file() {
            let bytes = read(&path)?;
            copied.files += 1;
            copied.bytes += bytes.len() as u64;
            let executable = kind.permissions().mode() & 0o111 != 0;
            let wish = FileWish::Write { path: place, bytes: InputBytes::new(bytes), executable };
            match ask(desk, Action::SandboxFiles { sandbox: to.sandbox.clone(), wish }).await? {
                Reply::Done => {}
                _ => return Err(Failure::StrangeReply("done")),
            }
        } else if kind.is_dir() {
            for entry in std::fs::read_dir(&path).map_err(|source| failed(&path, source))? {
                let path = entry.map_err(|source| failed(&path, source))?.path();
                let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                    copied.left_out += 1;
                    continue;
                };
                open.push((path.clone(), below(&place, name)?, looked(&path)?, depth + 1));
            }
        } else {
            copied.left_out += 1;
        }
    }
    Ok(copied)
}

async fn is_folder(desk: &At, to: &Inside) -> bool {
    // The folder above says what it is; the root is always one.
    let Some((above, name)) = to.path.as_str().rsplit_once('/') else { return false };
    if name.is_empty() {
        return true;
    }
    let above = if above.is_empty() { "/" } else { above };
    let Ok(above) = SandboxPath::new(above) else { return false };
    let listed = entries(desk, &to.sandbox, &above).await.unwrap_or_default();
    listed.iter().any(|entry| entry.name == name && entry.kind == EntryKind::Folder)
}

fn failed(path: &Path, source: std::io::Error) -> Failure {
    Failure::Find { path: path.to_owned(), source }
}

/// What is there, without following a link.
fn looked(path: &Path) -> Result<Metadata, Failure> {
    path.symlink_metadata().map_err(|source| failed(path, source))
}

/// The bytes of a file that is one, also when somebody puts a link in its place meanwhile.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| failed(path, errno.into()))?;
    let file = File::from(opened);
    let length = file.metadata().map_err(|source| failed(path, source))?.size();
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|source| failed(path, source))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_much(format!(
            "{} has {length} bytes, and at most {MOST_BYTES} are copied",
            path.display()
        )));
    }
    Ok(bytes)
}
