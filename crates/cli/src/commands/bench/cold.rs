//! `jsrun` from exec to exit: the whole program, its walls and its engine, for one answer.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::calls::milliseconds;
use super::row::{Row, Target, Times};
use crate::failure::Failure;

/// Runs.
const RUNS: usize = 40;

/// The row.
pub(super) fn jsrun(bare: &Times) -> Result<Row, Failure> {
    let request = r#"{"source":"emit(read_input())","input":"x"}"#;
    let times = time(Path::new("/proc/self/exe"), &["jsrun"], request, RUNS)
        .map_err(|source| Failure::Measure { what: "jsrun", source })?;
    Ok(Row {
        id: "jsrun.cold",
        value: times.median(),
        unit: "ms",
        against: Some("fork+exit+wait"),
        ratio: Some(times.median() / bare.median()),
        target: Some(Target::AtMost(8.0)),
        spread: Some(times.spread()),
        samples: times.count(),
    })
}

/// Runs a program several times, from exec to exit.
#[expect(
    clippy::disallowed_methods,
    reason = "a figure of this program and of its peers, started by the operator"
)]
pub(super) fn time(program: &Path, arguments: &[&str], input: &str, runs: usize) -> std::io::Result<Times> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let started = Instant::now();
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let status = child.wait()?;
        times.push(milliseconds(started.elapsed()));
        if !status.success() {
            return Err(std::io::Error::other(format!("{} ended with {status}", program.display())));
        }
    }
    Ok(Times::new(times))
}
