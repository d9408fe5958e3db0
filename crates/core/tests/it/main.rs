//! The core as a door uses it: actions on a data folder of their own, with real cells behind them.
//!
//! Cells are made by starting this binary again, so `main` is its own. Start reading at `stage`.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this binary is a test; without the usual harness the compiler cannot see that"
)]

mod agents;
mod agents_apart;
mod announcing;
mod approvals;
mod asking;
mod calls;
mod code;
mod command_policy;
mod commands;
mod contents;
mod edits;
mod executing;
mod happenings;
mod imports;
mod keys;
mod offered;
mod passes;
mod publishing;
mod queue;
mod record;
mod remembered;
mod sandboxes;
mod scopes;
mod settings;
mod stage;
mod tampering;
mod unwalled;
mod workspaces;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: bailiwick_runtime::Telling = bailiwick_runtime::Telling;

fn main() -> ExitCode {
    bailiwick_runtime::enter();
    bailiwick_testkit::run_tests(&[
        agents::TESTS,
        agents_apart::TESTS,
        announcing::TESTS,
        approvals::TESTS,
        calls::TESTS,
        code::TESTS,
        command_policy::TESTS,
        commands::TESTS,
        contents::TESTS,
        edits::TESTS,
        executing::TESTS,
        happenings::TESTS,
        imports::TESTS,
        keys::TESTS,
        offered::TESTS,
        passes::TESTS,
        publishing::TESTS,
        queue::TESTS,
        record::TESTS,
        remembered::TESTS,
        sandboxes::TESTS,
        scopes::TESTS,
        settings::TESTS,
        tampering::TESTS,
        workspaces::TESTS,
    ])
}
