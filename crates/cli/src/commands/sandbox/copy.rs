//! `bailiwick sandbox cp`: files and folders into a sandbox and out of it.
//!
//! Links below what is copied are never followed: here they are left out with a word, and out of a sandbox they are not written.
//! A sandbox may write to the very directory that is copied from or to, so a typed path is resolved once and everything below
//! it is opened by descriptor. What comes out is a stranger's: names that are not plain are refused, nothing that is there is
//! replaced by a link, and all of it is bounded.

mod out;
mod way_in;

use std::path::Path;

use bailiwick_core::sandboxes::{FileWish, MountRoots};
use bailiwick_core::{Action, Reply};
use bailiwick_sandbox::{Entry, SandboxPath};
use bailiwick_sys::held::{HeldFile, Leads, Unheld};
use serde_json::json;

use super::at;
use crate::commands::exec::wish;
use crate::desk::{At, ask};
use crate::failure::Failure;
use crate::render::{Screen, plain};
use crate::resolved::Session;
use crate::typed::sandbox::Cp;

/// The most files and folders of one copy.
const MOST_ENTRIES: usize = 10_000;
/// The deepest nesting.
const MOST_DEPTH: usize = 64;
/// The most bytes of one file.
const MOST_BYTES: u64 = 32 << 20;

/// A place inside of a sandbox.
struct Inside {
    sandbox: String,
    path: SandboxPath,
}

/// What was copied.
#[derive(Debug, Default, Clone, Copy)]
struct Copied {
    files: usize,
    bytes: u64,
    /// Links and others that were left out.
    left_out: usize,
    entries: usize,
}

impl Copied {
    /// Counts one more file or folder, within the bound.
    fn one_more(&mut self) -> Result<(), Failure> {
        self.entries += 1;
        if self.entries > MOST_ENTRIES {
            return Err(too_much(format!("there are more than {MOST_ENTRIES} files and folders")));
        }
        Ok(())
    }
}

fn too_much(message: String) -> Failure {
    Failure::Argument { message, hint: "copy less at once, or mount the folder".to_owned() }
}

/// `bailiwick sandbox cp`
pub(super) fn copy(screen: &mut Screen, session: &Session, Cp { from, to }: &Cp) -> Result<u8, Failure> {
    let working = &session.environment.working_folder;
    let guarded = MountRoots::open(&session.loaded.settings.sandbox.mounts).guarded();
    let copied = match (inside(from)?, inside(to)?) {
        (None, Some(to)) => {
            let from = working.join(from);
            at(session, async |desk| way_in::copy(desk, (&from, &guarded), &to).await)?
        }
        (Some(from), None) => {
            let to = working.join(to);
            at(session, async |desk| out::copy(desk, &from, (&to, &guarded)).await)?
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::Argument {
                message: "exactly one of the two must be in a sandbox, as ID:/PATH".to_owned(),
                hint: "for example bailiwick sandbox cp notes.txt ID:/work/notes.txt".to_owned(),
            });
        }
    };
    let Copied { files, bytes, left_out, entries: _ } = copied;
    if screen.wants_json() {
        screen.json(&json!({"files": files, "bytes": bytes, "leftOut": left_out}));
        return Ok(0);
    }
    if left_out > 0 {
        screen.note(&format!(
            "{left_out} links and other things that are neither file nor folder were left out"
        ));
    }
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    screen.line(&[plain(&format!("copied {files}, {bytes} bytes"))]);
    Ok(0)
}

/// Resolves a directory that was typed, once. Links are followed, but none in a directory of `fs.mounts`: a sandbox may have put
/// them there.
fn hold(path: &Path, guarded: &[HeldFile]) -> Result<HeldFile, Failure> {
    HeldFile::follow(path, Leads::Anywhere, guarded).map_err(|unheld| {
        let source = match unheld {
            Unheld::System { errno, .. } => errno.into(),
            other => std::io::Error::other(other.to_string()),
        };
        Failure::Find { path: path.to_owned(), source }
    })
}

/// `ID:/PATH`; none where it is a path here.
fn inside(text: &str) -> Result<Option<Inside>, Failure> {
    match text.split_once(":/") {
        Some((sandbox, path)) if !sandbox.is_empty() && !sandbox.contains('/') => {
            let path = wish::inside(&format!("/{path}"))?;
            Ok(Some(Inside { sandbox: sandbox.to_owned(), path }))
        }
        _ => Ok(None),
    }
}

/// A path below another one inside.
fn below(path: &SandboxPath, name: &str) -> Result<SandboxPath, Failure> {
    wish::inside(&format!("{path}/{name}"))
}

/// What is in a folder inside; none where it is no folder.
async fn entries(
    desk: &At,
    sandbox: &str,
    path: &SandboxPath,
) -> Result<Vec<Entry>, bailiwick_core::Refusal> {
    let wish = FileWish::List { path: path.clone() };
    match ask(desk, Action::SandboxFiles { sandbox: sandbox.to_owned(), wish }).await? {
        Reply::FileEntries(entries) => Ok(entries),
        _ => Ok(Vec::new()),
    }
}
