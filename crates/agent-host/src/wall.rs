//! What stands around an agent, as its backend holds it from outside.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use bailiwick_sandbox::{Duplex, Sandbox, SandboxError, SandboxPath, SandboxSpec, Snapshot};

use crate::{Attended, Handle};

/// What was counted for a sandbox from outside; what nobody counts is left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Account {
    /// Processes that were killed for want of memory.
    pub kills: Option<u64>,
    /// CPU time, in microseconds.
    pub cpu_us: Option<u64>,
    /// The most memory, in bytes.
    pub memory_peak: Option<u64>,
}

/// Whether everybody in a sandbox stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// They are to stand still.
    Still,
    /// They are to go on.
    Going,
}

/// Who makes everybody stand still, or go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stood {
    /// The wall did.
    ByWall,
    /// Nobody: every process has to be told by the agent.
    ByNobody,
}

/// A wall with an agent behind it. Dropping it ends everything behind it.
pub trait Wall: Send + Sync + std::fmt::Debug + Sized + 'static {
    /// The name of its backend.
    fn backend(&self) -> &str;
    /// Why nothing comes from behind it any more, where the wall knows that better than the stream.
    fn why(&self) -> Option<String> {
        None
    }
    /// Ends everything behind it, at once. Again is fine.
    fn kill(&self);
    /// Waits until all of it has ended, and what was made for it is removed.
    fn ended(&self) -> impl Future<Output = ()> + Send;
    /// What was counted so far.
    fn account(&self) -> impl Future<Output = Account> + Send;
    /// Looks for the most memory anew.
    fn forget_peak(&self);
    /// Makes everybody stand still, or go on.
    fn stand(
        &self,
        attended: &Attended<Self>,
        how: Stand,
    ) -> impl Future<Output = Result<Stood, String>> + Send;
    /// Why nothing behind it can be put to sleep, where that is so.
    fn never_sleeps(&self) -> Option<String> {
        None
    }
    /// A connection to a port inside.
    fn connect(
        &self,
        attended: &Attended<Self>,
        port: u16,
    ) -> impl Future<Output = Result<Box<dyn Duplex>, SandboxError>> + Send;
    /// What would be left after a reset of a sandbox like this, where that is known without a look.
    fn stays(&self, spec: &SandboxSpec) -> Option<String>;
    /// Keeps the state of a sandbox.
    fn snapshot(
        &self,
        attended: &Attended<Self>,
    ) -> impl Future<Output = Result<Snapshot, SandboxError>> + Send;
    /// Removes a state that was kept.
    fn forget(&self, snapshot: &Snapshot) -> Result<(), SandboxError>;
    /// Makes another sandbox of the same backend.
    fn another(
        &self,
        spec: SandboxSpec,
    ) -> impl Future<Output = Result<Arc<Attended<Self>>, SandboxError>> + Send;
    /// Another sandbox of the same spec that begins with the state of this one, which is kept for that only.
    fn fork(
        &self,
        attended: &Attended<Self>,
    ) -> impl Future<Output = Result<Box<dyn Sandbox>, SandboxError>> + Send {
        async {
            let snapshot = self.snapshot(attended).await?;
            let spec = SandboxSpec { snapshot: Some(snapshot.clone()), ..attended.spec.clone() };
            let made = self.another(spec).await;
            let forgotten = self.forget(&snapshot);
            let made = made?;
            forgotten?;
            Ok(Box::new(Handle::new(made)) as Box<dyn Sandbox>)
        }
    }
    /// The folder that holds what was written over the overlay at `to`.
    fn written_over(&self, attended: &Attended<Self>, to: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        let _ = attended;
        Err(SandboxError::Unsupported {
            backend: self.backend().to_owned(),
            what: format!("changes at {to}: no overlay is there"),
        })
    }
}
