//! The one handle on a sandbox that is handed out. Dropping it ends the sandbox, whoever still talks to it.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{
    Command, Doing, Entry, ExecResult, ExecUsage, Put, Reset, Running, Sandbox, SandboxError, SandboxPath,
    SandboxSpec, Snapshot,
};
use bailiwick_types::{Receipt, SandboxId};
use bytes::Bytes;

use crate::{Attended, Wall, exec, files, ports};

/// The handle on a sandbox.
#[derive(Debug)]
pub struct Handle<W: Wall>(Arc<Attended<W>>);

impl<W: Wall> Handle<W> {
    /// The handle for whoever asked for it.
    pub const fn new(attended: Arc<Attended<W>>) -> Self {
        Self(attended)
    }
}

impl<W: Wall> Drop for Handle<W> {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl<W: Wall> Sandbox for Handle<W> {
    fn id(&self) -> SandboxId {
        self.0.id
    }

    fn backend(&self) -> &str {
        self.0.wall.backend()
    }

    fn spec(&self) -> &SandboxSpec {
        &self.0.spec
    }

    fn receipt(&self) -> &Receipt {
        &self.0.receipt
    }

    fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    fn spawn(&self, command: Command) -> Doing<'_, Result<Running, SandboxError>> {
        Box::pin(async { exec::spawn(self.0.clone(), command) })
    }

    fn exec(&self, command: Command) -> Doing<'_, Result<ExecResult, SandboxError>> {
        Box::pin(async move {
            let finished = exec::run(&self.0, command).await?;
            Ok(ExecResult::new(self, finished, self.0.correlation()))
        })
    }

    fn write_file<'a>(
        &'a self,
        path: &'a SandboxPath,
        bytes: Bytes,
        executable: bool,
    ) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(files::write(&self.0, path, bytes, executable))
    }

    fn put<'a>(&'a self, path: &'a SandboxPath, what: Put) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(files::put(&self.0, path, what))
    }

    fn read_file<'a>(&'a self, path: &'a SandboxPath, most: u64) -> Doing<'a, Result<Bytes, SandboxError>> {
        Box::pin(files::read(&self.0, path, most))
    }

    fn list<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<Vec<Entry>, SandboxError>> {
        Box::pin(files::list(&self.0, path))
    }

    fn remove<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(files::remove(&self.0, path))
    }

    fn expose(&self, port: u16) -> Doing<'_, Result<u16, SandboxError>> {
        Box::pin(ports::expose(&self.0, port))
    }

    fn written_over(&self, to: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        self.0.wall.written_over(&self.0, to)
    }

    fn snapshot(&self) -> Doing<'_, Result<Snapshot, SandboxError>> {
        let keep = |me: Arc<Attended<W>>| async move { me.wall.snapshot(&me).await };
        // Nobody knows its id.
        let untaken = |me: &Attended<W>, snapshot: Snapshot| {
            if let Err(error) = me.wall.forget(&snapshot) {
                tracing::warn!(%error, id = %snapshot.id, "a snapshot that nobody waited for stays");
            }
        };
        Box::pin(self.0.to_the_end("keep", keep, untaken))
    }

    fn hibernate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.0.sleep())
    }

    fn resume(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.0.wake())
    }

    fn fork(&self) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        let fork = |me: Arc<Attended<W>>| async move { me.wall.fork(&me).await };
        // One that is dropped ends.
        Box::pin(self.0.to_the_end("fork", fork, |_, _: Box<dyn Sandbox>| ()))
    }

    fn usage(&self) -> Doing<'_, Result<ExecUsage, SandboxError>> {
        Box::pin(self.0.usage())
    }

    fn stop(&self, grace: Duration) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.0.stop(grace))
    }

    fn terminate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async {
            self.0.end().await;
            Ok(())
        })
    }

    fn reset(&self) -> Doing<'_, Result<Reset, SandboxError>> {
        Box::pin(self.0.reset())
    }

    fn is_alive(&self) -> bool {
        self.0.is_alive()
    }
}
