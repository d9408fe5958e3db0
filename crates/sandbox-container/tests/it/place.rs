//! Where tests make sandboxes: a backend with a folder of its own, and a runtime to wait on.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use bailiwick_sandbox::{
    Backend, Command, ExecResult, Limits, Preset, Sandbox, SandboxError, SandboxPath, SandboxSpec,
};
use bailiwick_sandbox_container::{ContainerBackend, Options};

use crate::engines::Engine;

/// Runs to the end.
pub(crate) fn wait<T>(doing: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(doing)
}

/// A backend and its folder.
pub(crate) struct Place {
    pub(crate) backend: Arc<ContainerBackend>,
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new(engine: &Engine) -> Self {
        Self::with(engine, |_| {})
    }

    pub(crate) fn with(engine: &Engine, change: impl FnOnce(&mut Options)) -> Self {
        Self::at(&engine.socket(), change)
    }

    pub(crate) fn at(socket: &Path, change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = Options::new(folder.path().join("state"));
        options.socket = Some(socket.to_owned());
        change(&mut options);
        Self { backend: Arc::new(ContainerBackend::new(options)), folder }
    }

    /// A sandbox of the usual kind.
    pub(crate) async fn sandbox(&self) -> Box<dyn Sandbox> {
        self.create(spec()).await.expect("a sandbox")
    }

    pub(crate) async fn create(&self, spec: SandboxSpec) -> Result<Box<dyn Sandbox>, SandboxError> {
        self.backend.create(spec).await
    }
}

/// The usual spec.
pub(crate) fn spec() -> SandboxSpec {
    SandboxSpec::new(Limits::preset(Preset::Standard))
}

pub(crate) fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).expect("a path")
}

/// A command of words.
pub(crate) fn words(words: &[&str]) -> Command {
    Command::new(words.iter().copied()).expect("a command")
}

/// A text for the shell.
pub(crate) fn shell(text: &str) -> Command {
    Command::shell(text).expect("a command")
}

/// What a command says, if it ends well.
#[track_caller]
pub(crate) fn said(result: &ExecResult) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(result.exit.status(), 0, "{} {}", text(&result.stdout.bytes), text(&result.stderr.bytes));
    text(&result.stdout.bytes)
}

/// Runs a text in a sandbox and gives what it says.
pub(crate) async fn sh(sandbox: &dyn Sandbox, text: &str) -> String {
    said(&sandbox.exec(shell(text)).await.expect("it runs"))
}
