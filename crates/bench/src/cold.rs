//! `jsrun` from exec to exit: the whole program, its walls and its engine, for one answer.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::calls::milliseconds;
use crate::failure::Failure;
use crate::row::{Row, Target, Times};

/// Runs of the program alone, and in turns with another.
pub(crate) const RUNS: (usize, usize) = (40, 100);

/// The row about one run.
pub(crate) fn jsrun(program: &Path, bare: &Times) -> Result<Vec<Row>, Failure> {
    let request = r#"{"source":"emit(read_input())","input":"x"}"#;
    let time =
        time(program, &["jsrun"], request).map_err(|source| Failure::Measure { what: "jsrun", source })?;
    Ok(vec![Row {
        against: Some("fork+exit+wait"),
        ratio: Some(time / bare.median()),
        target: Some(Target::AtMost(8.0)),
        ..Row::new("jsrun.cold", time, "ms", 1)
    }])
}

/// Runs a program, from exec to exit; gives the milliseconds that it took.
#[expect(
    clippy::disallowed_methods,
    reason = "a figure of this program and of its peers, started by the operator"
)]
pub(crate) fn time(program: &Path, arguments: &[&str], input: &str) -> std::io::Result<f64> {
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
    let took = milliseconds(started.elapsed());
    if status.success() {
        Ok(took)
    } else {
        Err(std::io::Error::other(format!("{} ended with {status}", program.display())))
    }
}
