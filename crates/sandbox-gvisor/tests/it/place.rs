//! Where tests make sandboxes: a backend with a folder of its own, and a runtime to wait on.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use bailiwick_sandbox::{Available, Backend, Limits, Preset, Sandbox, SandboxError, SandboxSpec};
use bailiwick_sandbox_gvisor::{GvisorBackend, Options};
use bailiwick_testkit_sandbox::boxes;
pub(crate) use bailiwick_testkit_sandbox::{cgroups_of, is_root, path, processes_with, sh, shell, wait};

/// Whether this machine has such sandboxes: this user is root, and one was seen to stand.
pub(crate) fn is_possible() -> bool {
    static IS: OnceLock<bool> = OnceLock::new();
    *IS.get_or_init(|| {
        is_root() && {
            let probe = wait(async { Place::new().backend.probe().await });
            if let Available::No { reason, .. } = &probe.availability {
                use std::io::Write as _;
                let _nobody_reads = writeln!(std::io::stderr(), "gvisor: {reason}");
            }
            probe.availability == Available::Yes
        }
    })
}

/// A backend and its folder.
pub(crate) struct Place {
    pub(crate) backend: Arc<GvisorBackend>,
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
        Self { backend: Arc::new(GvisorBackend::new(options)), folder }
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

    /// What is made for sandboxes of this place, by name: each is a folder, and has a cgroup of that name.
    pub(crate) fn boxes(&self) -> Vec<String> {
        boxes(&self.path().join("state/gvisor"))
    }

    /// Processes on the host that belong to sandboxes of this place.
    pub(crate) fn processes(&self) -> Vec<i32> {
        processes_with(&self.path().display().to_string())
    }
}

/// The usual spec.
pub(crate) fn spec() -> SandboxSpec {
    SandboxSpec::new(Limits::preset(Preset::Standard))
}
