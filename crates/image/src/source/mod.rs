//! Images that are on this machine already: a folder, an archive of one, an OCI layout, what `docker save` wrote.
//!
//! Each becomes blobs of the store and is unpacked from there, by the one way that all images go. What is read here was
//! named by the operator; what is in it was not, and nothing in it is followed out of it.

mod layout;
mod module;
mod pack;
mod parts;
mod saved;

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sys::beneath;

use crate::bounds::Spending;
use crate::manifest::Descriptor;
use crate::progress::{Phase, Steps, Watcher};
use crate::store::{Arriving, Places};
use crate::unpack::{each, opened};
use crate::{Bounds, Digest, ImageError};

/// `O_NONBLOCK`: a pipe in the place of a file must not hang.
const NONBLOCK: i32 = 0o4000;

/// Where an image is taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A folder that is a root file system. It is copied.
    Folder(PathBuf),
    /// An OCI layout that is a folder.
    Layout(PathBuf),
    /// An archive of an OCI layout, or what `docker save` wrote.
    Archive(PathBuf),
    /// An archive of a root file system, as `mmdebstrap` and `docker export` make.
    RootFs(PathBuf),
    /// A program in WebAssembly: the one file of its image.
    Module(PathBuf),
}

impl Source {
    /// What lies at a path, by its look.
    pub fn at(path: &Path) -> Result<Self, ImageError> {
        let told = |error: std::io::Error| at_fault(path, error.to_string());
        if std::fs::metadata(path).map_err(told)?.is_dir() {
            let is_layout = path.join("oci-layout").is_file() && path.join("index.json").is_file();
            return Ok(if is_layout { Self::Layout(path.to_owned()) } else { Self::Folder(path.to_owned()) });
        }
        let (mut file, size) = open(path)?;
        if module::is_one(&mut file).map_err(told)? {
            return Ok(Self::Module(path.to_owned()));
        }
        Ok(if is_archive_of_image(file, size)? {
            Self::Archive(path.to_owned())
        } else {
            Self::RootFs(path.to_owned())
        })
    }
}

/// What was found: an image with manifest and config, or files alone.
pub(crate) enum Found {
    Image { manifest: Vec<u8> },
    Files(Descriptor),
}

/// Brings everything of a source into the store, as blobs.
pub(crate) fn gather(
    source: &Source,
    places: &Arc<Places>,
    spending: &mut Spending,
    watcher: &Watcher,
) -> Result<Found, ImageError> {
    match source {
        Source::Folder(path) => Ok(Found::Files(pack::pack(path, places, spending, watcher)?)),
        Source::RootFs(path) => {
            let (file, size) = open(path)?;
            let mut steps = Steps::new(watcher, Phase::Reading, Some(size));
            let what = path.display().to_string();
            let (digest, size) = copied(file, &what, None, Some(size), places, spending, &mut steps)?;
            Ok(Found::Files(layer(digest, size)))
        }
        Source::Module(path) => Ok(Found::Files(module::pack(path, places, spending, watcher)?)),
        Source::Layout(path) => {
            let held = beneath::hold(path).map_err(|errno| at_fault(path, errno.to_string()))?;
            let parts = parts::Parts::Folder(held);
            layout::gather(&parts, places, spending, watcher)
        }
        Source::Archive(path) => {
            let (file, size) = open(path)?;
            let parts = parts::Parts::staged(file, size, places, spending, watcher)?;
            if parts.has("oci-layout") && parts.has("index.json") {
                layout::gather(&parts, places, spending, watcher)
            } else if parts.has("manifest.json") {
                saved::gather(&parts, places, spending, watcher)
            } else {
                Err(at_fault(path, "it holds neither an OCI layout nor what `docker save` writes".to_owned()))
            }
        }
    }
}

pub(crate) fn layer(digest: Digest, size: u64) -> Descriptor {
    let media_type = "application/vnd.oci.image.layer.v1.tar".to_owned();
    Descriptor { media_type, digest, size, platform: None }
}

/// Copies a file into the store.
fn copied(
    mut file: File,
    what: &str,
    expected: Option<&Digest>,
    declared: Option<u64>,
    places: &Arc<Places>,
    spending: &mut Spending,
    steps: &mut Steps,
) -> Result<(Digest, u64), ImageError> {
    let mut arriving = Arriving::begin(places, what, declared)?;
    let mut buffer = vec![0; 128 * 1024];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return arriving.keep(expected),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ImageError::Source { path: what.to_owned(), why: error.to_string() }),
        };
        arriving.take(buffer.get(..read).unwrap_or_default(), spending)?;
        steps.add(read as u64);
    }
}

fn at_fault(path: &Path, why: String) -> ImageError {
    ImageError::Source { path: path.display().to_string(), why }
}

/// A regular file of the operator's, and its length.
fn open(path: &Path) -> Result<(File, u64), ImageError> {
    let told = |error: std::io::Error| at_fault(path, error.to_string());
    let file = std::fs::OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path).map_err(told)?;
    let seen = file.metadata().map_err(told)?;
    if !seen.is_file() {
        return Err(at_fault(path, "it is neither a folder nor a file".to_owned()));
    }
    Ok((file, seen.len()))
}

/// Whether an archive is one of an image, and not of a root file system: by the first name in it.
fn is_archive_of_image(file: File, size: u64) -> Result<bool, ImageError> {
    /// Ends the reading after the first entry.
    const ENOUGH: &str = "enough was seen";
    let bounds = Bounds::default();
    let mut found = false;
    let mut reader = opened(file, size, &bounds)?;
    let looked = each(&mut reader, &bounds, |member| {
        let parts = member.path.split(|byte| *byte == b'/').find(|part| !matches!(*part, b"" | b"."));
        let Some(first) = parts else { return Ok(()) };
        found = is_part_of_image(first);
        Err(ImageError::NotFound(ENOUGH.to_owned()))
    });
    match looked {
        Err(ImageError::NotFound(why)) if why == ENOUGH => Ok(found),
        Err(error) => Err(error),
        Ok(()) => Ok(false),
    }
}

fn is_part_of_image(first: &[u8]) -> bool {
    const NAMES: [&[u8]; 5] = [b"oci-layout", b"index.json", b"blobs", b"manifest.json", b"repositories"];
    let text = std::str::from_utf8(first).unwrap_or_default();
    let stem = text.strip_suffix(".json").or_else(|| text.strip_suffix(".tar")).unwrap_or(text);
    NAMES.contains(&first) || Digest::from_hex(stem).is_some()
}
