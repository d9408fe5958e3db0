//! Where tests make sandboxes: a backend with a folder of its own, and a runtime to wait on.

use std::path::Path;
use std::sync::Arc;

use bailiwick_sandbox::{Backend, Limits, Preset, Sandbox, SandboxError, SandboxSpec};
use bailiwick_sandbox_container::{ContainerBackend, Options};
pub(crate) use bailiwick_testkit_sandbox::{path, sh, shell, wait, words};

use crate::engines::Engine;

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
