//! A test in a process of its own: the test's binary is started once more, for that test alone.
//!
//! The usual harness and those that understand its `--exact` can do that. Nothing here may pass for a test that did not
//! run.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

#[cfg(test)]
mod tests;

/// The variable that the second process has; its value is up to who started it.
pub(crate) const MARK: &str = "BAILIWICK_TEST_AGAIN";

/// What the process that runs this test again was told; `None` in the first one.
#[expect(clippy::disallowed_methods, reason = "read by tests only, which have no settings")]
pub(crate) fn told() -> Option<String> {
    std::env::var(MARK).ok()
}

/// Runs the test in which this closure is written again, by this command for its binary.
///
/// # Panics
/// When the test fails there, or is not found.
#[track_caller]
#[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
pub(crate) fn run<Inside: FnOnce()>(_inside: &Inside, tell: &str, command: impl FnOnce(&Path) -> Command) {
    let name = test_of::<Inside>();
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = command(&program);
    command.args(["--exact", &name, "--nocapture"]).env(MARK, tell);
    let output = command.output().expect("the process starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let has_passed = output.status.success() && stdout.contains(" 1 passed;");
    assert!(has_passed, "`{name}`, run again, ended with {}\n{stdout}\n{stderr}", output.status);
    // What it skipped has to be seen; a reader that went away has nothing to miss.
    let _ = std::io::stderr().write_all(&output.stderr);
}

/// The name that a harness has for the test in which this closure is written.
fn test_of<Inside>() -> String {
    let path = std::any::type_name::<Inside>();
    let path = path.split("::{{closure}}").next().unwrap_or(path);
    path.split_once("::").map_or(path, |(_, within)| within).to_owned()
}
