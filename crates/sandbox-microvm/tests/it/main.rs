//! Sandboxes of the backend `microvm` as a host has them: real machines, around real commands. They are emulated, so each test asks
//! one machine for much.
//!
//! One test starts this program again as an owner that is killed, so it has a `main` of its own.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "the harness is not the usual one, so clippy does not see that these are tests"
)]
#![expect(clippy::disallowed_methods, reason = "tests make files and look at processes of their own")]

mod firecracker;
mod kept;
mod place;
mod program;
mod ready;
mod subject;
mod walls;

use std::process::ExitCode;

use bailiwick_testkit_sandbox::conformance::become_owner;

fn main() -> ExitCode {
    if let Some(code) = become_owner(|_| subject::Microvm) {
        return code;
    }
    let own = [firecracker::TESTS, kept::TESTS, program::TESTS, ready::TESTS, walls::TESTS];
    bailiwick_testkit::run_tests_and(&own, subject::tests())
}
