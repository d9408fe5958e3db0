//! `specs/commands/pool` on every backend: what one lease leaves, and the next one looks for. The rest of the matrix starts the
//! program; pools are not for those who type, so this makes them itself.
//!
//! Sandboxes of the backend `process` are made by starting this program again, so it has a `main` of its own.

#![expect(
    clippy::expect_used,
    reason = "the harness is not the usual one, so clippy does not see that these are tests"
)]

mod made;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bailiwick_sandbox::{Available, Command, Limit, Limits, Pool, PoolOptions, Preset, Sandbox, SandboxSpec};
use bailiwick_testkit::{Group, Prepared, Verdicts, has};
use bytes::Bytes;
use made::Made;
use tokio::runtime::Runtime;

/// Every backend.
const ROWS: [Row; 7] = [
    Row { backend: "process", part: "sandboxes", make: made::process },
    Row { backend: "container", part: "docker", make: made::container },
    Row { backend: "podman", part: "podman", make: made::podman },
    Row { backend: "gvisor", part: "gvisor", make: made::gvisor },
    Row { backend: "wasm", part: "wasm", make: made::wasm },
    Row { backend: "microvm", part: "qemu", make: made::microvm },
    Row { backend: "remote", part: "sandboxes", make: made::remote },
];

fn main() -> ExitCode {
    bailiwick_backends::enter();
    let groups = ROWS.into_iter().flat_map(|row| [row.leases(), row.looks()]).collect();
    bailiwick_testkit::run_suite(&[], groups)
}

/// What both of a case begin with.
const BEFORE: &str = concat!(
    include_str!("../../../../specs/commands/attempt.py"),
    "\n",
    include_str!("../../../../specs/commands/leaving.py"),
    "\n",
);

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs")
}

/// The names of all cases.
fn cases() -> Vec<String> {
    let folders = std::fs::read_dir(specs().join("commands/pool")).expect("the area is there");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry of the area").file_name();
    let mut cases: Vec<String> = folders.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    cases.sort();
    assert!(cases.len() >= 15, "only {} cases were found", cases.len());
    cases
}

/// A program of a case: `leave.py` or `look.py`.
fn program(case: &str, name: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
    let text = std::fs::read_to_string(specs().join("commands/pool").join(case).join(name))
        .expect("a file of the case");
    format!("{BEFORE}{text}")
}

/// What a program in Python says.
async fn says(sandbox: &dyn Sandbox, program: &str) -> String {
    let command = Command::new(["/usr/bin/python3", "-I", "-"])
        .and_then(|command| command.with_input(Bytes::copy_from_slice(program.as_bytes())))
        .expect("a command");
    let result = sandbox.exec(command).await.expect("a result");
    let text = String::from_utf8_lossy(&result.stdout.bytes).trim().to_owned();
    assert!(!text.is_empty(), "{:?}: {}", result.exit, String::from_utf8_lossy(&result.stderr.bytes));
    text
}

/// The usual sandbox. A machine has as many processors as it is given, and one that is emulated has more time.
fn spec(backend: &str) -> SandboxSpec {
    let limits = Limits::preset(Preset::Standard);
    let machine = || limits.with(Limit::Timeout, "2m").and_then(|limits| limits.with(Limit::Cpu, "2"));
    SandboxSpec::new(if backend == "microvm" { machine().expect("limits") } else { limits })
}

/// A backend.
#[derive(Clone, Copy)]
struct Row {
    backend: &'static str,
    /// What a machine has to have for it.
    part: &'static str,
    make: fn(PathBuf) -> Option<Made>,
}

/// A backend that was seen to work, and the runtime that it works on.
struct Working {
    row: Row,
    runtime: Runtime,
    made: Made,
    _folder: tempfile::TempDir,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.runtime.block_on(self.made.backend.close());
    }
}

impl Row {
    /// The backend, where this machine has it.
    fn prepare(self) -> Option<Working> {
        if !has("python3", Path::new("/usr/bin/python3").exists()) {
            return None;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let folder = tempfile::tempdir().expect("a directory");
        let made = runtime.block_on(async {
            let made = (self.make)(folder.path().join("state"))?;
            let is_there = made.backend.probe().await.availability == Available::Yes;
            is_there.then_some(made)
        });
        has(self.part, made.is_some()).then_some(())?;
        Some(Working { row: self, runtime, made: made?, _folder: folder })
    }

    /// The cases that `make test` runs.
    fn quick(self) -> Option<Vec<String>> {
        Verdicts::read(&specs(), self.backend).quick("pool")
    }

    /// What one lease leaves is not there for the next.
    fn leases(self) -> Group {
        let prepare = move || self.prepare().map(Leases::new);
        Group::new(format!("pool::{}", self.backend), cases(), prepare).quick(self.quick())
    }

    /// What is left is found where nothing is reset: a look that finds nothing there would prove nothing.
    fn looks(self) -> Group {
        let prepare = move || self.prepare().map(Looks);
        Group::new(format!("pool::{}::without_a_reset", self.backend), cases(), prepare).quick(self.quick())
    }
}

/// A pool of one sandbox, or why the backend has none.
struct Leases {
    pool: Mutex<Result<Pool, String>>,
    working: Working,
}

impl Leases {
    fn new(working: Working) -> Self {
        let (backend, spec) = (working.made.backend.clone(), spec(working.row.backend));
        let options = PoolOptions { max: 1, min_idle: 1, borrow_timeout: Duration::from_mins(1) };
        let _within = working.runtime.enter();
        let pool = match backend.can_run(&spec) {
            Err(refused) => Err(refused.to_string()),
            Ok(()) => Ok(Pool::new(backend, spec, options).expect("a pool")),
        };
        Self { pool: Mutex::new(pool), working }
    }

    fn lease_twice(&self, case: &str) -> Result<(), String> {
        // One case after the other: there is one sandbox.
        let pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = pool.as_ref().map_err(Clone::clone)?;
        self.working.runtime.block_on(async {
            let lease = pool.borrow().await.expect("a first lease");
            let left = says(&*lease, &program(case, "leave.py")).await;
            lease.give_back().await;
            let lease = pool.borrow().await.expect("a second lease");
            let found = says(&*lease, &program(case, "look.py")).await;
            lease.give_back().await;
            if found == "NOTHING" { Ok(()) } else { Err(format!("{left}; then {found}")) }
        })
    }
}

impl Prepared for Leases {
    fn check(&self, case: &str) -> Result<(), String> {
        Verdicts::read(&specs(), self.working.row.backend).judge("pool", case, self.lease_twice(case))
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        let pool = self.pool.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Ok(pool) = pool {
            self.working.runtime.block_on(pool.close());
        }
    }
}

/// A sandbox for each case, in which nothing is reset.
struct Looks(Working);

impl Prepared for Looks {
    fn check(&self, case: &str) -> Result<(), String> {
        let Working { row, runtime, made, .. } = &self.0;
        let spec = spec(row.backend);
        if made.backend.can_run(&spec).is_err() {
            return Ok(());
        }
        runtime.block_on(async {
            let sandbox = made.backend.create(spec).await.expect("a sandbox");
            let left = says(&*sandbox, &program(case, "leave.py")).await;
            let found = says(&*sandbox, &program(case, "look.py")).await;
            sandbox.terminate().await.expect("it ends");
            if left.starts_with("LEFT") == found.starts_with("FOUND") {
                Ok(())
            } else {
                Err(format!("{left}; then {found}"))
            }
        })
    }
}
