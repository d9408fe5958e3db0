//! A data folder of its own for one run of a test: what a test writes or deletes is never a user's.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use bailiwick_config::files::{self, FileError, Readers};
use bailiwick_gateway::files::WORKSPACES;
use bailiwick_policy::GuestPath;
use bailiwick_runtime::Folders;
use bailiwick_tool::Test;
use bailiwick_types::ErrorCode;
use tempfile::TempDir;

use super::rehearsal::missed_of;
use crate::{Missed, Refusal};

/// Where scratch folders lie, below the data folder.
const SCRATCH: &str = "scratch";

/// The workspace of a call that names none.
const WORKSPACE: &str = "default";

/// A scratch folder; it goes with the value.
pub(super) struct Scratch {
    folder: TempDir,
    workspace: PathBuf,
}

/// Removes what passes left behind that were killed. Only the owner of the data folder may, before its first pass.
#[expect(clippy::disallowed_methods, reason = "a folder that only this program writes to, and owns now")]
pub(crate) fn sweep(data: &Path) {
    match std::fs::remove_dir_all(data.join(SCRATCH)) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(%error, "scratch folders could not be removed"),
    }
}

impl Scratch {
    /// An empty workspace with these files in it.
    pub(super) fn with(data: &Path, given: &[(String, String)]) -> Result<Self, Refusal> {
        let failed = |error: std::io::Error| {
            Refusal::new(ErrorCode::Unavailable, format!("cannot make a scratch folder: {error}"))
                .with_hint("check that the data folder can be written")
        };
        let scratch = data.join(SCRATCH);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&scratch).map_err(failed)?;
        let folder = TempDir::new_in(&scratch).map_err(failed)?;
        let workspaces = folder.path().join(WORKSPACES);
        let workspace = workspaces.join(WORKSPACE);
        std::fs::create_dir_all(&workspace).map_err(failed)?;
        for (path, text) in given {
            let at = workspace.join(inside(path)?);
            if let Some(parent) = at.parent() {
                std::fs::create_dir_all(parent).map_err(failed)?;
            }
            files::replace(&at, text, Readers::Owner)
                .map_err(|error| Refusal::new(ErrorCode::Unavailable, error.to_string()))?;
        }
        Ok(Self { folder, workspace })
    }

    /// The folders that a call in it gets.
    pub(super) fn folders(&self, config: &Path) -> Folders {
        Folders { data: self.folder.path().to_owned(), config: config.to_owned() }
    }

    /// What is not as the test says it should be afterwards.
    pub(super) fn misses(&self, test: &Test) -> Result<Vec<Missed>, Refusal> {
        let mut unreadable = None;
        let missed = test.check_files(|path| {
            let found =
                inside(path).and_then(|under| match files::read_document(&self.workspace.join(under)) {
                    Ok(found) => Ok(Some(found)),
                    Err(FileError::Open { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                        Ok(None)
                    }
                    Err(error) => Err(Refusal::new(ErrorCode::FsFailed, error.to_string())),
                });
            found.unwrap_or_else(|refusal| {
                unreadable = Some(refusal);
                None
            })
        });
        unreadable.map_or_else(|| Ok(missed.into_iter().map(missed_of).collect()), Err)
    }
}

/// A path of a test below its workspace.
fn inside(path: &str) -> Result<PathBuf, Refusal> {
    let wrong = |why: String| {
        Refusal::validation(format!("a test names the file `{}`: {why}", bailiwick_types::shortened(path)))
            .with_hint("write a path below the workspace, such as notes.txt")
    };
    let parsed = GuestPath::parse(path).map_err(|error| wrong(error.to_string()))?;
    let text = parsed.to_string();
    let below = text.trim_start_matches('/');
    if path.starts_with('/') || below.is_empty() || below.split('/').any(|part| part == "..") {
        return Err(wrong("it is not below the workspace".to_owned()));
    }
    Ok(PathBuf::from(below))
}
