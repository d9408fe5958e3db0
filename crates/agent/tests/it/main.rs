//! An agent as a host sees it: started like a sandbox's first process, and spoken to over a socket.
//!
//! The agent under test is this program again, once as an ordinary process and once as the first of a pid namespace.

mod agent;
mod commands;
mod files;
mod packs;
mod place;
mod resets;
mod streams;
mod terminals;

use std::process::ExitCode;

fn main() -> ExitCode {
    place::enter();
    bailiwick_testkit::run_tests(&[
        commands::TESTS,
        files::TESTS,
        packs::TESTS,
        resets::TESTS,
        streams::TESTS,
        terminals::TESTS,
    ])
}
