//! Where tests make sandboxes: a backend with a folder of its own, and a runtime to wait on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sandbox::{Backend, Limit, Limits, Preset, Sandbox, SandboxError, SandboxSpec};
use bailiwick_sandbox_microvm::{Emulation, MicrovmBackend, Options};
use bailiwick_testkit_sandbox::{is_root, processes_with};
pub(crate) use bailiwick_testkit_sandbox::{sh, shell, wait};

/// Whether this machine has what such sandboxes are made of. Whether they run is for each test to see: a look would cost as much.
pub(crate) fn is_possible() -> bool {
    let kernel = kernel();
    let has_kernel = std::fs::read_dir(kernel).into_iter().flatten().filter_map(Result::ok);
    let has_kernel =
        has_kernel.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("vmlinuz-"));
    is_root() && Path::new("/usr/bin/qemu-system-x86_64").is_file() && has_kernel
}

/// Where the kernel is: fetched by `make test-deps`, or the host's own.
fn kernel() -> PathBuf {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/microvm/boot");
    if fetched.is_dir() { fetched } else { PathBuf::from("/boot") }
}

/// How tests have their machines: emulated, so that they run everywhere; and from one that is ready, since all of them start the same
/// kernel. Only the first starts it.
pub(crate) fn options(state: PathBuf) -> Options {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("machines");
    Options { emulation: Emulation::Always, kernel: kernel(), cache: Some(cache), ..Options::new(state) }
}

/// A backend and its folder.
pub(crate) struct Place {
    pub(crate) backend: Arc<MicrovmBackend>,
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = options(folder.path().join("state"));
        change(&mut options);
        Self { backend: Arc::new(MicrovmBackend::new(options)), folder }
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

/// Machines of this process that run.
pub(crate) fn machines() -> Vec<i32> {
    machines_of(std::process::id())
}

/// Machines of a process that run.
pub(crate) fn machines_of(owner: u32) -> Vec<i32> {
    processes_with(&format!("bailiwick-sandbox-{owner}-"))
}

/// The usual spec: a small machine, with much time, since most are emulated.
pub(crate) fn spec() -> SandboxSpec {
    let limits = Limits::preset(Preset::Minimal).with(Limit::Timeout, "2m").expect("a limit");
    SandboxSpec::new(limits)
}
