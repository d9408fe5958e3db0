//! What a call gave, for people: its value on stdout, its console and its failure on stderr.

use bailiwick_types::{CallReport, Failure, LogLevel, LogLine};
use serde_json::json;

use super::{Screen, Span, bad, faint, plain, strong, to_stderr, warning};

/// Tells a report; gives the exit code. `name` is what was called.
pub(crate) fn tell(screen: &mut Screen, name: &str, report: &CallReport, verbose: bool) -> u8 {
    if screen.wants_json() {
        screen.json(&json!(report));
        return report.exit_code();
    }
    if report.logs_dropped() > 0 {
        let dropped = format!("{} console lines beyond the limits were dropped", report.logs_dropped());
        screen.note(&dropped);
    }
    if report.receipt().insecure {
        to_stderr(&[bad("insecure: "), plain("the walls of this call were below the floor")]);
    }
    match report.failure() {
        Some(failure) => told(name, failure, verbose),
        None => screen.json(report.value()),
    }
    if verbose {
        let usage = report.usage();
        let used = format!(
            "{:.2} ms, {:.2} ms of CPU, {} steps, {} bytes at most; call {}",
            usage.wall_ms,
            usage.cpu_ms,
            usage.steps,
            usage.memory_peak,
            report.call_id()
        );
        screen.note(&used);
    }
    report.exit_code()
}

/// A failure for people: what, where, what to do.
pub(crate) fn told(name: &str, failure: &Failure, verbose: bool) {
    let code = format!("{}: ", failure.code);
    to_stderr(&[bad("error: "), strong(&code), plain(&failure.message)]);
    if let Some(at) = failure.location {
        to_stderr(&[faint("  --> "), plain(&format!("{name}:{}:{}", at.line, at.column))]);
    }
    if let Some(stack) = failure.stack.as_deref().filter(|_| verbose) {
        for line in stack.lines() {
            to_stderr(&[faint("      "), faint(line.trim())]);
        }
    }
    if let Some(hint) = &failure.hint {
        to_stderr(&[strong("  hint: "), plain(hint)]);
    }
}

/// A console line; each of its own lines stays one.
pub(crate) fn console(line: &LogLine) {
    let lead: Span<'_> = match line.level {
        LogLevel::Error => bad("error "),
        LogLevel::Warn => warning("warn  "),
        LogLevel::Debug => faint("debug "),
        LogLevel::Info | LogLevel::Log => plain(""),
    };
    for text in line.text.split('\n') {
        to_stderr(&[lead.clone(), plain(text)]);
    }
}
