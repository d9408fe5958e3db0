//! `specs/commands/pool`: what one lease leaves, and the next one looks for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{Backend, Command, Pool, PoolOptions, Sandbox, SandboxSpec};
use bailiwick_sandbox_process::{Options, ProcessBackend};
use bailiwick_testkit::{requires, tests};
use bytes::Bytes;

tests![
    nothing_of_one_lease_is_there_for_the_next,
    what_is_left_is_found_where_nothing_is_reset,
    a_sandbox_whose_reset_is_proven_is_lent_again,
];

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

fn cases() -> Vec<Case> {
    let area = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/commands/pool");
    let folders = std::fs::read_dir(&area).expect("the area is there");
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
    assert!(cases.len() >= 10, "only {} cases were found", cases.len());
    cases
}

fn has_python() -> bool {
    Path::new("/usr/bin/python3").exists()
}

/// Runs something with a backend of its own, which is closed afterwards.
fn with_backend<F: Future<Output = ()>>(run: impl FnOnce(Arc<dyn Backend>) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let state = tempfile::tempdir().expect("a temporary folder");
    let backend: Arc<dyn Backend> = Arc::new(ProcessBackend::new(Options::new(state.path())));
    runtime.block_on(async {
        run(Arc::clone(&backend)).await;
        backend.close().await;
    });
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

fn pool(backend: Arc<dyn Backend>) -> Pool {
    let options = PoolOptions { max: 1, min_idle: 1, borrow_timeout: Duration::from_secs(60) };
    Pool::new(backend, SandboxSpec::default(), options).expect("a pool")
}

fn nothing_of_one_lease_is_there_for_the_next() {
    requires!("python3", has_python());
    with_backend(async |backend| {
        let pool = pool(backend);
        let mut wrong = Vec::new();
        for case in cases() {
            let lease = pool.borrow().await.expect("a first lease");
            let left = says(&*lease, &case.leave).await;
            lease.give_back().await;
            let lease = pool.borrow().await.expect("a second lease");
            let found = says(&*lease, &case.look).await;
            lease.give_back().await;
            if found != "NOTHING" {
                wrong.push(format!("{}: {left}; then {found}", case.name));
            }
        }
        pool.close().await;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

/// A look that finds nothing where everything still is would prove nothing.
fn what_is_left_is_found_where_nothing_is_reset() {
    requires!("python3", has_python());
    with_backend(async |backend| {
        let mut wrong = Vec::new();
        for case in cases() {
            let sandbox = backend.create(SandboxSpec::default()).await.expect("a sandbox");
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

fn a_sandbox_whose_reset_is_proven_is_lent_again() {
    requires!("python3", has_python());
    with_backend(async |backend| {
        let pool = pool(backend);
        let lease = pool.borrow().await.expect("a first lease");
        let first = lease.id();
        says(&*lease, "open('/tmp/file', 'w').write('x'); print('written')").await;
        lease.give_back().await;
        let lease = pool.borrow().await.expect("a second lease");
        assert_eq!(lease.id(), first, "it was replaced: {:?}", pool.counts());
        drop(lease);
        pool.close().await;
    });
}
