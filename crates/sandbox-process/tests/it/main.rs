//! Sandboxes of the backend `process` as a host has them: real ones, around real commands.
//!
//! Sandboxes are made by starting this program again, so it has a `main` of its own. Some tests start it once more as an
//! ordinary user, or as an owner that is killed.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "the harness is not the usual one, so clippy does not see that these are tests"
)]
#![expect(clippy::disallowed_methods, reason = "tests make files and look at processes of their own")]

mod attacks;
mod commands;
mod endings;
mod files;
mod images;
mod levels;
mod limits;
mod mounts;
mod ordinary;
mod owners;
mod place;
mod pool;
mod sleep;
mod subject;
mod walls;
mod worlds;

use std::process::ExitCode;

use bailiwick_testkit_sandbox::conformance::become_owner;

fn main() -> ExitCode {
    bailiwick_sandbox_process::enter();
    if let Some(code) = become_owner(|_| subject::Process).or_else(owners::become_one) {
        return code;
    }
    let own = [
        attacks::TESTS,
        commands::TESTS,
        endings::TESTS,
        files::TESTS,
        images::TESTS,
        levels::TESTS,
        limits::TESTS,
        mounts::TESTS,
        ordinary::TESTS,
        owners::TESTS,
        pool::TESTS,
        sleep::TESTS,
        walls::TESTS,
        worlds::TESTS,
    ];
    bailiwick_testkit::run_tests_and(&own, subject::tests())
}
