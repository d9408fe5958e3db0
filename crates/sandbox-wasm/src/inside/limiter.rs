//! How much a guest may hold: its linear memories, its tables and what its exceptions live in, all together.

use wasmtime::{ResourceLimiter, Result};

/// What an element of a table takes.
const ELEMENT: usize = size_of::<usize>();
/// The most memories: each takes a stretch of addresses, and nobody's compiler makes more than one or two.
const MEMORIES: usize = 32;
/// The most tables.
const TABLES: usize = 64;
/// The most instances: a component has one for each module in it.
const INSTANCES: usize = 256;

/// Counts, and refuses what is above the bound.
#[derive(Debug)]
pub(crate) struct Limiter {
    most: u64,
    held: u64,
    /// Whether anything was refused.
    pub(crate) refused: bool,
}

impl Limiter {
    /// So many bytes.
    pub(crate) const fn new(most: u64) -> Self {
        Self { most, held: 0, refused: false }
    }

    fn grow(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> bool {
        // The engine refuses this anyway, and then it is nothing that is held.
        if maximum.is_some_and(|maximum| desired > maximum) {
            return true;
        }
        let more = u64::try_from(desired.saturating_sub(current)).unwrap_or(u64::MAX);
        let held = self.held.saturating_add(more);
        if held > self.most {
            self.refused = true;
            return false;
        }
        self.held = held;
        true
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        Ok(self.grow(current, desired, maximum))
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> Result<()> {
        self.refused = true;
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        let bytes = |elements: usize| elements.saturating_mul(ELEMENT);
        Ok(self.grow(bytes(current), bytes(desired), maximum.map(bytes)))
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}
