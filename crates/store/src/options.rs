//! What whoever opens a store may choose.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_audit::Head;
use bailiwick_sys::clock;

use crate::records::StoredRecord;

/// What an acknowledged write has survived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// A crash of this process at any instant; a crash of the machine 50 ms later.
    Process,
    /// A crash of the machine at any instant.
    Machine,
}

/// Where signed heads go besides the store.
#[derive(Clone)]
pub enum Witness {
    /// A file to which each head is appended as a line.
    File(PathBuf),
    /// Whoever wants to send them on. It is called by the thread that writes, so it must hand over and return.
    Custom(Arc<dyn Fn(&Head) + Send + Sync>),
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "File({})", path.display()),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

/// Somebody who hears of every record, in order, once it is committed.
///
/// It is called by the thread that writes, so it must hand over and return.
pub trait Hears: Send + Sync {
    /// Whether it wants to be told. Where it does not, nothing is kept for it.
    fn is_listening(&self) -> bool;

    /// Takes records that were committed.
    fn hear(&self, records: Vec<StoredRecord>);
}

/// How a store behaves.
#[derive(Clone)]
pub struct Options {
    /// Witnesses besides the file `audit.heads` in the data folder.
    pub witnesses: Vec<Witness>,
    /// A head is signed after this many records.
    pub head_every: u64,
    /// A head is signed when a record has waited this long for one.
    pub head_after: Duration,
    /// How many writes may wait; whoever comes then waits for a place.
    pub queue: usize,
    /// How many reads go on at once.
    pub readers: usize,
    /// Who hears of what is committed.
    pub hears: Option<Arc<dyn Hears>>,
    /// Milliseconds since 1970, now.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            witnesses: Vec::new(),
            head_every: 256,
            head_after: Duration::from_mins(1),
            queue: 1024,
            readers: 4,
            hears: None,
            clock: Arc::new(|| u64::try_from(clock::realtime().as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { witnesses, head_every, head_after, queue, readers, hears: _, clock: _ } = self;
        f.debug_struct("Options")
            .field("witnesses", witnesses)
            .field("head_every", head_every)
            .field("head_after", head_after)
            .field("queue", queue)
            .field("readers", readers)
            .finish_non_exhaustive()
    }
}
