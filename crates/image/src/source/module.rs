//! A program in WebAssembly becomes a layer with one file in it. What is in that file is for whoever runs it to read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::sync::Arc;

use tar::{Builder, EntryType, Header};

use super::pack::Into;
use super::{Place, layer};
use crate::ImageError;
use crate::bounds::Spending;
use crate::manifest::Descriptor;
use crate::progress::{Phase, Steps, Watcher};
use crate::store::{Arriving, Places};
use crate::unpack::unwrapped;

/// What such a program begins with.
const BEGINNING: &[u8; 4] = b"\0asm";
/// The name of the file in its image.
const NAME: &str = "module.wasm";

/// Whether a file is one, by its first bytes. It is read from its beginning again afterwards.
pub(super) fn is_one(file: &mut File) -> io::Result<bool> {
    let mut found = Vec::with_capacity(BEGINNING.len());
    file.take(BEGINNING.len() as u64).read_to_end(&mut found)?;
    file.rewind()?;
    Ok(found == BEGINNING)
}

/// Copies one into the store.
pub(super) fn pack(
    place: &Place,
    places: &Arc<Places>,
    spending: &mut Spending,
    watcher: &Watcher,
) -> Result<Descriptor, ImageError> {
    let (file, size) = place.open()?;
    let steps = Steps::new(watcher, Phase::Reading, Some(size));
    let arriving = Arriving::begin(places, NAME, None)?;
    let mut archive = Builder::new(Into { arriving, spending, steps });
    let broken = |error| unwrapped(NAME, error);
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(size);
    header.set_mode(0o644);
    // The same file is the same image, whenever and by whomever it is imported.
    header.set_mtime(0);
    let mut counted = Counted { file: file.take(size), read: 0 };
    archive.append_data(&mut header, NAME, &mut counted).map_err(broken)?;
    if counted.read != size {
        return Err(place.fault("it changed while it was read".to_owned()));
    }
    let into = archive.into_inner().map_err(broken)?;
    let (digest, size) = into.arriving.keep(None)?;
    Ok(layer(digest, size))
}

/// Counts what is read.
struct Counted {
    file: io::Take<File>,
    read: u64,
}

impl io::Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.read += read as u64;
        Ok(read)
    }
}
