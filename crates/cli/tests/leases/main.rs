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
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{
    Available, Backend, Command, Limit, Limits, Pool, PoolOptions, Preset, Sandbox, SandboxSpec,
};
use bailiwick_testkit::{Verdicts, has};
use bytes::Bytes;
use made::Made;

macro_rules! rows {
    ($($module:ident by $part:literal: $backend:expr;)+) => {
        $(mod $module {
            use super::Row;

            bailiwick_testkit::tests![
                nothing_of_one_lease_is_there_for_the_next,
                what_is_left_is_found_where_nothing_is_reset,
            ];

            const ROW: Row = Row { backend: stringify!($module), part: $part, make: $backend };

            fn nothing_of_one_lease_is_there_for_the_next() {
                ROW.check_leases();
            }

            fn what_is_left_is_found_where_nothing_is_reset() {
                ROW.check_looks();
            }
        })+

        /// All rows.
        const ROWS: &[&[bailiwick_testkit::Test]] = &[$($module::TESTS),+];
    };
}

rows! {
    process by "sandboxes": super::made::process;
    container by "docker": super::made::container;
    podman by "podman": super::made::podman;
    gvisor by "gvisor": super::made::gvisor;
    wasm by "wasm": super::made::wasm;
    microvm by "qemu": super::made::microvm;
    remote by "sandboxes": super::made::remote;
}

fn main() -> ExitCode {
    bailiwick_backends::enter();
    bailiwick_testkit::run_tests(ROWS)
}

/// What both of a case begin with.
const BEFORE: &str = concat!(
    include_str!("../../../../specs/commands/attempt.py"),
    "\n",
    include_str!("../../../../specs/commands/leaving.py"),
    "\n",
);

struct Case {
    name: String,
    leave: String,
    look: String,
}

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs")
}

fn cases() -> Vec<Case> {
    let folders = std::fs::read_dir(specs().join("commands/pool")).expect("the area is there");
    let mut cases: Vec<Case> = folders
        .map(|entry| {
            let folder = entry.expect("an entry of the area").path();
            let read = |name: &str| {
                #[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
                let text = std::fs::read_to_string(folder.join(name)).expect("a file of the case");
                format!("{BEFORE}{text}")
            };
            let name = folder.file_name().expect("a case has a name").to_string_lossy().into_owned();
            Case { name, leave: read("leave.py"), look: read("look.py") }
        })
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(cases.len() >= 15, "only {} cases were found", cases.len());
    cases
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

fn wait<T>(doing: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(doing)
}

/// A backend.
#[derive(Clone, Copy)]
struct Row {
    backend: &'static str,
    /// What a machine has to have for it.
    part: &'static str,
    make: fn(PathBuf) -> Option<Made>,
}

impl Row {
    /// Does something with the backend, where this machine has it.
    fn with(self, doing: impl AsyncFnOnce(Arc<dyn Backend>, SandboxSpec)) {
        if !has("python3", Path::new("/usr/bin/python3").exists()) {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let made = (self.make)(folder.path().join("state"));
        if !has(self.part, made.is_some()) {
            return;
        }
        let Some(Made { backend, server: _server, engine: _engine }) = made else { return };
        wait(async {
            let is_there = backend.probe().await.availability == Available::Yes;
            if has(self.part, is_there) {
                doing(backend.clone(), spec(self.backend)).await;
            }
            backend.close().await;
        });
    }

    /// What is not as the file of this backend says.
    #[track_caller]
    fn judge(self, results: &[(String, Option<String>)]) {
        let surprises = Verdicts::read(&specs(), self.backend).surprises("pool", results);
        assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    }

    fn check_leases(self) {
        self.with(async |backend, spec| {
            if let Err(refused) = backend.can_run(&spec) {
                let refused = |case: Case| (case.name, Some(refused.to_string()));
                return self.judge(&cases().into_iter().map(refused).collect::<Vec<_>>());
            }
            let options = PoolOptions { max: 1, min_idle: 1, borrow_timeout: Duration::from_mins(1) };
            let pool = Pool::new(backend, spec, options).expect("a pool");
            let mut results = Vec::new();
            for case in cases() {
                let lease = pool.borrow().await.expect("a first lease");
                let left = says(&*lease, &case.leave).await;
                lease.give_back().await;
                let lease = pool.borrow().await.expect("a second lease");
                let found = says(&*lease, &case.look).await;
                lease.give_back().await;
                results.push((case.name, (found != "NOTHING").then(|| format!("{left}; then {found}"))));
            }
            pool.close().await;
            self.judge(&results);
        });
    }

    /// A look that finds nothing where everything still is would prove nothing.
    fn check_looks(self) {
        self.with(async |backend, spec| {
            if backend.can_run(&spec).is_err() {
                return;
            }
            let mut wrong = Vec::new();
            for case in cases() {
                let sandbox = backend.create(spec.clone()).await.expect("a sandbox");
                let left = says(&*sandbox, &case.leave).await;
                let found = says(&*sandbox, &case.look).await;
                if left.starts_with("LEFT") != found.starts_with("FOUND") {
                    wrong.push(format!("{}: {left}; then {found}", case.name));
                }
                sandbox.terminate().await.expect("it ends");
            }
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        });
    }
}
