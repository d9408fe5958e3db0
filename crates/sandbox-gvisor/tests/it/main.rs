//! Sandboxes of the backend `gvisor` as a host has them: real ones, around real commands.
//!
//! One test starts this program again as an owner that is killed, so it has a `main` of its own.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "the harness is not the usual one, so clippy does not see that these are tests"
)]
#![expect(clippy::disallowed_methods, reason = "tests make files and look at processes of their own")]

mod commands;
mod kept;
mod limits;
mod mounts;
mod network;
mod ordinary;
mod owners;
mod place;
mod program;
mod terminals;
mod walls;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = owners::become_one() {
        return code;
    }
    bailiwick_testkit::run_tests(&[
        commands::TESTS,
        kept::TESTS,
        limits::TESTS,
        mounts::TESTS,
        network::TESTS,
        ordinary::TESTS,
        owners::TESTS,
        program::TESTS,
        terminals::TESTS,
        walls::TESTS,
    ])
}
