//! `specs/commands/pool`: what one lease leaves, and the next one looks for.

use std::path::Path;
use std::time::Duration;

use bailiwick_sandbox::{Backend as _, Command, Pool, PoolOptions, Sandbox};
use bailiwick_testkit::requires;
use bytes::Bytes;

use crate::place::{Place, spec, wait};

bailiwick_testkit::tests![
    nothing_of_one_lease_is_there_for_the_next,
    what_is_left_is_found_where_nothing_is_reset,
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
    assert!(cases.len() >= 15, "only {} cases were found", cases.len());
    cases
}

fn has_python() -> bool {
    Path::new("/usr/bin/python3").exists()
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

fn nothing_of_one_lease_is_there_for_the_next() {
    requires!("python3", has_python());
    wait(async {
        let place = Place::new();
        let options = PoolOptions { max: 1, min_idle: 1, borrow_timeout: Duration::from_mins(1) };
        let pool = Pool::new(place.backend.clone(), spec(), options).expect("a pool");
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
    wait(async {
        let place = Place::new();
        let mut wrong = Vec::new();
        for case in cases() {
            let sandbox = place.sandbox().await;
            let left = says(&*sandbox, &case.leave).await;
            let found = says(&*sandbox, &case.look).await;
            if left.starts_with("LEFT") != found.starts_with("FOUND") {
                wrong.push(format!("{}: {left}; then {found}", case.name));
            }
            sandbox.terminate().await.expect("it ends");
        }
        place.backend.close().await;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}
