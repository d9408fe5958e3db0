//! The library as a program uses it: calls, their bounds, the walls around them, and what is left when it all goes wrong.
//!
//! Cells are made by starting this binary again, so `main` is its own. Tests about the whole process (its children, its
//! descriptors, its environment) start the binary once more and run in that process alone; see `alone`.
//!
//! Start reading at `stage` (a runtime for one test), then at any subject.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this binary is a test; without the usual harness the compiler cannot see that"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a test starts processes, reads the kernel's files about them and waits for them"
)]

mod alone;
mod asking;
mod basics;
mod bounds;
mod chaos;
mod denials;
mod dropping;
mod emit;
mod exhaustion;
mod fetching;
mod forbidden_namespaces;
mod hollow;
mod hostile;
mod isolation;
mod kills;
mod memory_of_cells;
mod not_entered;
mod observing;
mod ordinary_user;
mod output;
mod outside;
mod pressure;
mod probes;
mod processes;
mod replaying;
mod requires;
mod sealed;
mod secrets;
mod stage;
mod standing;
mod surroundings;
mod text;
mod walls;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: bailiwick::Telling = bailiwick::Telling;

fn main() -> ExitCode {
    // The one role that leaves out the line below is there to see what happens then.
    if not_entered::is_asked_for() {
        return not_entered::role();
    }
    bailiwick::enter();
    if let Some(code) = alone::play_role() {
        return code;
    }
    bailiwick_testkit::run_tests(&[
        asking::TESTS,
        basics::TESTS,
        bounds::TESTS,
        chaos::TESTS,
        denials::TESTS,
        dropping::TESTS,
        emit::TESTS,
        exhaustion::TESTS,
        fetching::TESTS,
        forbidden_namespaces::TESTS,
        hollow::TESTS,
        hostile::TESTS,
        isolation::TESTS,
        kills::TESTS,
        memory_of_cells::TESTS,
        not_entered::TESTS,
        observing::TESTS,
        ordinary_user::TESTS,
        pressure::TESTS,
        probes::TESTS,
        replaying::TESTS,
        sealed::TESTS,
        secrets::TESTS,
        surroundings::TESTS,
        text::TESTS,
        walls::TESTS,
    ])
}
