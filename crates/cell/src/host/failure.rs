//! What went wrong, in words: what happened, which limit, what to do next.

use bailiwick_types::{ErrorCode, Failure, LimitKind};
use bailiwick_wire::{JobLimits, Trouble, TroubleKind};

use crate::ending::Silence;

/// The longest message a cell may make us repeat.
const LONGEST: usize = 16 * 1024;

fn failure(code: ErrorCode, message: String, hint: Option<String>) -> Failure {
    Failure { code, message, hint, location: None, stack: None, denied: None }
}

/// The trouble that a cell told of.
pub(super) fn trouble(trouble: Trouble, limits: JobLimits) -> Failure {
    let Trouble { kind, message, location, stack, missing: _, refusal: _ } = trouble;
    let told = match kind {
        TroubleKind::Wall => late(limits),
        TroubleKind::Cpu => at_limit(LimitKind::Cpu, limits.cpu_ms.unwrap_or_default()),
        TroubleKind::Steps => at_limit(LimitKind::Steps, limits.steps.unwrap_or_default()),
        TroubleKind::Memory => at_limit(LimitKind::Memory, limits.memory),
        TroubleKind::Stack => at_limit(LimitKind::Stack, limits.stack),
        TroubleKind::Output => at_limit(LimitKind::ResultSize, limits.result),
        TroubleKind::Deadlock => {
            let hint = "await something that can happen, or return before it";
            failure(kind.code(), cut(message), Some(hint.to_owned()))
        }
        TroubleKind::Validation
        | TroubleKind::Syntax
        | TroubleKind::Threw
        | TroubleKind::Input
        | TroubleKind::Fault => failure(kind.code(), cut(message), None),
    };
    Failure { location, stack: stack.map(cut), ..told }
}

/// A text of a bounded length, cut between characters.
fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}

/// A limit that was reached.
fn at_limit(kind: LimitKind, value: u64) -> Failure {
    let code = match kind.breach() {
        bailiwick_types::Breach::Fails(code) => code,
        bailiwick_types::Breach::Dropped | bailiwick_types::Breach::Waits => ErrorCode::Internal,
    };
    let message = format!("the limit on the {} was reached: {}", kind.doc(), kind.unit().format(value));
    failure(code, message, Some(raise(kind)))
}

fn raise(kind: LimitKind) -> String {
    let flag = match kind {
        LimitKind::Wall => ", or --timeout for one run",
        LimitKind::Memory => ", or --memory for one run",
        _ => "",
    };
    format!("raise `{}` under `limits` of the tool{flag}; the operator's `ceilings` bound it", kind.key())
}

/// The deadline.
pub(super) fn late(limits: JobLimits) -> Failure {
    at_limit(LimitKind::Wall, limits.wall_ms)
}

/// A trapped system call.
pub(super) fn violation(name: Option<&str>, number: u32) -> Failure {
    let call = name.map_or_else(|| format!("number {number}"), |name| format!("`{name}`"));
    failure(
        ErrorCode::SandboxViolation,
        format!("the cell tried the system call {call}, which its wall forbids; it was ended at once"),
        Some(
            "no code should be able to cause this: treat it as an attack, keep the code, and report it"
                .to_owned(),
        ),
    )
}

/// A cell that ended without a word.
pub(super) fn silence(silence: Silence, limits: JobLimits) -> Failure {
    match silence {
        Silence::Violation => violation(Some("(unknown)"), 0),
        Silence::NestedTooDeep => failure(
            ErrorCode::StackLimit,
            "the source nests deeper than its parser can go".to_owned(),
            Some("break long chains and deep nesting into statements".to_owned()),
        ),
        Silence::Cpu => at_limit(LimitKind::Cpu, limits.cpu_ms.unwrap_or_default()),
        Silence::Allocation => Failure {
            message: format!(
                "memory outside the engine ran out under the limit of {}",
                LimitKind::Memory.unit().format(limits.memory)
            ),
            ..at_limit(LimitKind::Memory, limits.memory)
        },
        Silence::Killed => failure(
            ErrorCode::MemoryLimit,
            "the kernel ended the cell: the cells of this tenant together ran out of memory".to_owned(),
            Some("run fewer calls at once, or give them less memory each".to_owned()),
        ),
        Silence::Fault(what) => failure(
            ErrorCode::Crashed,
            format!("the cell ended by {what}"),
            Some(
                "this is a fault of the runtime, not of the code: please report it with the code".to_owned(),
            ),
        ),
    }
}

/// A result of too many values.
pub(super) fn too_many_values(most: usize) -> Failure {
    failure(
        ErrorCode::OutputLimit,
        format!("the result has more than {most} values"),
        Some("give less, or many numbers as the bytes of a typed array".to_owned()),
    )
}

/// A cell that somebody else killed.
pub(super) fn killed() -> Failure {
    failure(
        ErrorCode::Crashed,
        "somebody outside killed the cell".to_owned(),
        Some("look for who kills processes on this machine; then try again".to_owned()),
    )
}

/// A nursery that took its cells with it.
pub(super) fn nursery_died() -> Failure {
    failure(
        ErrorCode::Crashed,
        "the nursery of this cell ended, and the call with it".to_owned(),
        Some("a new nursery is started already: try again".to_owned()),
    )
}

/// A cell that says what no cell says.
pub(super) fn garbled() -> Failure {
    failure(
        ErrorCode::Crashed,
        "the cell said something that is no message".to_owned(),
        Some("treat it as an attack, keep the code, and report it".to_owned()),
    )
}
