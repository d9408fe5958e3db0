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

/// Names the tests of a module by their functions.
macro_rules! tests {
    ($($test:ident),+ $(,)?) => {
        /// The tests of this module.
        pub(crate) const TESTS: &[$crate::Test] =
            &[$($crate::Test { name: concat!(module_path!(), "::", stringify!($test)), run: $test }),+];
    };
}
pub(crate) use tests;

/// One test.
#[derive(Clone, Copy)]
pub(crate) struct Test {
    /// Its module and a sentence.
    name: &'static str,
    /// Panics when it fails.
    run: fn(),
}

const ALL: &[&[Test]] = &[
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
];

fn main() -> ExitCode {
    bailiwick_runtime::enter();
    let trials = ALL.iter().copied().flatten().map(|test| {
        let Test { name, run } = *test;
        let name = name.strip_prefix("it::").unwrap_or(name);
        libtest_mimic::Trial::test(name, move || {
            run();
            Ok(())
        })
    });
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials.collect()).exit_code()
}
