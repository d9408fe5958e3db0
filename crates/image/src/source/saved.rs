//! What `docker save` writes: `manifest.json` names a config and the layers, each by its path in the archive.

use std::sync::Arc;

use serde::Deserialize;

use super::parts::Parts;
use super::{Found, layer};
use crate::bounds::Spending;
use crate::manifest::{json, made_manifest};
use crate::progress::{Phase, Steps, Watcher};
use crate::store::Places;
use crate::{Digest, ImageError};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    layers: Vec<String>,
}

pub(super) fn gather(
    parts: &Parts,
    places: &Arc<Places>,
    spending: &mut Spending,
    watcher: &Watcher,
) -> Result<Found, ImageError> {
    const WHAT: &str = "manifest.json";
    let images: Vec<Saved> = json(WHAT, &parts.small(WHAT)?)?;
    let [Saved { config, layers }] = images.as_slice() else {
        let count = images.len();
        return Err(ImageError::Unsupported(format!(
            "the archive holds {count} images; save one of them alone"
        )));
    };
    if layers.len() > spending.bounds().layers {
        return Err(ImageError::Bound { what: "more layers", most: spending.bounds().layers as u64 });
    }
    let bytes = parts.small(config)?;
    let stem = config.rsplit('/').next().unwrap_or_default();
    let named = Digest::from_hex(stem.strip_suffix(".json").unwrap_or(stem));
    let found = Digest::of(&bytes);
    if let Some(expected) = named.filter(|named| *named != found) {
        return Err(ImageError::Digest { what: config.clone(), expected, found });
    }
    places.keep_blob(&bytes, spending)?;
    let mut steps = Steps::new(watcher, Phase::Reading, None);
    let mut taken = Vec::new();
    for part in layers {
        let (digest, size) = parts.adopt(part, None, None, (places, &mut *spending, &mut steps))?;
        taken.push(layer(digest, size));
    }
    Ok(Found::Image { manifest: made_manifest(&bytes, taken)? })
}
