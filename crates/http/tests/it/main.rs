//! The routes as a client meets them: requests in, answers out, held to the `OpenAPI` document.
//!
//! Most tests put somebody behind the desk who replies by a script, so that the action and the answer are seen; `real`
//! has a whole core with cells there. Cells are made by starting this binary again, so `main` is its own. Start reading
//! at `stage`, then at `operations`.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this binary is a test; without the usual harness the compiler cannot see that"
)]

mod document;
mod door;
mod mounted;
mod once;
mod open;
mod operations;
mod pages;
mod people;
mod real;
mod refusals;
mod replies;
mod resource;
mod room;
mod sandboxes;
mod schema;
mod shapes;
mod stage;
mod streams;
mod terminals;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: bailiwick_core::Telling = bailiwick_core::Telling;

fn main() -> ExitCode {
    bailiwick_core::enter();
    if std::env::args().any(|argument| argument == document::WRITE) {
        document::write();
        return ExitCode::SUCCESS;
    }
    bailiwick_testkit::run_tests(&[
        document::TESTS,
        door::TESTS,
        mounted::TESTS,
        once::TESTS,
        open::TESTS,
        operations::TESTS,
        pages::TESTS,
        people::TESTS,
        real::TESTS,
        refusals::TESTS,
        resource::TESTS,
        room::TESTS,
        sandboxes::TESTS,
        shapes::TESTS,
        streams::TESTS,
        terminals::TESTS,
    ])
}
