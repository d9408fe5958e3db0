//! A folder or file of the host inside of a sandbox, as people type it: `HOST:SANDBOX[:ro|:rw]`.
//!
//! Whether a path of the host may be mounted at all is decided by whoever makes a [`Mount`]; here is only which places
//! inside can be taken. What is not said to be writable never is.

use std::path::{Component, PathBuf};

use bailiwick_types::shortened;

use crate::{SandboxPath, SpecError};

/// The most mounts.
pub const MOST_MOUNTS: usize = 64;

/// Where a sandbox has its own, and nothing else can be.
const TAKEN: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys",
    "/usr",
];

/// What the backend `wasm` mounts into the sandbox behind it. It refuses mounts of others there by itself.
const OF_WASM: &str = ".wasm";

/// Whether a place is a backend's own: at the root, with a name that begins with a dot. Agents, what they start with, and old roots
/// have such names; a mount there would be started, and believed, in their place.
pub(crate) fn is_backends(place: &SandboxPath) -> bool {
    let first = place.as_str().split('/').nth(1).unwrap_or_default();
    first.starts_with('.') && first != OF_WASM
}

/// A folder or file of the host inside of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Mount {
    /// Where it is on the host. Whether it may be mounted was decided by whoever made this.
    pub from: PathBuf,
    /// Where it is inside.
    pub to: SandboxPath,
    /// Whether it can be written to.
    #[serde(default)]
    pub writable: bool,
}

/// A folder of the host inside of a sandbox that sees it as if it could change it. What it writes is kept beside: the host's
/// folder stays as it is until somebody has looked at the changes and takes them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Overlay {
    /// Where it is on the host. Whether it may be mounted was decided by whoever made this.
    pub from: PathBuf,
    /// Where it is inside.
    pub to: SandboxPath,
}

impl std::str::FromStr for Overlay {
    type Err = SpecError;

    /// Reads what was typed: `HOST`, which is where commands begin then, or `HOST:SANDBOX`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.contains(":/") {
            let refused = |why: &str| SpecError::MountText { text: shortened(text), why: why.to_owned() };
            return match text {
                "" => Err(refused("it has no path of the host")),
                _ => Ok(Self { from: PathBuf::from(text), to: SandboxPath::work() }),
            };
        }
        let Mount { from, to, writable: _ } = format!("{text}:rw").parse()?;
        Ok(Self { from, to })
    }
}

impl std::fmt::Display for Overlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.from.display(), self.to)
    }
}

impl std::str::FromStr for Mount {
    type Err = SpecError;

    /// Reads what was typed. The path of the host may have colons in it, the one inside may not; the former is kept as it
    /// was typed and must be made absolute before a spec with it is checked.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = |why: &str| SpecError::MountText { text: shortened(text), why: why.to_owned() };
        let (paths, writable) = match text.rsplit_once(':') {
            Some((paths, "ro")) => (paths, false),
            Some((paths, "rw")) => (paths, true),
            _ => (text, false),
        };
        let Some((from, to)) = paths.rsplit_once(":/") else {
            return Err(match paths.rsplit_once(':') {
                Some((_, to)) => {
                    SandboxPath::new(to).map_or_else(Into::into, |_| refused("it has no path inside"))
                }
                None => {
                    refused("write HOST:SANDBOX, with `:rw` behind it for a mount that can be written to")
                }
            });
        };
        if let Some((_, mode)) = to.split_once(':') {
            return Err(refused(&format!("`{}` is neither `ro` nor `rw`", shortened(mode))));
        }
        if from.is_empty() {
            return Err(refused("it has no path of the host"));
        }
        Ok(Self { from: PathBuf::from(from), to: SandboxPath::new(&format!("/{to}"))?, writable })
    }
}

impl std::fmt::Display for Mount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mode = if self.writable { "rw" } else { "ro" };
        write!(f, "{}:{}:{mode}", self.from.display(), self.to)
    }
}

/// The most overlays.
pub const MOST_OVERLAYS: usize = 8;

/// Whether all of these can be in one sandbox; overlays come last.
pub fn check_mounts(mounts: &[Mount], overlays: &[Overlay]) -> Result<(), SpecError> {
    if overlays.len() > MOST_OVERLAYS {
        return Err(SpecError::TooMany { what: "overlays", given: overlays.len(), most: MOST_OVERLAYS });
    }
    let as_mount =
        |Overlay { from, to }: &Overlay| Mount { from: from.clone(), to: to.clone(), writable: true };
    let all: Vec<Mount> = mounts.iter().cloned().chain(overlays.iter().map(as_mount)).collect();
    check(&all)
}

/// Whether all of these can be in one sandbox.
pub(crate) fn check(mounts: &[Mount]) -> Result<(), SpecError> {
    if mounts.len() > MOST_MOUNTS {
        return Err(SpecError::TooMany { what: "mounts", given: mounts.len(), most: MOST_MOUNTS });
    }
    for (index, mount) in mounts.iter().enumerate() {
        from_is_plain(mount)?;
        let place = mount.to.as_str();
        let is_taken = TAKEN.iter().any(|taken| {
            place.strip_prefix(taken).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if place == "/" || is_taken || is_backends(&mount.to) {
            return Err(SpecError::MountPlace(place.to_owned()));
        }
        for later in mounts.iter().skip(index + 1) {
            if later.to == mount.to {
                return Err(SpecError::MountTwice(place.to_owned()));
            }
            if mount.to.is_within(&later.to) {
                return Err(SpecError::MountHidden {
                    inner: place.to_owned(),
                    outer: later.to.as_str().to_owned(),
                });
            }
        }
    }
    Ok(())
}

fn from_is_plain(mount: &Mount) -> Result<(), SpecError> {
    let text = mount.from.to_string_lossy();
    let refused = |why: &str| SpecError::MountText { text: shortened(&text), why: why.to_owned() };
    if !mount.from.is_absolute() {
        return Err(refused("a path of the host must be absolute"));
    }
    if mount.from.components().any(|part| part == Component::ParentDir) {
        return Err(refused("it has a `..` in it; write where it leads to"));
    }
    if text.contains('\0') {
        return Err(refused("it has a NUL in it"));
    }
    Ok(())
}
