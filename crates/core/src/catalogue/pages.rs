//! Pages of offered tools that were read, kept for as long as nothing about any tool may have changed.
//!
//! A page is given again only in the edition of the store that it was read in, and what others did to the file counts
//! there, too. Its bytes are bounded; beyond that all are forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_store::{Durability, Edition, Store, StoreError, WriteError};

use crate::{Offered, Refusal};

/// The most bytes of pages that are kept, as JSON has them.
const MOST_BYTES: usize = 32 << 20;

/// What a page takes beside what is on it.
const AROUND: usize = 256;

/// Which page: what it begins after, and how many it holds at most.
type Which = (Option<String>, usize);

/// The pages that were read.
#[derive(Default)]
pub(crate) struct Pages(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    edition: Option<Edition>,
    pages: HashMap<Which, Arc<Vec<Offered>>>,
    bytes: usize,
}

impl Pages {
    /// A page that was read in this edition.
    pub(super) fn find(&self, edition: Edition, which: &Which) -> Option<Arc<Vec<Offered>>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.pages.get(which).filter(|_| kept.edition == Some(edition)).cloned()
    }

    /// Keeps a page, which was read after its edition was known.
    pub(super) fn keep(&self, edition: Edition, which: Which, page: Vec<Offered>) -> Arc<Vec<Offered>> {
        let page = Arc::new(page);
        // Whoever asks chooses where a page begins, so that counts as well. What cannot be counted is not kept.
        let asked = which.0.as_ref().map_or(0, String::len).saturating_add(AROUND);
        let bytes = serde_json::to_vec(&*page).map_or(usize::MAX, |json| json.len()).saturating_add(asked);
        if bytes > MOST_BYTES {
            return page;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.edition != Some(edition) || kept.bytes.saturating_add(bytes) > MOST_BYTES {
            *kept = Kept { edition: Some(edition), ..Kept::default() };
        }
        if kept.pages.insert(which, Arc::clone(&page)).is_none() {
            kept.bytes += bytes;
        }
        page
    }
}

/// A look at the store that leaves nothing there.
enum Looked {
    At(Edition),
    Failed(StoreError),
}

impl From<StoreError> for Looked {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// The edition that the tools are in, whoever changed the file. Only the one connection that writes can tell.
pub(super) async fn edition(store: &Store) -> Result<Edition, Refusal> {
    // A job that is undone costs no disk.
    let looking =
        store.write(Durability::Process, |tx| -> Result<(), Looked> { Err(Looked::At(tx.edition()?)) });
    match looking.await {
        Err(WriteError::Job(Looked::At(edition))) => Ok(edition),
        Err(WriteError::Job(Looked::Failed(error)) | WriteError::Store(error)) => Err(error.into()),
        Ok(()) | Err(WriteError::Panicked) => Err(Refusal::internal("tool.offered")),
    }
}
