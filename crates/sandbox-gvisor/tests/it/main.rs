//! Sandboxes of the backend `gvisor` as a host has them: real ones, around real commands.
//!
//! One test starts this program again as an owner that is killed, so it has a `main` of its own.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "the harness is not the usual one, so clippy does not see that these are tests"
)]
#![expect(clippy::disallowed_methods, reason = "tests make files and look at processes of their own")]

mod limits;
mod mounts;
mod ordinary;
mod place;
mod program;
mod subject;
mod walls;

use std::process::ExitCode;

use bailiwick_testkit_sandbox::conformance::become_owner;

fn main() -> ExitCode {
    if let Some(code) = become_owner(|_| subject::Gvisor) {
        return code;
    }
    let own = [limits::TESTS, mounts::TESTS, ordinary::TESTS, program::TESTS, walls::TESTS];
    bailiwick_testkit::run_tests_and(&own, subject::tests())
}
