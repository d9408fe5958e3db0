//! Views as a sandbox has them: the kernel itself writes what is looked at, through mounts of overlayfs in namespaces of
//! their own.
//!
//! A commit is killed by starting this program again, so it has a `main` of its own.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the harness is not the usual one, so clippy does not see that these are tests"
)]
#![expect(clippy::disallowed_methods, reason = "tests make files and start programs of their own")]

mod commits;
mod conflicts;
mod discards;
mod found;
mod hostile;
mod kills;
mod ordinary;
mod patches;
mod place;
mod random;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = kills::become_one() {
        return code;
    }
    bailiwick_testkit::run_tests(&[
        commits::TESTS,
        conflicts::TESTS,
        discards::TESTS,
        found::TESTS,
        hostile::TESTS,
        kills::TESTS,
        ordinary::TESTS,
        patches::TESTS,
        random::TESTS,
    ])
}
