//! Into a sandbox. Every file here is opened in a directory that is held, without following a link, and read within a bound.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use bailiwick_core::sandboxes::{FileWish, InputBytes};
use bailiwick_core::{Action, Reply};
use bailiwick_sandbox::{EntryKind, SandboxPath};
use bailiwick_sys::held::HeldFile;
use bailiwick_sys::{Errno, beneath};

use super::{Copied, Inside, MOST_BYTES, MOST_DEPTH, MOST_ENTRIES, below, entries, hold, too_much};
use crate::desk::{At, ask};
use crate::failure::Failure;

/// A name that is still to be copied.
struct Next {
    /// The directory that it is in.
    above: HeldFile,
    name: OsString,
    /// Where it is here, for messages.
    path: PathBuf,
    /// Where it goes.
    place: SandboxPath,
    depth: usize,
}

impl Next {
    /// Holds it; none where it is a link.
    fn held(&self) -> Result<Option<HeldFile>, Failure> {
        // A typed path may end in the directory itself.
        let found = if self.name.is_empty() {
            Ok(self.above.clone())
        } else {
            self.above.beneath(Path::new(&self.name))
        };
        match found {
            Ok(held) => Ok(Some(held)),
            Err(Errno::LOOP) => Ok(None),
            Err(errno) => Err(failed(&self.path, errno.into())),
        }
    }
}

/// Copies a file or folder into a sandbox. Into a folder that is there it goes under its own name.
pub(super) async fn copy(
    desk: &At,
    (from, guarded): (&Path, &[HeldFile]),
    to: &Inside,
) -> Result<Copied, Failure> {
    let mut place = to.path.clone();
    if is_folder(desk, to).await
        && let Some(name) = from.file_name().and_then(OsStr::to_str)
    {
        place = below(&place, name)?;
    }
    let (above, name) = match (from.parent(), from.file_name()) {
        (Some(above), Some(name)) => (hold(above, guarded)?, name.to_owned()),
        _ => (hold(from, guarded)?, OsString::new()),
    };
    let mut copied = Copied::default();
    // A stack of names instead of recursion; what waits in it holds no descriptor of its own.
    let mut open = vec![Next { above, name, path: from.to_owned(), place, depth: 0 }];
    while let Some(next) = open.pop() {
        copied.one_more()?;
        if next.depth > MOST_DEPTH {
            return Err(too_much(format!("{} nests deeper than {MOST_DEPTH} folders", from.display())));
        }
        let Some(held) = next.held()? else {
            copied.left_out += 1;
            continue;
        };
        if held.is_file() {
            let (bytes, executable) = read(&held, &next.path)?;
            copied.files += 1;
            copied.bytes += bytes.len() as u64;
            let wish = FileWish::Write { path: next.place, bytes: InputBytes::new(bytes), executable };
            match ask(desk, Action::SandboxFiles { sandbox: to.sandbox.clone(), wish }).await? {
                Reply::Done => {}
                _ => return Err(Failure::StrangeReply("done")),
            }
        } else if held.is_directory() {
            let names = held.list().and_then(|listed| beneath::names(listed, MOST_ENTRIES + 1));
            let (names, _) = names.map_err(|errno| failed(&next.path, errno.into()))?;
            for name in names {
                let name = OsString::from_vec(name.into_bytes());
                let Some(text) = name.to_str() else {
                    copied.left_out += 1;
                    continue;
                };
                let (path, place) = (next.path.join(text), below(&next.place, text)?);
                open.push(Next { above: held.clone(), name, path, place, depth: next.depth + 1 });
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

/// The bytes of a file that is held, and whether it can be run.
fn read(held: &HeldFile, path: &Path) -> Result<(Vec<u8>, bool), Failure> {
    let (file, status) = beneath::read_again(held).map_err(|errno| failed(path, errno.into()))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|source| failed(path, source))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_much(format!(
            "{} has {} bytes, and at most {MOST_BYTES} are copied",
            path.display(),
            status.size
        )));
    }
    Ok((bytes, status.permissions & 0o111 != 0))
}
