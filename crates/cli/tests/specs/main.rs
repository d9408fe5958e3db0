//! Every case of `specs/` as a test of its own: in cells, and for commands on every backend.
//!
//! `cargo test --test specs -- matrix::gvisor::escape` runs one area on one backend. See `docs/testing.md` for what runs when. Start at
//! [`cells`] and [`matrix`]; the groups in [`hollow`] run the same cases where nothing is enforced, to see them fail.

mod cells;
mod commands_network;
mod hollow;
mod matrix;
mod network;
mod webassembly;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bailiwick_testkit::{Group, Prepared, Specs, run_suite};

fn main() -> ExitCode {
    let mut groups = cells::groups();
    groups.extend(webassembly::groups());
    groups.extend(hollow::groups());
    groups.extend(matrix::groups());
    run_suite(&[cells::TESTS, commands_network::TESTS, matrix::TESTS], groups)
}

fn bailiwick() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_bailiwick"))
}

fn specs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs").join(name)
}

/// Cases and what is expected of each.
struct Cases<Judge> {
    specs: Specs,
    judge: Judge,
}

impl<Judge> Prepared for Cases<Judge>
where
    Judge: Fn(&str, Result<(), String>) -> Result<(), String> + Send + Sync,
{
    fn check(&self, case: &str) -> Result<(), String> {
        (self.judge)(case, self.specs.run_case(case))
    }
}

/// Every case holds.
fn holds(_: &str, result: Result<(), String>) -> Result<(), String> {
    result
}

/// No case holds: one that does would prove nothing.
#[expect(clippy::needless_pass_by_value, reason = "every judge takes a result in the same way")]
fn fails(_: &str, result: Result<(), String>) -> Result<(), String> {
    match result {
        Ok(()) => Err("it holds where nothing is enforced, so it proves nothing".to_owned()),
        Err(_) => Ok(()),
    }
}

/// Every attack wins, and says so.
fn wins(_: &str, result: Result<(), String>) -> Result<(), String> {
    match result {
        Err(wrong) if wrong.contains("ESCAPED") => Ok(()),
        Err(wrong) => Err(format!("the attack does not win where nothing is enforced: {wrong}")),
        Ok(()) => Err("the attack does not win where nothing is enforced: the case holds".to_owned()),
    }
}

/// A group of an area whose cases all meet the same expectation.
fn group(
    name: &str,
    specs: impl Fn() -> Specs + Send + Sync + 'static,
    judge: fn(&str, Result<(), String>) -> Result<(), String>,
    is_possible: impl Fn() -> bool + Send + Sync + 'static,
) -> Group {
    let cases = specs().cases();
    Group::new(name, cases, move || is_possible().then(|| Cases { specs: specs(), judge }))
}
