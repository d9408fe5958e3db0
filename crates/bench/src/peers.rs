//! Peers, measured beside us where `make bench-peers` has installed them. None of them has a process wall.

use std::path::Path;

use crate::cold::time;
use crate::row::{Row, Target, Times};

/// A fresh isolate of isolated-vm and a fresh context of quickjs-emscripten, each for one evaluation.
const ISOLATED_VM: &str = "const ivm = require('isolated-vm'); const run = () => { \
    const isolate = new ivm.Isolate({memoryLimit: 64}); const context = isolate.createContextSync(); \
    const value = context.evalSync('40+2'); isolate.dispose(); return value; };";
const QUICKJS_EMSCRIPTEN: &str = "const {getQuickJS} = require('quickjs-emscripten'); let run; const ready = \
    getQuickJS().then(quickjs => { run = () => { const context = quickjs.newContext(); \
    const value = context.unwrapResult(context.evalCode('40+2')); const number = context.getNumber(value); \
    value.dispose(); context.dispose(); return number; }; });";

/// Runs `run` many times and prints the median in milliseconds.
const MEASURE: &str = "Promise.resolve(typeof ready === 'undefined' ? null : ready).then(() => { \
    for (let i = 0; i < 50; i++) run(); const times = []; for (let i = 0; i < 400; i++) { \
    const start = process.hrtime.bigint(); if (run() !== 42) process.exit(1); \
    times.push(Number(process.hrtime.bigint() - start) / 1e6); } times.sort((a, b) => a - b); \
    console.log(times[200]); });";

/// The rows of the peers that are there.
pub(crate) fn peers(directory: &Path, p50_ms: f64) -> Vec<Row> {
    let modules = directory.join("node_modules");
    let bin = modules.join(".bin");
    let inside = [
        ("peer.isolated-vm", "a call in a cell", ISOLATED_VM, 5.0),
        ("peer.quickjs-emscripten", "a call in a cell", QUICKJS_EMSCRIPTEN, 2.0),
    ];
    let mut rows = Vec::new();
    for (id, against, script, faster) in inside {
        let Some(value) = median_of(directory, &format!("{script}{MEASURE}")) else { continue };
        rows.push(Row {
            against: Some(against),
            ratio: Some(value / p50_ms),
            // Ours has to be this many times faster, so theirs this many times slower.
            target: Some(Target::AtLeast(p50_ms * faster)),
            ..Row::new(id, value, "ms", 400)
        });
    }
    let started = [
        ("peer.node", Path::new("node").to_owned(), ["-e", ""]),
        ("peer.bun", bin.join("bun"), ["-e", ""]),
        ("peer.deno", bin.join("deno"), ["eval", ""]),
    ];
    for (id, program, arguments) in started {
        let times = (0..20).map(|_| time(&program, &arguments, "")).collect::<Result<_, _>>();
        let Ok(times) = times.map(Times::new) else { continue };
        rows.push(Row {
            against: Some("a call in a cell"),
            ratio: Some(times.median() / p50_ms),
            ..Row::of_times(id, &times, "ms")
        });
    }
    rows
}

#[expect(clippy::disallowed_methods, reason = "a peer, installed and asked for by the operator")]
fn median_of(directory: &Path, script: &str) -> Option<f64> {
    let output =
        std::process::Command::new("node").arg("-e").arg(script).current_dir(directory).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
