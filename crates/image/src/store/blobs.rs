//! Content by its digest. A blob gets its name after all of it came, was counted and had that digest; before that it is
//! a nameless thing in staging that goes when its value does.

use std::ffi::CString;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use bailiwick_sys::beneath;

use super::places::{Places, name, read};
use crate::bounds::Spending;
use crate::digest::Digesting;
use crate::{Digest, ImageError};

impl Places {
    /// A blob and its length; none when it is not here.
    pub(crate) fn blob(&self, digest: &Digest) -> Result<Option<(File, u64)>, ImageError> {
        read(self.blobs(), &name(&digest.hex())?)
    }

    /// A small blob, all of it, checked again. It has to be here.
    pub(crate) fn small_blob(&self, what: &str, digest: &Digest, most: u64) -> Result<Vec<u8>, ImageError> {
        let bytes = Self::small(self.blobs(), &name(&digest.hex())?, most)?;
        let bytes = bytes.ok_or_else(|| ImageError::malformed(what, "it is not in the store any more"))?;
        let found = Digest::of(&bytes);
        if found != *digest {
            return Err(ImageError::Digest { what: what.to_owned(), expected: *digest, found });
        }
        Ok(bytes)
    }

    /// Keeps bytes as a blob.
    pub(crate) fn keep_blob(&self, bytes: &[u8], spending: &mut Spending) -> Result<Digest, ImageError> {
        let digest = Digest::of(bytes);
        if self.blob(&digest)?.is_none() {
            spending.store(bytes.len() as u64)?;
            self.replace(self.blobs(), &name(&digest.hex())?, bytes)?;
        }
        Ok(digest)
    }
}

/// A blob that is coming.
#[derive(Debug)]
pub(crate) struct Arriving {
    places: Arc<Places>,
    staged: CString,
    file: File,
    digest: Digesting,
    bytes: u64,
    /// What it is, for messages.
    what: String,
    /// As long as it was declared to be; none where nobody said.
    declared: Option<u64>,
    settled: bool,
}

impl Arriving {
    pub(crate) fn begin(places: &Arc<Places>, what: &str, declared: Option<u64>) -> Result<Self, ImageError> {
        let (staged, file) = places.stage_file()?;
        let places = Arc::clone(places);
        let digest = Digesting::default();
        Ok(Self { places, staged, file, digest, bytes: 0, what: what.to_owned(), declared, settled: false })
    }

    /// How much of it is here.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next of its bytes. More than were declared, or than the store may take, are not written.
    pub(crate) fn take(&mut self, bytes: &[u8], spending: &mut Spending) -> Result<(), ImageError> {
        let after = self.bytes.saturating_add(bytes.len() as u64);
        if let Some(declared) = self.declared.filter(|declared| after > *declared) {
            return Err(ImageError::Size {
                what: self.what.clone(),
                declared,
                found: declared.saturating_add(1),
            });
        }
        spending.store(bytes.len() as u64)?;
        self.file.write_all(bytes).map_err(ImageError::io("write a blob"))?;
        self.digest.update(bytes);
        self.bytes = after;
        Ok(())
    }

    /// It begins again from nothing.
    pub(crate) fn again(&mut self, spending: &mut Spending) -> Result<(), ImageError> {
        use std::io::Seek as _;
        let step = "begin a blob again";
        self.file.set_len(0).map_err(ImageError::io(step))?;
        self.file.rewind().map_err(ImageError::io(step))?;
        spending.give_back(self.bytes);
        self.digest = Digesting::default();
        self.bytes = 0;
        Ok(())
    }

    /// All of it came: it gets its name, if it is what it should be.
    pub(crate) fn keep(mut self, expected: Option<&Digest>) -> Result<(Digest, u64), ImageError> {
        if let Some(declared) = self.declared.filter(|declared| self.bytes != *declared) {
            return Err(ImageError::Size { what: self.what.clone(), declared, found: self.bytes });
        }
        let found = std::mem::take(&mut self.digest).finish();
        if let Some(expected) = expected.filter(|expected| **expected != found) {
            return Err(ImageError::Digest { what: self.what.clone(), expected: *expected, found });
        }
        beneath::sync(&self.file).map_err(ImageError::sys("write a blob"))?;
        self.places.settle(&self.staged, self.places.blobs(), &name(&found.hex())?)?;
        self.settled = true;
        Ok((found, self.bytes))
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if !self.settled
            && let Err(error) = self.places.throw_away(&self.staged)
        {
            // It is swept when the store is opened next.
            tracing::warn!(%error, "an unfinished blob stays for now");
        }
    }
}
