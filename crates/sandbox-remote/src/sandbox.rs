//! The handle of a sandbox at a server: each thing that is done with it is one request. Dropping it ends the sandbox there.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::sandboxes::{FileWish, InputBytes};
use bailiwick_core::{Action, Reply};
use bailiwick_sandbox::{
    Command, Doing, Entry, ExecResult, ExecUsage, Put, Reset, Running, Sandbox, SandboxError, SandboxPath,
    SandboxSpec, Snapshot, run_to_end,
};
use bailiwick_types::{ErrorCode, Receipt, SandboxId};
use bytes::Bytes;

use crate::ID;
use crate::fault::strange;
use crate::place::Place;
use crate::running;

/// How long something small may take.
const SMALL: Duration = Duration::from_secs(75);
/// How long the state of all files may take.
const LARGE: Duration = Duration::from_mins(5);

/// A sandbox at a server.
#[derive(Debug)]
pub(crate) struct RemoteSandbox(Arc<Place>);

impl RemoteSandbox {
    pub(crate) const fn new(place: Arc<Place>) -> Self {
        Self(place)
    }

    fn there(&self) -> String {
        self.0.there.clone()
    }

    async fn done(&self, action: Action, within: Duration) -> Result<(), SandboxError> {
        self.0.ask(action, within).await.map(drop)
    }

    async fn files(&self, wish: FileWish) -> Result<Reply, SandboxError> {
        let path = match &wish {
            FileWish::Read { path }
            | FileWish::Write { path, .. }
            | FileWish::List { path }
            | FileWish::Remove { path } => path.clone(),
        };
        let asked = self.0.ask(Action::SandboxFiles { sandbox: self.there(), wish }, SMALL).await;
        asked.map_err(|error| match error {
            SandboxError::Elsewhere {
                code:
                    code @ (ErrorCode::NotFound
                    | ErrorCode::FsFailed
                    | ErrorCode::DiskLimit
                    | ErrorCode::OutputLimit),
                message,
                by,
                ..
            } => SandboxError::File { path: path.to_string(), why: format!("{by}: {message}"), code },
            other => other,
        })
    }

    fn unsupported(what: &str) -> SandboxError {
        SandboxError::Unsupported { backend: ID.to_owned(), what: what.to_owned() }
    }
}

impl Drop for RemoteSandbox {
    fn drop(&mut self) {
        self.0.ends_without_anybody();
    }
}

impl Sandbox for RemoteSandbox {
    fn id(&self) -> SandboxId {
        self.0.id
    }

    fn backend(&self) -> &str {
        ID
    }

    fn spec(&self) -> &SandboxSpec {
        &self.0.spec
    }

    fn receipt(&self) -> &Receipt {
        &self.0.made.receipt
    }

    fn warnings(&self) -> &[String] {
        &self.0.made.warnings
    }

    fn spawn(&self, command: Command) -> Doing<'_, Result<Running, SandboxError>> {
        Box::pin(running::spawn(&self.0, command))
    }

    fn exec(&self, command: Command) -> Doing<'_, Result<ExecResult, SandboxError>> {
        Box::pin(async move {
            let running = running::spawn(&self.0, command.clone()).await?;
            let finished = run_to_end(running, &command, self.0.spec.limits.output.value).await?;
            let correlation = self.0.spec.correlation.clone().unwrap_or_else(|| self.0.id.into());
            Ok(ExecResult::new(self, finished, correlation))
        })
    }

    fn write_file<'a>(
        &'a self,
        path: &'a SandboxPath,
        bytes: Bytes,
        executable: bool,
    ) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move {
            let wish = FileWish::Write { path: path.clone(), bytes: InputBytes::new(bytes), executable };
            self.files(wish).await.map(drop)
        })
    }

    fn put<'a>(&'a self, _: &'a SandboxPath, _: Put) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async { Err(Self::unsupported("to put back what the host has: it has no overlays")) })
    }

    fn read_file<'a>(&'a self, path: &'a SandboxPath, most: u64) -> Doing<'a, Result<Bytes, SandboxError>> {
        Box::pin(async move {
            match self.files(FileWish::Read { path: path.clone() }).await? {
                Reply::FileBytes(bytes) => {
                    let bytes = bytes.into_bytes();
                    if bytes.len() as u64 > most {
                        let why = format!("it has {} bytes, and at most {most} are taken", bytes.len());
                        let (path, code) = (path.to_string(), ErrorCode::OutputLimit);
                        return Err(SandboxError::File { path, why, code });
                    }
                    Ok(bytes)
                }
                _ => Err(strange(&self.0.door, "the bytes of a file were asked for")),
            }
        })
    }

    fn list<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<Vec<Entry>, SandboxError>> {
        Box::pin(async move {
            match self.files(FileWish::List { path: path.clone() }).await? {
                Reply::FileEntries(entries) => Ok(entries),
                _ => Err(strange(&self.0.door, "the entries of a folder were asked for")),
            }
        })
    }

    fn remove<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move { self.files(FileWish::Remove { path: path.clone() }).await.map(drop) })
    }

    fn expose(&self, port: u16) -> Doing<'_, Result<u16, SandboxError>> {
        Box::pin(async move {
            Err(Self::unsupported(&format!(
                "the port {port}: a server forwards ports of its own machine only"
            )))
        })
    }

    fn written_over(&self, _: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        Err(Self::unsupported("overlays: its folders are on another machine"))
    }

    fn snapshot(&self) -> Doing<'_, Result<Snapshot, SandboxError>> {
        Box::pin(async {
            match self.0.ask(Action::SandboxSnapshot { sandbox: self.there() }, LARGE).await? {
                Reply::Snapshots(mut lines) => match lines.pop() {
                    Some(line) => Ok(Snapshot { backend: ID.to_owned(), ..line.snapshot }),
                    None => Err(strange(&self.0.door, "a snapshot was asked for")),
                },
                _ => Err(strange(&self.0.door, "a snapshot was asked for")),
            }
        })
    }

    fn hibernate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.done(Action::SandboxHibernate { sandbox: self.there() }, LARGE))
    }

    fn resume(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.done(Action::SandboxResume { sandbox: self.there() }, LARGE))
    }

    fn fork(&self) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async { Ok(Box::new(Self::new(self.0.fork().await?)) as Box<dyn Sandbox>) })
    }

    fn usage(&self) -> Doing<'_, Result<ExecUsage, SandboxError>> {
        Box::pin(async {
            match self.0.ask(Action::SandboxShow { sandbox: self.there() }, SMALL).await? {
                Reply::Sandbox(view) => view.usage.ok_or_else(|| SandboxError::Failed {
                    step: "ask what it used".to_owned(),
                    reason: format!("{} cannot tell", self.0.door.address()),
                }),
                _ => Err(strange(&self.0.door, "a sandbox was asked for")),
            }
        })
    }

    fn stop(&self, _: Duration) -> Doing<'_, Result<(), SandboxError>> {
        // The grace is the server's own.
        Box::pin(self.done(Action::SandboxStop { sandbox: self.there() }, SMALL))
    }

    fn terminate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.0.end())
    }

    fn reset(&self) -> Doing<'_, Result<Reset, SandboxError>> {
        Box::pin(async { Ok(Reset::Unproven("sandboxes of another machine are not used again".to_owned())) })
    }

    fn is_alive(&self) -> bool {
        self.0.is_alive()
    }
}
