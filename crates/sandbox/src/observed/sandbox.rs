//! A sandbox that is told about. Its end is told once, whether it was asked for or came by dropping.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bailiwick_types::{Receipt, SandboxId};
use bytes::Bytes;
use tokio::sync::oneshot;

use super::teller::{Teller, Words};
use crate::{
    Command, Doing, Entry, EventKind, ExecResult, ExecUsage, Put, Reset, Running, Sandbox, SandboxError,
    SandboxPath, SandboxSpec, Snapshot,
};

#[derive(Debug)]
pub(super) struct ObservedSandbox {
    inner: Box<dyn Sandbox>,
    teller: Teller,
    closed: AtomicBool,
}

impl ObservedSandbox {
    pub(super) fn boxed(inner: Box<dyn Sandbox>, teller: Teller) -> Box<dyn Sandbox> {
        Box::new(Self { inner, teller, closed: AtomicBool::new(false) })
    }

    fn tell_close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.teller.tell(EventKind::Close, None);
        }
    }

    /// Tells where something was done.
    fn told<T>(&self, done: Result<T, SandboxError>, kind: EventKind) -> Result<T, SandboxError> {
        if done.is_ok() {
            self.teller.tell(kind, None);
        }
        done
    }
}

impl Drop for ObservedSandbox {
    fn drop(&mut self) {
        self.tell_close();
    }
}

impl Sandbox for ObservedSandbox {
    fn id(&self) -> SandboxId {
        self.inner.id()
    }

    fn backend(&self) -> &str {
        self.inner.backend()
    }

    fn spec(&self) -> &SandboxSpec {
        self.inner.spec()
    }

    fn receipt(&self) -> &Receipt {
        self.inner.receipt()
    }

    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }

    fn spawn(&self, command: Command) -> Doing<'_, Result<Running, SandboxError>> {
        Box::pin(async move {
            let words = self.teller.words(&command);
            match self.inner.spawn(command).await {
                Ok(running) => Ok(followed(running, self.teller.clone(), words)),
                Err(error) => {
                    self.teller.tell_failed(&words, &error.to_string());
                    Err(error)
                }
            }
        })
    }

    fn exec(&self, command: Command) -> Doing<'_, Result<ExecResult, SandboxError>> {
        Box::pin(async move {
            let mut pending = Pending { teller: &self.teller, words: Some(self.teller.words(&command)) };
            let result = self.inner.exec(command).await;
            if let Some(words) = pending.words.take() {
                self.teller.tell_result(&words, &result);
            }
            result
        })
    }

    fn write_file<'a>(
        &'a self,
        path: &'a SandboxPath,
        bytes: Bytes,
        executable: bool,
    ) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move {
            let written = self.inner.write_file(path, bytes, executable).await;
            if let Err(error) = &written {
                self.teller.tell_breach(error);
            }
            written
        })
    }

    fn put<'a>(&'a self, path: &'a SandboxPath, what: Put) -> Doing<'a, Result<(), SandboxError>> {
        self.inner.put(path, what)
    }

    fn read_file<'a>(&'a self, path: &'a SandboxPath, most: u64) -> Doing<'a, Result<Bytes, SandboxError>> {
        self.inner.read_file(path, most)
    }

    fn list<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<Vec<Entry>, SandboxError>> {
        self.inner.list(path)
    }

    fn remove<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<(), SandboxError>> {
        self.inner.remove(path)
    }

    fn expose(&self, port: u16) -> Doing<'_, Result<u16, SandboxError>> {
        self.inner.expose(port)
    }

    fn written_over(&self, to: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        self.inner.written_over(to)
    }

    fn snapshot(&self) -> Doing<'_, Result<Snapshot, SandboxError>> {
        Box::pin(async move {
            let snapshot = self.inner.snapshot().await?;
            self.teller.tell(EventKind::Snapshot, Some(&snapshot.id.to_string()));
            Ok(snapshot)
        })
    }

    fn hibernate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async move { self.told(self.inner.hibernate().await, EventKind::Hibernate) })
    }

    fn resume(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async move { self.told(self.inner.resume().await, EventKind::Resume) })
    }

    fn fork(&self) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async move {
            let other = self.inner.fork().await?;
            let teller = self.teller.of(other.as_ref());
            teller.tell(EventKind::Create, Some(&format!("from {}", self.inner.id())));
            Ok(Self::boxed(other, teller))
        })
    }

    fn usage(&self) -> Doing<'_, Result<ExecUsage, SandboxError>> {
        self.inner.usage()
    }

    fn stop(&self, grace: Duration) -> Doing<'_, Result<(), SandboxError>> {
        self.inner.stop(grace)
    }

    fn terminate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async move {
            self.inner.terminate().await?;
            self.tell_close();
            Ok(())
        })
    }

    fn reset(&self) -> Doing<'_, Result<Reset, SandboxError>> {
        self.inner.reset()
    }

    fn is_alive(&self) -> bool {
        self.inner.is_alive()
    }
}

/// A command that is told about when it ends, whoever waits for it.
fn followed(running: Running, teller: Teller, words: Words) -> Running {
    let Running { input, urgent, output, ended } = running;
    let (to, from) = oneshot::channel();
    tokio::spawn(async move {
        match ended.await {
            Ok(ended) => {
                teller.tell_ended(&words, &ended);
                // Nobody may be waiting any more.
                to.send(ended).unwrap_or_default();
            }
            Err(_) => teller.tell_failed(&words, "nobody told how it ended"),
        }
    });
    Running { input, urgent, output, ended: from }
}

/// A command that somebody waits for. Where they stop, that is told.
struct Pending<'a> {
    teller: &'a Teller,
    words: Option<Words>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(words) = self.words.take() {
            self.teller.tell_failed(&words, "nobody waited for its end");
        }
    }
}
