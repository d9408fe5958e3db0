//! Which image a name stands for. One file, replaced in one step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::places::Places;
use crate::{Digest, ImageError, Reference};

/// The largest list of names.
const MOST: u64 = 4 * 1024 * 1024;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Names {
    version: u32,
    names: BTreeMap<String, Digest>,
}

impl Names {
    /// As they are now.
    pub(crate) fn read(places: &Places) -> Result<Self, ImageError> {
        let Some(bytes) = Places::small(places.root(), c"names", MOST)? else {
            return Ok(Self { version: 1, names: BTreeMap::new() });
        };
        let names: Self = serde_json::from_slice(&bytes)
            .map_err(|error| ImageError::malformed("the list of images", error.to_string()))?;
        match names.version {
            1 => Ok(names),
            other => Err(ImageError::Unsupported(format!(
                "the list of images is of version {other}, which this program does not know; use a newer one"
            ))),
        }
    }

    pub(crate) fn write(&self, places: &Places) -> Result<(), ImageError> {
        let bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| ImageError::malformed("the list of images", error.to_string()))?;
        if bytes.len() as u64 > MOST {
            return Err(ImageError::Bound { what: "more names", most: MOST });
        }
        places.replace(places.root(), c"names", &bytes)
    }

    pub(crate) fn set(&mut self, name: &Reference, manifest: Digest) {
        self.names.insert(name.to_string(), manifest);
    }

    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.names.remove(name).is_some()
    }

    /// The manifest of an image, by its name or by its digest; and its name.
    pub(crate) fn find(&self, wanted: &str) -> Result<(String, Digest), ImageError> {
        if wanted.starts_with("sha256:") {
            let digest: Digest = wanted.parse()?;
            let found = self.names.iter().find(|(_, manifest)| **manifest == digest);
            return found
                .map(|(name, digest)| (name.clone(), *digest))
                .ok_or_else(|| ImageError::NotFound(wanted.to_owned()));
        }
        let name = wanted.parse::<Reference>()?.to_string();
        match self.names.get(&name) {
            Some(digest) => Ok((name, *digest)),
            None => Err(ImageError::NotFound(name)),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &Digest)> {
        self.names.iter()
    }
}
