//! A sandbox of this backend: one of the backend behind, in which every command is the engine's host.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{
    Command, Doing, Entry, ExecResult, ExecUsage, Put, Reset, Running, Sandbox, SandboxError, SandboxPath,
    SandboxSpec, Snapshot, Unpacked,
};
use bailiwick_types::{Receipt, SandboxId, Tier};
use bytes::Bytes;
use tokio::sync::oneshot;

use super::backend::Inner;
use super::create::{self, Given, LAST};
use super::outcome;
use super::view::View;
use crate::ID;
use crate::order::{End, Order, PROGRAM, RUN};

/// What a sandbox is put together from.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) backend: Arc<Inner>,
    pub(crate) spec: SandboxSpec,
    pub(crate) view: View,
    /// Held so that it stays.
    pub(crate) image: Arc<dyn Unpacked>,
    pub(crate) receipt: Receipt,
    pub(crate) warnings: Vec<String>,
}

/// A sandbox. Dropping it ends it, for the one behind goes with it.
#[derive(Debug)]
pub(crate) struct WasmSandbox {
    behind: Box<dyn Sandbox>,
    parts: Parts,
}

impl WasmSandbox {
    pub(crate) fn new(behind: Box<dyn Sandbox>, parts: Parts) -> Self {
        Self { behind, parts }
    }

    /// A command of the sandbox behind that runs this one's.
    fn wrapped(&self, command: Command) -> Result<Command, SandboxError> {
        let Parts { backend, spec, view, .. } = &self.parts;
        command.check()?;
        if command.is_shell() {
            let what = "a shell: there is only the program of its image".to_owned();
            return Err(SandboxError::Unsupported { backend: ID.to_owned(), what });
        }
        let variables = self.variables(&command);
        let cwd = command.cwd.clone().unwrap_or_else(|| spec.workdir.clone());
        let deadline = command.deadline(spec.limits.timeout.value);
        let order = Order {
            memory: spec.limits.memory.value,
            deadline,
            fuel: backend.options.fuel,
            opens: view.opens(&cwd)?,
            cwd: cwd.as_str().to_owned(),
            variables: variables.len(),
        };
        let order = serde_json::to_string(&order).map_err(|error| outcome::our_fault(&error.to_string()))?;
        let words = [PROGRAM.to_owned(), RUN.to_owned(), order].into_iter();
        let mut theirs = Command::new(words.chain(variables).chain(command.argv().iter().cloned()))?;
        // The engine's host finds everything by whole paths; where its guest begins is in the order.
        theirs.cwd = Some(SandboxPath::new("/")?);
        theirs.input = command.input;
        theirs.piped = command.piped;
        theirs.terminal = command.terminal;
        theirs.timeout = Some(deadline.saturating_add(LAST));
        Ok(theirs)
    }

    /// The variables of a command as words: the image's, the sandbox's, its own; later ones win.
    fn variables(&self, command: &Command) -> Vec<String> {
        let Parts { spec, image, .. } = &self.parts;
        let image = image.variables().iter().map(|(name, value)| (name, value));
        let all: BTreeMap<&String, &String> = image.chain(&spec.env).chain(&command.env).collect();
        all.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    fn named(&self, error: SandboxError) -> SandboxError {
        outcome::named(error, self.behind.backend())
    }
}

impl Sandbox for WasmSandbox {
    fn id(&self) -> SandboxId {
        self.behind.id()
    }

    fn backend(&self) -> &str {
        ID
    }

    fn spec(&self) -> &SandboxSpec {
        &self.parts.spec
    }

    fn receipt(&self) -> &Receipt {
        &self.parts.receipt
    }

    fn warnings(&self) -> &[String] {
        &self.parts.warnings
    }

