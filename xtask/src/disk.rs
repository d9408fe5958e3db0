//! The one place that reads the disk: a folder becomes a [`Tree`] of its Rust
//! sources and manifests. It follows no symlink, so it ends and stays inside.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::tree::{Content, Tree};

/// Folders in which nothing is ours.
const FOREIGN: &[&str] = &[".git", "node_modules"];

/// Why there is no tree to look at.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// A typo in the root must not look like a clean tree.
    #[error("{} is not a workspace: there is no Cargo.toml in it", .root.display())]
    NotAWorkspace {
        /// The folder that was named.
        root: PathBuf,
    },
    /// Something that a document is made from cannot be read.
    #[error("{}: {source}", .path.display())]
    Unreadable {
        /// What.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// The workspace this very program was built in.
pub(crate) fn own_workspace() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// Reads every `.rs` file and `Cargo.toml` below `root`. What cannot be read
/// is in the tree too, as such.
pub(crate) fn read_tree(root: &Path) -> Result<Tree, ReadError> {
    if !root.join("Cargo.toml").is_file() {
        return Err(ReadError::NotAWorkspace { root: root.to_owned() });
    }
    let mut tree = Tree::default();
    let mut folders = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        match entries(&folder) {
            Ok(found) => {
                let has_manifest = found.iter().any(|entry| entry.name == "Cargo.toml");
                for Entry { name, kind } in found {
                    let path = format!("{prefix}{name}");
                    match kind {
                        // A build folder sits next to a manifest; elsewhere `target` is a word like any other.
                        Kind::Folder if FOREIGN.contains(&name.as_str()) => {}
                        Kind::Folder if name == "target" && has_manifest => {}
                        Kind::Folder => folders.push((folder.join(&name), format!("{path}/"))),
                        Kind::File if is_ours(&name) => tree.insert(path, read(&folder.join(&name))),
                        Kind::File | Kind::Other => {}
                    }
                }
            }
            Err(error) => {
                let path = if prefix.is_empty() { "." } else { prefix.trim_end_matches('/') };
                tree.insert(path, Content::Unreadable { why: error.to_string() });
            }
        }
    }
    Ok(tree)
}

/// The names of the folders in a folder, sorted.
pub(crate) fn folders(folder: &Path) -> Result<Vec<String>, ReadError> {
    named(folder, |kind| matches!(kind, Kind::Folder))
}

/// The names of the files in a folder, sorted.
pub(crate) fn files(folder: &Path) -> Result<Vec<String>, ReadError> {
    named(folder, |kind| matches!(kind, Kind::File))
}

fn named(folder: &Path, is_wanted: fn(&Kind) -> bool) -> Result<Vec<String>, ReadError> {
    let found =
        entries(folder).map_err(|source| ReadError::Unreadable { path: folder.to_owned(), source })?;
    let mut names: Vec<String> =
        found.into_iter().filter(|entry| is_wanted(&entry.kind)).map(|entry| entry.name).collect();
    names.sort();
    Ok(names)
}

/// The text of a file.
#[expect(
    clippy::disallowed_methods,
    reason = "a development tool that reads files of the tree it was built from"
)]
pub(crate) fn text(path: &Path) -> Result<String, ReadError> {
    fs::read_to_string(path).map_err(|source| ReadError::Unreadable { path: path.to_owned(), source })
}

struct Entry {
    name: String,
    kind: Kind,
}

enum Kind {
    File,
    Folder,
    /// A symlink, a socket, a device: not followed, not read.
    Other,
}

fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let kind = if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            Kind::Folder
        } else {
            Kind::Other
        };
        found.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind });
    }
    Ok(found)
}

fn is_ours(name: &str) -> bool {
    name == "Cargo.toml" || Path::new(name).extension().is_some_and(|extension| extension == "rs")
}

#[expect(
    clippy::disallowed_methods,
    reason = "a development tool that reads the sources it was built from; no guest or operator names the path"
)]
fn read(path: &Path) -> Content {
    match fs::read_to_string(path) {
        Ok(text) => Content::Text(text),
        Err(error) => Content::Unreadable { why: error.to_string() },
    }
}
