//! Sandboxes of the backend `wasm` as a host has them: real ones, behind real walls, around programs written for the purpose.
//!
//! Commands are run by starting this program again, so it has a `main` of its own.

#![expect(
    clippy::expect_used,
    reason = "the harness is not the usual one, so clippy does not see that these are tests"
)]
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]

mod cache;
mod commands;
mod files;
mod guests;
mod limits;
mod place;
mod real;
mod refused;
mod walls;

use std::process::ExitCode;

fn main() -> ExitCode {
    bailiwick_sandbox_process::enter();
    bailiwick_sandbox_wasm::enter();
    bailiwick_testkit::run_tests(&[
        cache::TESTS,
        commands::TESTS,
        files::TESTS,
        limits::TESTS,
        real::TESTS,
        refused::TESTS,
        walls::TESTS,
    ])
}
