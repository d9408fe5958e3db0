//! What an owner needs to know of whoever performs actions: how to open it, ask it and close it.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use super::lock::Ownership;
use crate::{Action, Caller, Core, Refusal, Reply};

/// A future in a box.
pub type Boxed<T> = BoxFuture<'static, T>;

/// A future behind a pointer. What crosses a crate's border is one: the state machine behind it is then compiled in that crate once, and
/// not again in every crate that awaits it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Performs actions on a data folder that this process owns.
pub trait Performs: Send + Sync + 'static {
    /// Performs one action. It is polled in a task of its own, so a panic in it is its own. Where the future is
    /// dropped the action ends: cells are killed, and what was not written yet is not written.
    fn perform(&self, caller: Caller, action: Action) -> Boxed<Result<Reply, Refusal>>;

    /// What a person should know of: heads that reached no witness, records that somebody cut off or added.
    fn troubles(&self) -> Vec<String> {
        Vec::new()
    }

    /// The core behind it, for whoever serves others beside performing actions; none where there is none.
    fn core(&self) -> Option<Core> {
        None
    }

    /// Whoever owns this is about to close: what only waits for a person, or would go on for ever, ends, so that it is
    /// not waited for.
    fn ending(&self) {}

    /// Brings everything to the disk. Nothing is performed any more when this is asked for, and nothing after it.
    fn close(&self) -> Boxed<Result<(), Refusal>>;
}

/// Can open a data folder, once this process owns it.
pub trait Opens: Send + 'static {
    /// The data folder.
    fn data(&self) -> &Path;

    /// A hash of the settings of the operator that this process was given; none where there are none.
    fn under(&self) -> Option<String> {
        None
    }

    /// Opens it. Whatever may write there after the last action ended (a thread, a task) keeps a copy of `ownership`
    /// for as long as it may: the next process begins when the last copy is gone.
    fn open(self: Box<Self>, ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>>;
}
