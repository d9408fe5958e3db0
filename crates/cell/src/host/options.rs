//! How many cells, and how strict.

use std::time::Duration;

use bailiwick_engine::Breadth;

use crate::nursery::Asked;

/// What is demanded of the walls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Demand {
    /// At least: own process, filtered system calls, no files, no network. The default.
    #[default]
    Floor,
    /// Whatever can be had, even if it is less than that; every receipt says so.
    InsecureIfNeeded,
    /// No walls. For the test that proves the attacks, in builds with the feature `hollow`.
    #[cfg(feature = "hollow")]
    Hollow,
}

impl Demand {
    pub(super) const fn asked(self) -> Asked {
        match self {
            Self::Floor => Asked::Walled,
            Self::InsecureIfNeeded => Asked::Insecure,
            #[cfg(feature = "hollow")]
            Self::Hollow => Asked::Hollow,
        }
    }
}

/// How many cells, and how strict.
///
/// Defaults: 8 parked cells, 64 calls at once, 256 waiting for at most 5 s, a nursery serves 20 000 calls or 10
/// minutes, 2 GiB of memory for all cells of a tenant together where there are cgroups, at most 16 tenants at a time,
/// walls at least as high as the floor.
#[derive(Debug, Clone)]
pub struct Options {
    /// Cells kept ready ahead of need, per tenant; with none, each call waits for its fork.
    pub parked: usize,
    /// Calls that run at once, over all tenants.
    pub at_once: usize,
    /// Calls that may wait for their turn; beyond that the answer is `BUSY`.
    pub waiting: usize,
    /// How long a call waits for its turn.
    pub patience: Duration,
    /// Calls after which a nursery is replaced.
    pub calls_per_nursery: u64,
    /// Age at which a nursery is replaced.
    pub nursery_age: Duration,
    /// Memory of all cells of a nursery together, where a cgroup can be had; without it each call is bounded alone.
    pub memory: Option<u64>,
    /// Nurseries kept at once; the one idle longest makes room.
    pub tenants: usize,
    /// How much of the engine a nursery builds ahead.
    pub breadth: Breadth,
    /// What is demanded of the walls.
    pub demand: Demand,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            parked: 8,
            at_once: 64,
            waiting: 256,
            patience: Duration::from_secs(5),
            calls_per_nursery: 20_000,
            nursery_age: Duration::from_mins(10),
            memory: Some(2 << 30),
            tenants: 16,
            breadth: Breadth::All,
            demand: Demand::Floor,
        }
    }
}

/// Whose calls: cells of different tenants never come from the same nursery.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(String);

impl Tenant {
    /// A tenant by name; the default one has none.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}
