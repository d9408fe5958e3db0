//! Which paths of the host may be mounted. A [`CheckedMount`] exists only if one may.
//!
//! A path is resolved once, to a descriptor; every check looks at that descriptor, and every backend mounts it. Never mounted:
//! what contains or lies in our own directories, the kernel's own interfaces, what is neither file nor directory. A caller over
//! the network is held to the operator's list ([`super::MountRoots`]), below which no link is followed. What the operator's own user
//! types may have links in it that stay in the directory they lie in, but none where a guest may write.

use std::path::{Component, Path};

use bailiwick_sandbox::{Held, Mount, SandboxError};
use bailiwick_sys::Errno;
use bailiwick_sys::beneath::is_kernel_view;
use bailiwick_sys::held::{HeldFile, Leads, Unheld};

use super::Rules;
use crate::Origin;

/// Folders in which the kernel shows itself: inside of a sandbox they are its own.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// A mount that may be made, with the descriptor that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedMount(Held<Mount>);

impl CheckedMount {
    /// Resolves the path of a mount once, and checks what it led to.
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
        let source = match origin {
            Origin::Wire => rules.roots.beneath(from),
            Origin::Typed => HeldFile::follow(from, Leads::Within, &rules.roots.guarded())
                .map_err(|unheld| unheld.to_string()),
        };
        let mount = Held::mount(wished.clone(), source.map_err(refused)?)?;
        may_be_seen(&mount, rules).map_err(refused)?;
        let is_guests = rules.roots.contain(mount.source()).map_err(|errno| refused(errno.to_string()))?;
        let mount = mount.named_by_guests(is_guests);
        if mount.writable {
            rules.roots.is_written(mount.source());
        }
        Ok(Self(mount))
    }

    /// What may be mounted.
    pub fn into_mount(self) -> Held<Mount> {
        self.0
    }
}

/// Refuses what is our own or the kernel's, by the descriptor: by the identity of what is above it, and by its path.
fn may_be_seen(mount: &Held<Mount>, rules: &Rules<'_>) -> Result<(), String> {
    for own in &rules.own {
        if overlap(mount, own)? {
            return Err(format!(
                "it and our own {} lie in one another, and nothing that runs may see that",
                own.display()
            ));
        }
    }
    for kernel in KERNEL {
        if overlap(mount, Path::new(kernel))? {
            return Err(format!("{kernel} is the host's kernel; a sandbox has its own"));
        }
    }
    if is_kernel_view(mount.source()).map_err(|errno| errno.to_string())? {
        return Err("it is a view of the host's kernel; a sandbox has its own".to_owned());
    }
    Ok(())
}

/// Whether one of the two lies in the other.
fn overlap(mount: &Held<Mount>, other: &Path) -> Result<bool, String> {
    let (source, real) = (mount.source(), mount.from.as_path());
    let by_name = |other: &Path| real.starts_with(other) || other.starts_with(real);
    if by_name(other) {
        return Ok(true);
    }
    let held = match HeldFile::follow(other, Leads::Anywhere, &[]) {
        Ok(held) => held,
        // What is not there, or cannot be reached by this user, has only its name.
        Err(Unheld::System { errno: Errno::NOENT | Errno::NOTDIR | Errno::ACCESS, .. }) => return Ok(false),
        Err(unheld) => return Err(unheld.to_string()),
    };
    let by_identity = || {
        let other_real = held.real_path()?;
        Ok(by_name(&other_real) || source.is_within(&held)? || held.is_within(source)?)
    };
    by_identity().map_err(|errno: Errno| errno.to_string())
}

#[cfg(test)]
mod tests;
