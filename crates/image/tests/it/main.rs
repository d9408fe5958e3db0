//! Images as their store takes them: from all sources, hostile ones first.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test ends at what it did not expect")]

mod hostile;
mod keychains;
mod layers;
mod made;
mod ordinary;
mod pulls;
mod registry;
mod sources;
mod stores;
