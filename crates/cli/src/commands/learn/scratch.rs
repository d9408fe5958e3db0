//! A workspace that is thrown away, for code that is only observed: what it writes it can read again, and nothing of it is
//! the user's. Without it code would stop at its first change, and what it asks for afterwards would not be learned.

use std::path::{Path, PathBuf};

use bailiwick::gateway::files::WORKSPACES;
use bailiwick::{Folders, WorkspaceName};
use bailiwick_config::files::{self, Readers};
use bailiwick_policy::GuestPath;
use tempfile::TempDir;

use crate::failure::Failure;

/// The most of a workspace that is copied: entries, and bytes of all files.
const MOST_ENTRIES: usize = 10_000;
const MOST_BYTES: u64 = 64 << 20;

/// What a workspace begins with.
#[derive(Debug, Clone)]
pub(super) enum Begins {
    /// The files of a test: path and text.
    With(Vec<(String, String)>),
    /// What the workspace of this name holds now.
    AsItIs,
}

/// Makes throw-away workspaces of one name.
#[derive(Debug)]
pub(super) struct Scratch {
    workspace: WorkspaceName,
    /// The data folder and the configuration's, where there are any.
    real: Option<Folders>,
}

impl Scratch {
    pub(super) const fn new(workspace: WorkspaceName, real: Option<Folders>) -> Self {
        Self { workspace, real }
    }

    /// A new one, with the folder that has to outlive the run.
    pub(super) fn make(&self, begins: &Begins) -> Result<(TempDir, Folders), Failure> {
        let base = TempDir::new().map_err(|source| failed(&std::env::temp_dir(), source))?;
        let data = base.path().join("data");
        let to = data.join(WORKSPACES).join(self.workspace.as_str());
        std::fs::create_dir_all(&to).map_err(|source| failed(&to, source))?;
        match begins {
            Begins::With(given) => given.iter().try_for_each(|(path, text)| put(&to, path, text))?,
            Begins::AsItIs => {
                let from =
                    self.real.as_ref().map(|real| real.data.join(WORKSPACES).join(self.workspace.as_str()));
                if let Some(from) = from.filter(|from| from.is_dir()) {
                    copy(&from, &to)?;
                }
            }
        }
        let config =
            self.real.as_ref().map_or_else(|| base.path().join("config"), |real| real.config.clone());
        Ok((base, Folders { data, config }))
    }
}

fn failed(path: &Path, source: std::io::Error) -> Failure {
    Failure::Folder { path: path.to_owned(), source }
}

/// Writes a test's file below the workspace. The document was checked: no path leads out of it.
fn put(workspace: &Path, path: &str, text: &str) -> Result<(), Failure> {
    let below = GuestPath::parse(path).map(|path| path.to_string()).unwrap_or_default();
    if below.is_empty() || below.starts_with('/') {
        return Err(Failure::Argument {
            message: format!(
                "a test names the file `{}`, which is not below its workspace",
                path.escape_debug()
            ),
            hint: "write a path such as notes.txt".to_owned(),
        });
    }
    let at = workspace.join(below);
    if let Some(parent) = at.parent() {
        std::fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
    }
    Ok(files::replace(&at, text, Readers::Owner)?)
}

/// Copies files and folders. Links are left out: what they lead to is not the workspace's.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let (mut entries, mut bytes) = (0_usize, 0_u64);
    let mut open: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        for entry in std::fs::read_dir(&from).map_err(|source| failed(&from, source))? {
            let entry = entry.map_err(|source| failed(&from, source))?;
            let (old, new) = (entry.path(), to.join(entry.file_name()));
            let about = entry.metadata().map_err(|source| failed(&old, source))?;
            entries += 1;
            if about.is_dir() {
                std::fs::create_dir(&new).map_err(|source| failed(&new, source))?;
                open.push((old, new));
            } else if about.is_file() {
                bytes = bytes.saturating_add(about.len());
                if bytes <= MOST_BYTES {
                    std::fs::copy(&old, &new).map_err(|source| failed(&old, source))?;
                }
            }
            if entries > MOST_ENTRIES || bytes > MOST_BYTES {
                return Err(Failure::Argument {
                    message: format!(
                        "the workspace has more than {MOST_ENTRIES} files or {} MiB; it is not copied to learn from",
                        MOST_BYTES >> 20
                    ),
                    hint: "name a smaller one with --workspace, or let it change files with --live"
                        .to_owned(),
                });
            }
        }
    }
    Ok(())
}
