//! Where tests make sandboxes: a backend with a folder of its own, and a runtime to wait on.

use std::path::Path;
use std::sync::Arc;

use bailiwick_sandbox::{Backend, Limits, Preset, Sandbox, SandboxError, SandboxSpec};
use bailiwick_sandbox_process::{Most, Options, ProcessBackend};
pub(crate) use bailiwick_testkit_sandbox::{is_root, path, said, sh, shell, wait, words};

/// A backend and its folder.
pub(crate) struct Place {
    pub(crate) backend: Arc<ProcessBackend>,
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = Options::new(folder.path().join("state"));
        change(&mut options);
        Self { backend: Arc::new(ProcessBackend::new(options)), folder }
    }

    pub(crate) fn at_most(most: Most) -> Self {
        Self::with(|options| options.most = most)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
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
