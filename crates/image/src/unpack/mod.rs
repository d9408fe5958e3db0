//! Layers become one tree. This is hostile ground: everything here is written for a layer whose author wants out.
//!
//! `packed` undoes the compression within bounds, `member` reads one entry of an archive after the other, `inside`
//! makes a path of a name or refuses it, `tree` does what the entry says. No link is ever followed: a way that leads
//! through one is refused, and every step on the disk is taken from a held folder. It must never write outside of the
//! folder that it was given, make a device, keep a set-user-id bit, or go on after a rule was broken.

mod inside;
mod member;
mod packed;
mod tree;

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::bounds::Spending;
use crate::digest::Watched;
use crate::progress::{Phase, Steps, Watcher};
use crate::{Digest, ImageError};

pub(crate) use member::{Kind, each};
pub(crate) use packed::{opened, unwrapped};
pub(crate) use tree::remove_tree;

/// What was in an image and is not in its tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Devices, pipes, sockets and what nobody knows.
    pub special: u64,
    /// Files whose set-user-id or set-group-id bit is gone.
    pub set_id: u64,
    /// Extended attributes, capabilities of files among them.
    pub attributes: u64,
}

/// One layer, as it lies in the store.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) file: File,
    pub(crate) size: u64,
    /// The digest that it must have when it is unpacked.
    pub(crate) diff_id: Option<Digest>,
}

/// Unpacks layers into an empty held folder, each over those before it. Gives the digest of each, unpacked.
pub(crate) fn unpack(
    root: OwnedFd,
    layers: Vec<Layer>,
    spending: &mut Spending,
    watcher: &Watcher,
) -> Result<(Vec<Digest>, LeftOut), ImageError> {
    let most = spending.bounds().layers;
    if layers.len() > most {
        return Err(ImageError::Bound { what: "more layers", most: most as u64 });
    }
    let total = layers.iter().map(|layer| layer.size).sum();
    let steps = Rc::new(RefCell::new(Steps::new(watcher, Phase::Unpacking, Some(total))));
    let mut tree = tree::Tree::new(root, spending)?;
    let mut diff_ids = Vec::new();
    for (index, layer) in layers.into_iter().enumerate() {
        let number = index + 1;
        let bounds = *tree.bounds();
        let file = Counted { file: layer.file, steps: Rc::clone(&steps) };
        let mut reader = Watched::new(opened(file, layer.size, &bounds)?);
        tree.begin(number);
        each(&mut reader, &bounds, |member| tree.take(member))?;
        rest(&mut reader, number)?;
        let (found, _) = reader.finish();
        if let Some(expected) = layer.diff_id.filter(|expected| *expected != found) {
            return Err(ImageError::Digest { what: format!("layer {number}, unpacked,"), expected, found });
        }
        diff_ids.push(found);
    }
    Ok((diff_ids, tree.left_out()))
}

/// A file whose reading is told as it goes.
struct Counted {
    file: File,
    steps: Rc<RefCell<Steps>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.steps.borrow_mut().add(read as u64);
        Ok(read)
    }
}

/// What follows the end of the archive counts for its digest and for nothing else.
fn rest(reader: &mut impl Read, number: usize) -> Result<(), ImageError> {
    io::copy(reader, &mut io::sink()).map(drop).map_err(|error| unwrapped(&format!("layer {number}"), error))
}
