//! The server as a client meets it: messages in, messages out, over HTTP and over a pipe, in both eras. Behind it stand a
//! real core and real cells.
//!
//! Cells are made by starting this binary again, so `main` is its own. Start reading at `stage`, then at `client`.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this binary is a test; without the usual harness the compiler cannot see that"
)]

mod answers;
mod calls;
mod changes;
mod client;
mod ending;
mod hostile;
mod lists;
mod names;
mod questions;
mod sessions;
mod stage;
mod states;
mod tools;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: bailiwick_core::Telling = bailiwick_core::Telling;

fn main() -> ExitCode {
    bailiwick_core::enter();
    bailiwick_testkit::run_tests(&[
        answers::TESTS,
        calls::TESTS,
        changes::TESTS,
        ending::TESTS,
        hostile::TESTS,
        lists::TESTS,
        names::TESTS,
        questions::TESTS,
        sessions::TESTS,
        states::TESTS,
    ])
}
