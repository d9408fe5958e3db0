//! Sandboxes of the backend `container` as a host has them: real ones, by the engines that this machine has.
//!
//! Each test is run for Docker, and for Podman by a service of its own. One test starts this program again, as an owner that is
//! killed.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "the harness is not the usual one, so clippy does not see that these are tests"
)]
#![expect(clippy::disallowed_methods, reason = "tests make files and look at processes of their own")]

mod endings;
mod engines;
mod images;
mod limits;
mod owners;
mod place;
mod runtimes;
mod states;
mod subject;
mod walls;

use std::process::ExitCode;

use bailiwick_testkit_sandbox::conformance::become_owner;

fn main() -> ExitCode {
    if let Some(code) = become_owner(subject::Container::told).or_else(owners::become_one) {
        return code;
    }
    let own = [
        endings::TESTS,
        images::TESTS,
        limits::TESTS,
        owners::TESTS,
        runtimes::TESTS,
        states::TESTS,
        walls::TESTS,
    ];
    bailiwick_testkit::run_tests_and(&own, subject::tests())
}
