//! How a command ended, as the outcome of a call; what it said beside its result, as console lines. Everything is masked
//! before it is cut, so that no half of a secret is left over.

use bailiwick_redact::Redactor;
use bailiwick_runtime::redacted;
use bailiwick_sandbox::{Captured, ExecResult, Exit, Limit, Limits, signal_name};
use bailiwick_tool::{CommandBlock, Gives, Runs};
use bailiwick_types::{ErrorCode, Failure, LogLevel, LogLine, Outcome};
use serde_json::Value;

use super::python;

/// Characters of standard error that a failure tells.
const TOLD: usize = 1_000;
/// Console lines that are kept.
const MOST_LINES: usize = 1_000;
/// Bytes of console lines that are kept.
const MOST_BYTES: usize = 256 * 1024;
/// The signal of a system call that the filter forbids.
const SIGSYS: i32 = 31;

/// What a call gave whose command ended like this.
pub(super) fn outcome(
    block: &CommandBlock,
    result: &ExecResult,
    limits: &Limits,
    redactor: &Redactor,
) -> Outcome {
    match value(block, result, limits) {
        Ok(value) => Outcome::Returned(redacted(redactor, value)),
        Err(failure) => Outcome::Failed(Box::new(masked(redactor, *failure))),
    }
}

fn value(block: &CommandBlock, result: &ExecResult, limits: &Limits) -> Result<Value, Box<Failure>> {
    if result.timed_out {
        let told = limits_told(limits, Limit::Timeout);
        let hint = "do less, or raise `command.limits.timeout` within the operator's ceiling";
        return Err(failed(ErrorCode::Timeout, format!("the command ran longer than its {told}"), hint));
    }
    if result.oom {
        let told = limits_told(limits, Limit::Memory);
        let hint = "use less, or raise `command.limits.memory` within the operator's ceiling";
        return Err(failed(ErrorCode::MemoryLimit, format!("the command needed more than its {told}"), hint));
    }
    let is_ok = matches!(result.exit, Exit::Code(code) if block.is_ok_exit(code));
    if !is_ok && let Some(denial) = result.denials.first() {
        let message = format!("{}: {}", denial.asked, denial.reason.meaning());
        let failure = failed(denial.code, message, "say it below `command`, and have the tool passed again");
        return Err(Box::new(Failure { denied: Some(denial.clone()), ..*failure }));
    }
    if matches!(block.runs(), Runs::Python(_))
        && !result.stdout.truncated
        && let Some(said) = result.stdout.text().and_then(python::said)
    {
        return match said {
            Outcome::Returned(value) => Ok(value),
            Outcome::Failed(failure) => Err(failure),
        };
    }
    if !is_ok {
        return Err(ended(result));
    }
    if result.stdout.truncated {
        let told = limits_told(limits, Limit::Output);
        let hint = "say less, or raise `command.limits.output` within the operator's ceiling";
        return Err(failed(ErrorCode::OutputLimit, format!("the command wrote more than its {told}"), hint));
    }
    let Some(text) = result.stdout.text() else {
        let hint = "have it write text, or encode its bytes: `base64`";
        return Err(failed(ErrorCode::EvalError, "what the command wrote is no UTF-8", hint));
    };
    match (block.runs(), block.output()) {
        (Runs::Python(_), _) => {
            let hint = "a script gives its result with `return`";
            Err(failed(ErrorCode::EvalError, "the script ended without a result", hint))
        }
        (Runs::Argv(_), Gives::Text) => Ok(text.into()),
        (Runs::Argv(_), Gives::Lines) => Ok(text.lines().collect()),
        (Runs::Argv(_), Gives::Json) => serde_json::from_str(text).map_err(|error| {
            let message = format!("what the command wrote is no JSON: {error}");
            failed(ErrorCode::EvalError, message, "leave out `output: json`, or have it write one JSON value")
        }),
    }
}

/// A command that did not end well.
fn ended(result: &ExecResult) -> Box<Failure> {
    let (code, message, hint) = match result.exit {
        Exit::NotFound => (
            ErrorCode::EvalError,
            "there is no such program in the sandbox".to_owned(),
            "name an image that has it with `command.image`, or install it on the host",
        ),
        Exit::NotExecutable => (
            ErrorCode::EvalError,
            "what the command names is no program".to_owned(),
            "name a program in the first item of `argv`",
        ),
        Exit::Signal(SIGSYS) => (
            ErrorCode::SandboxViolation,
            "the command tried a system call that its wall forbids".to_owned(),
            "it runs behind no wall of this kind",
        ),
        Exit::Signal(signal) => (
            ErrorCode::EvalError,
            format!("the command was ended by {}", signal_name(signal)),
            "look at its console lines",
        ),
        Exit::Code(code) => (
            ErrorCode::EvalError,
            format!("the command ended with the exit code {code}"),
            "look at its console lines; `okExit` lists the codes that are no failure",
        ),
    };
    let failure = failed(code, message, hint);
    match result.stderr.text().map(str::trim_end).filter(|text| !text.is_empty()) {
        Some(said) => Box::new(Failure { message: format!("{}: {said}", failure.message), ..*failure }),
        None => failure,
    }
}

fn limits_told(limits: &Limits, limit: Limit) -> String {
    format!("limit of {} on {limit}", limit.told(limits.get(limit)))
}

fn failed(code: ErrorCode, message: impl Into<String>, hint: &str) -> Box<Failure> {
    Box::new(Failure {
        code,
        message: message.into(),
        hint: Some(hint.to_owned()),
        location: None,
        stack: None,
        denied: None,
    })
}

/// A failure without secrets; a long message keeps its beginning, which is ours, and its end, which tells most.
fn masked(redactor: &Redactor, failure: Failure) -> Failure {
    let Failure { code, message, hint, location, stack, denied } = failure;
    let message = redactor.redact(&message).into_owned();
    let count = message.chars().count();
    let message = if count > 2 * TOLD {
        let first: String = message.chars().take(200).collect();
        let last: String = message.chars().skip(count - TOLD).collect();
        format!("{first} … {last}")
    } else {
        message
    };
    let mask = |text: String| redactor.redact(&text).into_owned();
    let denied = denied.map(|denied| bailiwick_types::Denial { asked: mask(denied.asked), ..denied });
    Failure { code, message, hint, location, stack: stack.map(mask), denied }
}

/// What a command said beside its result, and how many lines there was no room for. They are told when it has ended.
pub(super) fn lines(result: &ExecResult, redactor: &Redactor) -> (Vec<LogLine>, u64) {
    let Captured { bytes, truncated } = &result.stderr;
    let text = String::from_utf8_lossy(bytes);
    let text = if *truncated { redactor.redact_cut(&text) } else { redactor.redact(&text) };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time that ran is neither negative nor beyond 2^53 milliseconds"
    )]
    let at = result.usage.wall_ms as u64;
    let (mut lines, mut size, mut dropped) = (Vec::new(), 0, u64::from(*truncated));
    for line in text.lines() {
        size += line.len();
        if lines.len() >= MOST_LINES || size > MOST_BYTES {
            dropped += 1;
            continue;
        }
        lines.push(LogLine { level: LogLevel::Log, text: line.to_owned(), at });
    }
    let denied = result.denials.iter().map(|denial| LogLine {
        level: LogLevel::Warn,
        text: redactor.redact(&format!("denied: {}: {}", denial.asked, denial.reason.meaning())).into_owned(),
        at,
    });
    lines.extend(denied.take(MOST_LINES));
    (lines, dropped)
}

#[cfg(test)]
mod tests;
