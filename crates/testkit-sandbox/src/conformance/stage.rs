//! Where a check has its sandboxes: a backend of the subject's, with a directory of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sandbox::{Backend, Egress, Images, Limit, Limits, Preset, Sandbox, SandboxError, SandboxSpec};

use super::Claims;
use crate::{processes_with, sh};

/// What a check gives a backend.
#[derive(Debug, Default)]
pub struct Setup {
    /// Where it keeps its state.
    pub state: PathBuf,
    /// Who decides about its sandboxes' connections.
    pub egress: Option<Arc<dyn Egress>>,
    /// Where its images are.
    pub images: Option<Arc<dyn Images>>,
}

/// A backend under test.
pub trait Subject {
    /// What it claims.
    fn claims(&self) -> Claims;
    /// A backend, set up like this.
    fn backend(&self, setup: Setup) -> Arc<dyn Backend>;
    /// The spec of an ordinary sandbox.
    fn spec(&self) -> SandboxSpec {
        SandboxSpec::new(Limits::preset(Preset::Standard))
    }
    /// Processes of the host that hold the memory of this owner's sandboxes with this state; none where they are the commands.
    fn kernels(&self, _state: &Path, _owner: u32) -> Vec<i32> {
        Vec::new()
    }
    /// What else the host has of this owner's sandboxes with this state: containers, directories. Nothing is left of sandboxes that
    /// ended.
    fn traces(&self, _state: &Path, _owner: u32) -> Vec<String> {
        Vec::new()
    }
    /// What an owner has to be told to make the same backend.
    fn told(&self) -> Vec<String> {
        Vec::new()
    }
    /// What has to be seen after an owner was killed, before there is a next one.
    fn check_killed(&self, _state: &Path, _owner: u32) {}
}

/// A backend and its directory.
pub struct Place<'a> {
    /// The backend.
    pub backend: Arc<dyn Backend>,
    subject: &'a dyn Subject,
    folder: tempfile::TempDir,
}

impl<'a> Place<'a> {
    /// A backend that is given nothing.
    pub fn new(subject: &'a dyn Subject) -> Self {
        Self::with(subject, |_| {})
    }

    /// A backend that is given what this adds.
    pub fn with(subject: &'a dyn Subject, add: impl FnOnce(&mut Setup)) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let mut setup = Setup { state: folder.path().join("state"), ..Setup::default() };
        add(&mut setup);
        Self { backend: subject.backend(setup), subject, folder }
    }

    /// Its directory, beside the backend's state, without links on the way.
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a path")
    }

    /// An ordinary sandbox.
    pub async fn sandbox(&self) -> Box<dyn Sandbox> {
        self.create(self.spec()).await.expect("a sandbox")
    }

    /// A sandbox with this limit.
    pub(super) async fn limited(&self, limits: &[(Limit, &str)]) -> Box<dyn Sandbox> {
        let mut spec = self.spec();
        for (limit, amount) in limits {
            spec.limits = spec.limits.with(*limit, *amount).expect("a limit");
        }
        self.create(spec).await.expect("a sandbox")
    }

    /// A sandbox of this spec, or why there is none.
    pub async fn create(&self, spec: SandboxSpec) -> Result<Box<dyn Sandbox>, SandboxError> {
        self.backend.create(spec).await
    }

    /// The spec of an ordinary sandbox.
    pub fn spec(&self) -> SandboxSpec {
        self.subject.spec()
    }

    /// Processes of the host that hold the memory of this place's sandboxes.
    pub(super) fn kernels(&self) -> Vec<i32> {
        self.subject.kernels(&self.folder.path().join("state"), std::process::id())
    }

    /// What the host has of this place's sandboxes.
    pub(super) fn traces(&self) -> Traces {
        let (state, owner) = (self.folder.path().join("state"), std::process::id());
        traces(self.subject, &state, owner, &mark(self.folder.path()))
    }

    /// Leaves a process running in a sandbox which the host can find.
    pub(super) async fn leave_a_process(&self, sandbox: &dyn Sandbox) {
        leave_a_process(sandbox, &mark(self.folder.path())).await;
    }
}

/// What a host has of sandboxes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Traces {
    processes: Vec<i32>,
    others: Vec<String>,
}

/// What the host has of this owner's sandboxes with this state, whose processes have this mark.
pub(super) fn traces(subject: &dyn Subject, state: &Path, owner: u32, mark: &str) -> Traces {
    let mut processes = subject.kernels(state, owner);
    processes.extend(processes_with(mark));
    Traces { processes, others: subject.traces(state, owner) }
}

/// A number for `sleep` that only sandboxes of this directory use.
pub(super) fn mark(of: &Path) -> String {
    let name = of.display().to_string();
    let hash = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("{}", 100_000 + hash % 900_000)
}

/// Leaves a process with this mark running, and waits until it has its words.
pub(super) async fn leave_a_process(sandbox: &dyn Sandbox, mark: &str) {
    let text = format!(
        "setsid sleep {mark} >/dev/null 2>&1 & while ! tr '\\0' ' ' < /proc/$!/cmdline | grep -q '^sleep'; do :; done; echo on"
    );
    assert_eq!(sh(sandbox, &text).await, "on\n");
}
