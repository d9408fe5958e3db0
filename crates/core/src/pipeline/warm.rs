//! Tools that were found ready to be called, kept for as long as nothing about any tool may have changed.
//!
//! Nothing runs on the word of this alone: the transaction that puts the intent on the record looks whether the store
//! is in the same edition, and what others did to the file counts there, too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_audit::ToolRef;
use bailiwick_store::Edition;

use super::Ready;

/// The most tools that are kept.
const MOST: usize = 1024;

/// A tool that was ready in one edition of the store.
pub(crate) struct Kept {
    pub(crate) edition: Edition,
    pub(crate) ready: Ready,
    /// As a record names it.
    pub(crate) tool: ToolRef,
}

/// The tools that were ready, by what they were asked for by.
#[derive(Default)]
pub(crate) struct Warm(Mutex<HashMap<String, Arc<Kept>>>);

impl Warm {
    /// A tool that was ready in this edition.
    pub(super) fn find(&self, key: &str, edition: Edition) -> Option<Arc<Kept>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).filter(|kept| kept.edition == edition).cloned()
    }

    /// Keeps a tool. Only one whose calls wait for nobody: the others are looked at anew, whenever they are called.
    pub(super) fn keep(&self, key: String, one: Kept) {
        if one.ready.standing.needs_approval {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, Arc::new(one));
    }
}
