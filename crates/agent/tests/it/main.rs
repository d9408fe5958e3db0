//! An agent as a host sees it: started like a sandbox's first process, and spoken to over a socket.
//!
//! The agent under test is this program again, once as an ordinary process and once as the first of a pid namespace.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of this binary is a test; without the usual harness the compiler cannot see that"
)]

mod agent;
mod carried;
mod commands;
mod files;
mod packs;
mod place;
mod resets;
mod streams;
mod survival;
mod terminals;

use std::process::ExitCode;

fn main() -> ExitCode {
    place::enter();
    bailiwick_testkit::run_tests(&[
        carried::TESTS,
        commands::TESTS,
        files::TESTS,
        packs::TESTS,
        resets::TESTS,
        streams::TESTS,
        survival::TESTS,
        terminals::TESTS,
    ])
}
