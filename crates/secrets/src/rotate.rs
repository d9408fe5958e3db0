//! A change of key, in steps each of which leaves a store that can be opened.
//!
//! 1. The new key is kept beside the old one.
//! 2. The store is written anew under the new key, in one step, and read back.
//! 3. The old key is forgotten.
//!
//! Stopped anywhere, the place of the key holds one that opens the store. The next change drops the one left over.

use crate::error::SecretsError;
use crate::key::{Key, Keys};
use crate::place;
use crate::secrets::{FILE, Found, Secrets, find};

/// A step that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Both keys are kept.
    BothKeys,
    /// The store is under the new key.
    StoreWritten,
    /// Only the new key is kept.
    OldKeyForgotten,
}

impl Secrets {
    /// Seals everything anew under a new key. The old key opens only what was copied away before.
    pub fn rotate_key(&self) -> Result<(), SecretsError> {
        self.rotate_key_watched(|_| Ok(()))
    }

    /// The same, stopped where `watch` fails.
    pub(crate) fn rotate_key_watched(
        &self,
        mut watch: impl FnMut(Stage) -> Result<(), SecretsError>,
    ) -> Result<(), SecretsError> {
        // Nothing is made on the disk where there is nothing to change.
        if self.key_place()?.is_none() {
            self.snapshot()?;
            return Err(SecretsError::NoStore);
        }
        let (data, folder) = self.lock_to_write()?;
        let Some(Found { keys, place, store: Some((store, old)) }) = find(&data, &folder)? else {
            return Err(SecretsError::NoStore);
        };
        let path = folder.path_of(FILE);
        // One that a stopped change left over goes here.
        let keys = keys.only(old);
        let mut content = match keys.by_id(old) {
            Some(key) => store.content(key, &path)?,
            None => return Err(SecretsError::Seal),
        };
        content.generation = content.generation.saturating_add(1);
        let fresh = Key::fresh()?;
        let new = fresh.id();
        let sealed = content.seal(&fresh)?;
        let both: Keys = keys.and(fresh);
        place::keep(&data, &place, &both)?;
        watch(Stage::BothKeys)?;

        folder.replace(FILE, &sealed)?;
        watch(Stage::StoreWritten)?;

        // What is on the disk must open before the way back is cut off.
        let Some(Found { keys, place, store: Some((store, id)) }) = find(&data, &folder)? else {
            return Err(SecretsError::Seal);
        };
        let opened = keys.by_id(new).filter(|_| id == new).map(|key| store.content(key, &path));
        opened.ok_or(SecretsError::Seal)??;
        place::keep(&data, &place, &keys.only(new))?;
        watch(Stage::OldKeyForgotten)
    }
}
