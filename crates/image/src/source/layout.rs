//! An OCI layout: `index.json` names manifests, everything else is a blob by its digest.

use std::sync::Arc;

use super::Found;
use super::parts::Parts;
use crate::bounds::Spending;
use crate::manifest::{Descriptor, Document, Manifest, pick};
use crate::progress::{Phase, Steps, Watcher};
use crate::store::Places;
use crate::{Digest, ImageError};

/// How often an index may lead to another one.
const DEPTH: usize = 4;

pub(super) fn gather(
    parts: &Parts,
    places: &Arc<Places>,
    spending: &mut Spending,
    watcher: &Watcher,
) -> Result<Found, ImageError> {
    let (manifest, bytes) = manifest(parts)?;
    let total =
        manifest.layers.iter().map(|layer| layer.size).fold(manifest.config.size, u64::saturating_add);
    let mut steps = Steps::new(watcher, Phase::Reading, Some(total));
    for part in manifest.layers.iter().chain([&manifest.config]) {
        if places.blob(&part.digest)?.is_some_and(|(_, size)| size == part.size) {
            steps.add(part.size);
            continue;
        }
        let into = (places, &mut *spending, &mut steps);
        parts.adopt(&path(&part.digest), Some(&part.digest), Some(part.size), into)?;
    }
    Ok(Found::Image { manifest: bytes })
}

fn manifest(parts: &Parts) -> Result<(Manifest, Vec<u8>), ImageError> {
    let mut what = "index.json".to_owned();
    let mut bytes = parts.small(&what)?;
    for _ in 0..DEPTH {
        let manifests = match Document::read(&what, &bytes)? {
            Document::Image(manifest) => return Ok((manifest, bytes)),
            Document::Index(manifests) => manifests,
        };
        let Descriptor { digest, size, .. } = pick(&manifests)?;
        what = path(digest);
        bytes = parts.small(&what)?;
        let found = Digest::of(&bytes);
        if found != *digest {
            return Err(ImageError::Digest { what, expected: *digest, found });
        }
        if bytes.len() as u64 != *size {
            return Err(ImageError::Size { what, declared: *size, found: bytes.len() as u64 });
        }
    }
    Err(ImageError::malformed("index.json", "one index leads to another, and on and on"))
}

fn path(digest: &Digest) -> String {
    format!("blobs/sha256/{}", digest.hex())
}
