//! From blobs to an image with a name: layers unpacked, the tree put in its place, the name last of all.

use std::os::fd::AsFd as _;

use bailiwick_sys::Errno;
use bailiwick_sys::beneath;
use serde::{Deserialize, Serialize};

use super::names::Names;
use super::places::{Places, made, name};
use super::{Image, Inner};
use crate::bounds::Spending;
use crate::manifest::{self, Descriptor, Document, chain, made_config, made_manifest, read_config};
use crate::source::Found;
use crate::unpack::{Layer, LeftOut, unpack};
use crate::{Digest, ImageError, Reference, Watcher};

/// What is known of a tree.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct About {
    pub(super) bytes: u64,
    pub(super) left_out: LeftOut,
}

/// The largest file of that.
const MOST_ABOUT: u64 = 64 * 1024;

/// What is known of a tree; none when there is no such tree.
pub(super) fn about(places: &Places, chain: &Digest) -> Result<Option<About>, ImageError> {
    let folder = match beneath::folder(places.trees(), name(&chain.hex())?.as_c_str(), beneath::Links::Never)
    {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(ImageError::sys("look at an image")(errno)),
    };
    let bytes = Places::small(folder.as_fd(), c"about", MOST_ABOUT)?;
    let bytes =
        bytes.ok_or_else(|| ImageError::malformed("an image in the store", "nothing is known about it"))?;
    manifest::json("what is known about an image", &bytes).map(Some)
}

impl Inner {
    /// Makes an image of what is in the store as blobs, under a name.
    pub(super) fn finish(
        &self,
        found: Found,
        reference: &Reference,
        spending: &mut Spending,
        watcher: &Watcher,
    ) -> Result<Image, ImageError> {
        let manifest = match found {
            Found::Image { manifest } => {
                self.unpack_image(&manifest, spending, watcher)?;
                manifest
            }
            Found::Files(layer) => {
                let diff_ids = self.unpack_layers(&[(&layer, None)], None, spending, watcher)?;
                let diff_id = diff_ids.first().copied().unwrap_or_else(|| Digest::of(b""));
                let config = made_config(diff_id)?;
                self.places.keep_blob(&config, spending)?;
                made_manifest(&config, vec![layer])?
            }
        };
        let digest = self.places.keep_blob(&manifest, spending)?;
        let mut names = Names::read(&self.places)?;
        names.set(reference, digest);
        names.write(&self.places)?;
        self.image(&reference.to_string(), digest)
    }

    fn unpack_image(
        &self,
        manifest: &[u8],
        spending: &mut Spending,
        watcher: &Watcher,
    ) -> Result<(), ImageError> {
        const WHAT: &str = "the manifest of the image";
        let Document::Image(manifest) = Document::read(WHAT, manifest)? else {
            return Err(ImageError::malformed(WHAT, "it is an index"));
        };
        let config =
            self.places.small_blob("the config of the image", &manifest.config.digest, manifest::MOST)?;
        let (_, diff_ids) = read_config(&config)?;
        if diff_ids.len() != manifest.layers.len() {
            return Err(ImageError::malformed(WHAT, "it has not as many layers as its config says"));
        }
        let whole = chain(&diff_ids);
        if about(&self.places, &whole)?.is_some() {
            return Ok(());
        }
        let layers: Vec<_> = manifest.layers.iter().zip(diff_ids.iter().copied().map(Some)).collect();
        self.unpack_layers(&layers, Some(whole), spending, watcher).map(drop)
    }

    /// Unpacks layers into a tree, and gives that its place when all of it is on the disk.
    fn unpack_layers(
        &self,
        layers: &[(&Descriptor, Option<Digest>)],
        expected: Option<Digest>,
        spending: &mut Spending,
        watcher: &Watcher,
    ) -> Result<Vec<Digest>, ImageError> {
        let (staged, folder) = self.places.stage_folder()?;
        let unpacked = (|| {
            let root = made(folder.as_fd(), c"root")?;
            let layers = layers.iter().map(|(layer, diff_id)| self.opened(layer, *diff_id));
            let (diff_ids, left_out) = unpack(root, layers.collect::<Result<_, _>>()?, spending, watcher)?;
            let whole = chain(&diff_ids);
            if let Some(expected) = expected.filter(|expected| *expected != whole) {
                return Err(ImageError::Digest {
                    what: "the image, unpacked,".to_owned(),
                    expected,
                    found: whole,
                });
            }
            if about(&self.places, &whole)?.is_some() {
                self.places.throw_away(&staged)?;
                return Ok(diff_ids);
            }
            let about = serde_json::to_vec(&About { bytes: spending.spent(), left_out });
            let about = about.map_err(|error| ImageError::malformed("what we write", error.to_string()))?;
            self.places.replace(folder.as_fd(), c"about", &about)?;
            self.places.sync_all()?;
            self.places.settle(&staged, self.places.trees(), &name(&whole.hex())?)?;
            Ok(diff_ids)
        })();
        if unpacked.is_err()
            && let Err(error) = self.places.throw_away(&staged)
        {
            // It is swept when the store is opened next.
            tracing::warn!(%error, "what was unpacked of a refused image stays for now");
        }
        unpacked
    }

    fn opened(&self, layer: &Descriptor, diff_id: Option<Digest>) -> Result<Layer, ImageError> {
        let found = self.places.blob(&layer.digest)?;
        let (file, size) =
            found.ok_or_else(|| ImageError::malformed("a layer", "it is not in the store any more"))?;
        if size != layer.size {
            let what = format!("the layer {}", layer.digest);
            return Err(ImageError::Size { what, declared: layer.size, found: size });
        }
        Ok(Layer { file, size, diff_id })
    }
}