    fn spawn(&self, command: Command) -> Doing<'_, Result<Running, SandboxError>> {
        Box::pin(async {
            let command = self.wrapped(command)?;
            let Running { input, urgent, output, ended } =
                self.behind.spawn(command).await.map_err(|error| self.named(error))?;
            let (ends, told) = oneshot::channel();
            let behind = self.behind.backend().to_owned();
            tokio::spawn(async move {
                // Whoever drops the other end says nothing about the command: then nor does this.
                if let Ok(ended) = ended.await {
                    let _nobody = ends
                        .send(ended.map_err(|error| outcome::named(error, &behind)).and_then(outcome::ended));
                }
            });
            Ok(Running { input, urgent, output, ended: told })
        })
    }

    fn exec(&self, command: Command) -> Doing<'_, Result<ExecResult, SandboxError>> {
        Box::pin(async {
            let command = self.wrapped(command)?;
            let mut result = self.behind.exec(command).await.map_err(|error| self.named(error))?;
            let end = outcome::told(&mut result.exit, &mut result.timed_out, &mut result.oom);
            if end == Some(End::OurFault) {
                return Err(outcome::our_fault(&String::from_utf8_lossy(&result.stderr.bytes)));
            }
            result.receipt = self.parts.receipt.clone();
            ID.clone_into(&mut result.backend);
            result.tier = Tier::UserKernel;
            Ok(result)
        })
    }

    fn write_file<'a>(
        &'a self,
        path: &'a SandboxPath,
        bytes: Bytes,
        executable: bool,
    ) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move {
            let path = self.parts.view.path(path)?;
            self.behind.write_file(&path, bytes, executable).await
        })
    }

    fn put<'a>(&'a self, path: &'a SandboxPath, what: Put) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move { self.behind.put(&self.parts.view.path(path)?, what).await })
    }

    fn read_file<'a>(&'a self, path: &'a SandboxPath, most: u64) -> Doing<'a, Result<Bytes, SandboxError>> {
        Box::pin(async move { self.behind.read_file(&self.parts.view.path(path)?, most).await })
    }

    fn list<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<Vec<Entry>, SandboxError>> {
        Box::pin(async move { self.behind.list(&self.parts.view.path(path)?).await })
    }

    fn remove<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move { self.behind.remove(&self.parts.view.path(path)?).await })
    }

    fn expose(&self, _: u16) -> Doing<'_, Result<u16, SandboxError>> {
        Box::pin(async {
            let what = "exposed ports: programs in WebAssembly get no sockets".to_owned();
            Err(SandboxError::Unsupported { backend: ID.to_owned(), what })
        })
    }

    fn written_over(&self, to: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        self.behind.written_over(to).map_err(|error| self.named(error))
    }

    fn snapshot(&self) -> Doing<'_, Result<Snapshot, SandboxError>> {
        Box::pin(async {
            self.behind.snapshot().await.map(outcome::from_behind).map_err(|error| self.named(error))
        })
    }

    fn hibernate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async { self.behind.hibernate().await.map_err(|error| self.named(error)) })
    }

    fn resume(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async { self.behind.resume().await.map_err(|error| self.named(error)) })
    }

    fn fork(&self) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async {
            let behind = self.behind.fork().await.map_err(|error| self.named(error))?;
            let Parts { backend, spec, view, image, .. } = &self.parts;
            let given = Given { spec: spec.clone(), view: view.clone(), image: image.clone() };
            create::finish(backend, behind, given).await
        })
    }

    fn usage(&self) -> Doing<'_, Result<ExecUsage, SandboxError>> {
        self.behind.usage()
    }

    fn stop(&self, grace: Duration) -> Doing<'_, Result<(), SandboxError>> {
        self.behind.stop(grace)
    }

    fn terminate(&self) -> Doing<'_, Result<(), SandboxError>> {
        self.behind.terminate()
    }

    fn reset(&self) -> Doing<'_, Result<Reset, SandboxError>> {
        self.behind.reset()
    }

    fn is_alive(&self) -> bool {
        self.behind.is_alive()
    }
}
