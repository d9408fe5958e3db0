//! How much an image may cost. Each bound is looked at before what it bounds is spent, and none can be turned off.

use crate::ImageError;

/// The bounds of one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of all its files, unpacked; holes count like bytes.
    pub bytes: u64,
    /// Files, folders, links and whiteouts of all layers together.
    pub entries: u64,
    /// Bytes of one path.
    pub path: usize,
    /// Names in one path.
    pub depth: usize,
    /// How often larger a layer may become by being unpacked, beyond [`Bounds::free`].
    pub ratio: u64,
    /// So many bytes of a layer are unpacked whatever they were packed to.
    pub free: u64,
    /// Layers.
    pub layers: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bytes: 16 * 1024 * 1024 * 1024,
            entries: 1_000_000,
            path: 4095,
            depth: 100,
            ratio: 200,
            free: 64 * 1024 * 1024,
            layers: 128,
        }
    }
}

/// What one image has spent of its bounds, and of what is left of the store.
#[derive(Debug)]
pub(crate) struct Spending {
    bounds: Bounds,
    /// What the store may take, and what it takes by now.
    most: u64,
    used: u64,
    bytes: u64,
    entries: u64,
}

/// What a name costs on the disk at least.
const ENTRY: u64 = 512;

impl Spending {
    pub(crate) fn new(bounds: Bounds, most: u64, used: u64) -> Self {
        Self { bounds, most, used, bytes: 0, entries: 0 }
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Bytes of the store that are about to be written.
    pub(crate) fn store(&mut self, bytes: u64) -> Result<(), ImageError> {
        let used = self.used.saturating_add(bytes);
        if used > self.most {
            return Err(ImageError::Full { most: self.most });
        }
        self.used = used;
        Ok(())
    }

    /// Bytes that were written and are gone again.
    pub(crate) fn give_back(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// One more entry.
    pub(crate) fn entry(&mut self) -> Result<(), ImageError> {
        self.entries += 1;
        if self.entries > self.bounds.entries {
            return Err(ImageError::Bound { what: "more files", most: self.bounds.entries });
        }
        self.store(ENTRY)
    }

    /// Bytes of a file that are about to be written.
    pub(crate) fn file(&mut self, bytes: u64) -> Result<(), ImageError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.bounds.bytes {
            return Err(ImageError::Bound { what: "more bytes of files", most: self.bounds.bytes });
        }
        self.store(bytes)
    }

    /// What the unpacked files take.
    pub(crate) fn spent(&self) -> u64 {
        self.bytes.saturating_add(self.entries.saturating_mul(ENTRY))
    }
}
