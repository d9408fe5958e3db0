//! The backend as its callers see it. Sandboxes are made by starting this program again, so it has a `main` of its own.

mod pool;

use std::process::ExitCode;

fn main() -> ExitCode {
    bailiwick_sandbox_process::enter();
    bailiwick_testkit::run_tests(&[pool::TESTS])
}
