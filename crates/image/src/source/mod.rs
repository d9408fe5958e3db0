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
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sys::beneath;
use bailiwick_sys::held::HeldFile;

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
    Folder(Place),
    /// An OCI layout that is a folder.
    Layout(Place),
    /// An archive of an OCI layout, or what `docker save` wrote.
    Archive(Place),
    /// An archive of a root file system, as `mmdebstrap` and `docker export` make.
    RootFs(Place),
    /// A program in WebAssembly: the one file of its image.
    Module(Place),
}

impl Source {
    /// What lies at a path, by its look.
    pub fn at(path: &Path) -> Result<Self, ImageError> {
        let told = |error: std::io::Error| at_fault(path, error.to_string());
        let is_folder = std::fs::metadata(path).map_err(told)?.is_dir();
        let is_layout = path.join("oci-layout").is_file() && path.join("index.json").is_file();
        Self::by_its_look(path.to_owned().into(), is_folder, is_layout)
    }

    /// What is held, by its look. Nothing is looked up by its path.
    pub fn held(source: HeldFile) -> Result<Self, ImageError> {
        let path = source.real_path().map_err(|errno| at_fault(Path::new("/"), errno.to_string()))?;
        let has = |name: &str| source.beneath(Path::new(name)).is_ok_and(|found| found.is_file());
        let is_folder = source.is_directory();
        let is_layout = is_folder && has("oci-layout") && has("index.json");
        Self::by_its_look(Place { path, held: Some(source) }, is_folder, is_layout)
    }

    fn by_its_look(place: Place, is_folder: bool, is_layout: bool) -> Result<Self, ImageError> {
        if is_folder {
            return Ok(if is_layout { Self::Layout(place) } else { Self::Folder(place) });
        }
        let (mut file, size) = place.open()?;
        if module::is_one(&mut file).map_err(|error| place.fault(error.to_string()))? {
            return Ok(Self::Module(place));
        }
        Ok(if is_archive_of_image(file, size)? { Self::Archive(place) } else { Self::RootFs(place) })
    }
}

/// A file or folder that an image is taken from: by its path, or by its descriptor where one is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    held: Option<HeldFile>,
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Self { path, held: None }
    }
}

impl Place {
    fn fault(&self, why: String) -> ImageError {
        at_fault(&self.path, why)
    }

    /// Opens a regular file; gives its length too.
    fn open(&self) -> Result<(File, u64), ImageError> {
        let Some(held) = &self.held else { return open(&self.path) };
        let (file, seen) = beneath::read_again(held).map_err(|errno| self.fault(errno.to_string()))?;
        Ok((file, seen.size))
    }

    /// Opens a folder.
    fn list(&self) -> Result<OwnedFd, ImageError> {
        let opened = match &self.held {
            Some(held) => held.list(),
            None => beneath::hold(&self.path),
        };
        opened.map_err(|errno| self.fault(errno.to_string()))
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
        Source::Folder(place) => Ok(Found::Files(pack::pack(place, places, spending, watcher)?)),
        Source::RootFs(place) => {
            let (file, size) = place.open()?;
            let mut steps = Steps::new(watcher, Phase::Reading, Some(size));
            let what = place.path.display().to_string();
            let (digest, size) = copied(file, &what, None, Some(size), places, spending, &mut steps)?;
            Ok(Found::Files(layer(digest, size)))
        }
        Source::Module(place) => Ok(Found::Files(module::pack(place, places, spending, watcher)?)),
        Source::Layout(place) => {
            let parts = parts::Parts::Folder(place.list()?);
            layout::gather(&parts, places, spending, watcher)
        }
        Source::Archive(place) => {
            let (file, size) = place.open()?;
            let parts = parts::Parts::staged(file, size, places, spending, watcher)?;
            if parts.has("oci-layout") && parts.has("index.json") {
                layout::gather(&parts, places, spending, watcher)
            } else if parts.has("manifest.json") {
                saved::gather(&parts, places, spending, watcher)
            } else {
                Err(place.fault("it holds neither an OCI layout nor what `docker save` writes".to_owned()))
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
