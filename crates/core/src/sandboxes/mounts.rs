//! Which paths of the host may be mounted. A [`CheckedMount`] exists only if one may.
//!
//! Never: a path that contains or lies in our own folders, the kernel's own interfaces, what is neither file nor folder,
//! and a link that leads out of the folder it lies in. Who asks over a wire is held to the operator's list beside that; what
//! the operator's own user types is their word. A checked path has no link in it, so whoever mounts it follows none.

use std::path::{Component, Path, PathBuf};

use bailiwick_sandbox::{Mount, SandboxError};

use super::Rules;
use crate::Origin;

/// Folders in which the kernel shows itself: inside of a sandbox they are its own.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// A mount that may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedMount(Mount);

impl CheckedMount {
    /// Looks at a mount.
    pub fn check(wished: &Mount, rules: &Rules<'_>, origin: Origin) -> Result<Self, SandboxError> {
        let from = &wished.from;
        let refused = |why: String| SandboxError::Mount {
            path: bailiwick_types::shortened(&from.to_string_lossy()),
            why,
        };
        if !from.is_absolute() {
            return Err(refused("a path of the host must be absolute".to_owned()));
        }
        if from.components().any(|part| part == Component::ParentDir) {
            return Err(refused("it has a `..` in it; write where it leads to".to_owned()));
        }
        leads_out(from).map_err(refused)?;
        let real = from.canonicalize().map_err(|error| refused(error.to_string()))?;
        let kind = real.metadata().map_err(|error| refused(error.to_string()))?;
        if !kind.is_dir() && !kind.is_file() {
            return Err(refused("it is neither a file nor a folder".to_owned()));
        }
        if let Some(own) = rules.own.iter().map(|own| real_of(own)).find(|own| overlap(&real, own)) {
            return Err(refused(format!(
                "it and our own {} lie in one another, and nothing that runs may see that",
                own.display()
            )));
        }
        if let Some(kernel) = KERNEL.iter().find(|kernel| overlap(&real, Path::new(kernel))) {
            return Err(refused(format!("{kernel} is the host's kernel; a sandbox has its own")));
        }
        let is_listed = || rules.settings.mounts.iter().any(|listed| real.starts_with(real_of(listed)));
        if origin == Origin::Wire && !is_listed() {
            return Err(refused(
                "it lies under none of the folders that the operator listed in fs.mounts".to_owned(),
            ));
        }
        Ok(Self(Mount { from: real, ..wished.clone() }))
    }

    /// What may be mounted.
    pub fn into_mount(self) -> Mount {
        self.0
    }
}

/// Whether one of two folders lies in the other.
fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// A path without links, as far as it exists.
fn real_of(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Whether a link on the way leads out of the folder that it lies in.
fn leads_out(path: &Path) -> Result<(), String> {
    let mut so_far = PathBuf::new();
    for part in path.components() {
        let folder = so_far.clone();
        so_far.push(part);
        let is_link = match so_far.symlink_metadata() {
            Ok(kind) => kind.is_symlink(),
            Err(error) => return Err(error.to_string()),
        };
        if is_link {
            let target = so_far.canonicalize().map_err(|error| error.to_string())?;
            if !target.starts_with(real_of(&folder)) {
                return Err(format!(
                    "{} is a link out of its folder, to {}; name that if you mean it",
                    so_far.display(),
                    target.display()
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
