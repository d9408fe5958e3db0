//! Where tests make sandboxes: a backend with a folder of its own, and a runtime to wait on.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bailiwick_sandbox::{
    Available, Backend, Command, ExecResult, Limits, Preset, Sandbox, SandboxError, SandboxPath, SandboxSpec,
};
use bailiwick_sandbox_gvisor::{GvisorBackend, Options};

/// Runs to the end.
pub(crate) fn wait<T>(doing: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(doing)
}

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

/// Whether this is root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
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
        let names = |folder: std::path::PathBuf| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let owners = self.path().join("state/gvisor");
        names(owners.clone()).into_iter().flat_map(|owner| names(owners.join(owner).join("boxes"))).collect()
    }

    /// Processes on the host that belong to sandboxes of this place.
    pub(crate) fn processes(&self) -> Vec<i32> {
        processes_with(&self.path().display().to_string())
    }
}

/// Processes whose command line has this text in it.
pub(crate) fn processes_with(text: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("processes");
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.windows(text.len()).any(|part| part == text.as_bytes())
        })
        .collect()
}

/// Cgroups whose name begins with this text.
pub(crate) fn cgroups_of(name: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(name) {
                found.push(entry.path());
            }
            left.push(entry.path());
        }
    }
    found
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
