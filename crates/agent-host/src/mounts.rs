//! Mounts, before they are planned: whose they are, and where they have a place. All of it is looked up by their descriptors.

use std::path::Path;

use bailiwick_sandbox::{Held, Mount, SandboxError, SandboxSpec, Unpacked};

use crate::places::{OWN, Places};

/// The refusal to mount something.
pub fn refusal(path: &Path, why: &str) -> SandboxError {
    SandboxError::Mount { path: path.display().to_string(), why: why.to_owned() }
}

/// A user and a group of the host.
pub type Owner = (u32, u32);

/// Whom the sandbox has to be: the owner of what it may write to; none where there is nothing to be written to.
pub fn owner(mounts: &[Held<Mount>]) -> Result<Option<Owner>, SandboxError> {
    let mut owner = None;
    for mount in mounts.iter().filter(|mount| mount.writable) {
        let found = mount.source().owner();
        if *owner.get_or_insert(found) != found {
            let why = "it has another owner than another writable mount of the same sandbox";
            return Err(refusal(&mount.from, why));
        }
    }
    Ok(owner)
}

/// Refuses mounts within others for which there is no place: one would have to be made, on the host.
pub fn have_their_places(mounts: &[Held<Mount>]) -> Result<(), SandboxError> {
    mounts.iter().try_for_each(|mount| has_its_place(mount, mounts))
}

fn has_its_place(mount: &Held<Mount>, mounts: &[Held<Mount>]) -> Result<(), SandboxError> {
    let around = mounts.iter().filter(|one| one.to != mount.to && mount.to.is_within(&one.to));
    let Some(around) = around.max_by_key(|one| one.to.as_str().len()) else { return Ok(()) };
    let rest = mount.to.as_str().strip_prefix(around.to.as_str()).unwrap_or_default();
    let place = around.source().beneath(Path::new(rest.trim_start_matches('/')));
    if place.is_ok_and(|place| place.is_directory() == mount.source().is_directory()) {
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
