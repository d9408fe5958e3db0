//! Removes what no name needs and nobody uses. Where it cannot be told what is needed, nothing is removed.

use std::collections::HashSet;

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Links};

use super::finish::about;
use super::names::Names;
use super::{Inner, Places};
use crate::{Digest, ImageError};

/// What was removed, and what was not although no name needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Collected {
    /// Blobs that are gone.
    pub blobs: u64,
    /// Trees that are gone.
    pub trees: u64,
    /// Bytes that they took.
    pub bytes: u64,
    /// Trees that stay because somebody uses them.
    pub in_use: u64,
}

impl Inner {
    /// Bytes that the store takes.
    pub(super) fn used(&self) -> Result<u64, ImageError> {
        let mut used = 0_u64;
        for name in Places::listed(self.places.blobs())? {
            used = used.saturating_add(self.size(&name)?);
        }
        for name in Places::listed(self.places.trees())? {
            used = used.saturating_add(self.taken(&name)?);
        }
        Ok(used)
    }

    fn size(&self, blob: &std::ffi::CStr) -> Result<u64, ImageError> {
        let status = beneath::status_of(self.places.blobs(), blob);
        Ok(status.map_err(ImageError::sys("look at a blob"))?.size)
    }

    /// What a tree takes; nothing for one that says nothing of itself.
    fn taken(&self, tree: &std::ffi::CStr) -> Result<u64, ImageError> {
        let Some(chain) = tree.to_str().ok().and_then(Digest::from_hex) else { return Ok(0) };
        Ok(about(&self.places, &chain)?.map_or(0, |about| about.bytes))
    }

    /// Removes what is not needed. The caller has the right to change the store.
    pub(super) fn collect(&self) -> Result<Collected, ImageError> {
        let (mut blobs, mut trees) = (HashSet::new(), HashSet::new());
        for (_, digest) in Names::read(&self.places)?.all() {
            let (manifest, _, chain) = self.parts(*digest)?;
            blobs.extend([digest.hex(), manifest.config.digest.hex()]);
            blobs.extend(manifest.layers.iter().map(|layer| layer.digest.hex()));
            trees.insert(chain.hex());
        }
        let mut collected = Collected::default();
        let needed =
            |set: &HashSet<String>, name: &std::ffi::CStr| name.to_str().is_ok_and(|name| set.contains(name));
        for name in Places::listed(self.places.trees())? {
            if needed(&trees, &name) {
                continue;
            }
            let step = ImageError::sys("look whether an image is in use");
            let held = match beneath::folder(self.places.trees(), name.as_c_str(), Links::Never) {
                Ok(held) => held,
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(step(errno)),
            };
            // Nobody can begin to use it while it is ours alone.
            if !beneath::claim(&held).map_err(step)? {
                collected.in_use += 1;
                continue;
            }
            collected.bytes = collected.bytes.saturating_add(self.taken(&name)?);
            self.places.remove(self.places.trees(), &name)?;
            collected.trees += 1;
        }
        for name in Places::listed(self.places.blobs())? {
            if needed(&blobs, &name) {
                continue;
            }
            collected.bytes = collected.bytes.saturating_add(self.size(&name)?);
            self.places.remove(self.places.blobs(), &name)?;
            collected.blobs += 1;
        }
        Ok(collected)
    }
}
