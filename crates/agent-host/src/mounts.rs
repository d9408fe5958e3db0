//! Mounts, looked at before they are planned: what they are, whose they are, and where they have a place.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bailiwick_sandbox::{Mount, SandboxError, SandboxSpec, Unpacked};

use crate::places::{OWN, Places};

/// What is to be mounted, as it was when it was looked at: a file or a folder, with no link on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// Where it is on the host.
    pub from: PathBuf,
    /// Whether it is a folder; a file otherwise.
    pub is_folder: bool,
    /// Its device and number, by which it is known again.
    pub identity: (u64, u64),
    /// Whose it is.
    pub owner: (u32, u32),
}

impl Looked {
    /// Looks at something of the host's.
    pub fn at(from: &Path) -> Result<Self, SandboxError> {
        let refused = |why: &str| refusal(from, why);
        let found = std::fs::symlink_metadata(from).map_err(|error| refused(&error.to_string()))?;
        if found.is_symlink() || from.canonicalize().ok().as_deref() != Some(from) {
            return Err(refused("there is a symbolic link on the way"));
        }
        if !found.is_dir() && !found.is_file() {
            return Err(refused("it is neither a file nor a folder"));
        }
        Ok(Self {
            from: from.to_owned(),
            is_folder: found.is_dir(),
            identity: (found.dev(), found.ino()),
            owner: (found.uid(), found.gid()),
        })
    }

    /// Whether it is still what was looked at: whoever mounted it may have found it by its name.
    pub fn is_unchanged(&self) -> Result<(), SandboxError> {
        let found = std::fs::symlink_metadata(&self.from);
        if found.is_ok_and(|found| (found.dev(), found.ino()) == self.identity) {
            return Ok(());
        }
        Err(refusal(&self.from, "it is not what was checked a moment ago"))
    }
}

/// The refusal to mount something.
pub fn refusal(path: &Path, why: &str) -> SandboxError {
    SandboxError::Mount { path: path.display().to_string(), why: why.to_owned() }
}

/// A user and a group of the host.
pub type Owner = (u32, u32);

/// Looks at all mounts as they are now, and says whom the sandbox has to be: whoever owns what it may write to; none where there is
/// nothing to be written to.
pub fn look(mounts: &[Mount]) -> Result<(Vec<Looked>, Option<Owner>), SandboxError> {
    let mut owner = None;
    let mut all = Vec::with_capacity(mounts.len());
    for Mount { from, writable, .. } in mounts {
        let looked = Looked::at(from)?;
        if *writable && *owner.get_or_insert(looked.owner) != looked.owner {
            let why = "it has another owner than another writable mount of the same sandbox";
            return Err(refusal(from, why));
        }
        all.push(looked);
    }
    Ok((all, owner))
}

/// Refuses mounts within others for which there is no place: one would have to be made, on the host.
pub fn have_their_places(mounts: &[Mount]) -> Result<(), SandboxError> {
    mounts.iter().try_for_each(|mount| has_its_place(mount, mounts))
}

fn has_its_place(mount: &Mount, mounts: &[Mount]) -> Result<(), SandboxError> {
    let around = mounts.iter().filter(|one| one.to != mount.to && mount.to.is_within(&one.to));
    let Some(around) = around.max_by_key(|one| one.to.as_str().len()) else { return Ok(()) };
    let rest = mount.to.as_str().strip_prefix(around.to.as_str()).unwrap_or_default();
    let place = around.from.join(rest.trim_start_matches('/'));
    if place.canonicalize().ok().as_ref() == Some(&place) && place.is_dir() == mount.from.is_dir() {
        return Ok(());
    }
    let why = format!("there is no place for it in `{}`, which is mounted around it", around.from.display());
    Err(refusal(&mount.from, &why))
}

/// Whether a path is a folder, or below it.
pub fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The sandbox's own folders: the usual ones, without what a mount takes the place of, or an image has.
pub fn own_folders(spec: &SandboxSpec, places: &Places, image: Option<&dyn Unpacked>) -> Vec<String> {
    let is_mounted = |folder: &str| spec.mounts.iter().any(|mount| is_within(folder, mount.to.as_str()));
    let is_of_image = |folder: &str| {
        image.is_some_and(|image| image.root().join(folder.trim_start_matches('/')).is_dir())
            && !OWN.contains(&folder)
    };
    places.own_found().into_iter().filter(|folder| !is_mounted(folder) && !is_of_image(folder)).collect()
}
