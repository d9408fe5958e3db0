//! What a command gave: its own exit code, and on stderr what a person should know of how it ended.

use bailiwick_sandbox::{ExecResult, Exit, Limit, Limits, signal_name};
use bailiwick_types::Denial;
use serde_json::{Value, json};

use crate::render::{Screen, bad, plain, to_stderr, warning};

/// As a shell tells it of a program whose reader went away.
const NO_READER: u8 = 128 + 13;

/// Tells a result; gives the exit code. The limits are those that were asked for here, where any were; `is_gone` where
/// nobody reads our output any more.
pub(crate) fn tell(
    screen: &mut Screen,
    result: &ExecResult,
    warnings: &[String],
    limits: Option<&Limits>,
    is_gone: bool,
) -> u8 {
    // What a system keeps of a code.
    let status = u8::try_from(result.exit_status() & 0xff).unwrap_or(u8::MAX);
    if screen.wants_json() {
        let mut shown = json!(result);
        if let Value::Object(fields) = &mut shown {
            fields.insert("warnings".to_owned(), json!(warnings));
        }
        screen.json(&shown);
        return status;
    }
    if is_gone {
        return NO_READER;
    }
    for (stream, captured) in [("stdout", &result.stdout), ("stderr", &result.stderr)] {
        if captured.truncated {
            let most = raised(limits, Limit::Output, " after ");
            say(screen, &format!("{stream} was cut{most}"));
        }
    }
    match result.exit {
        Exit::NotFound => to_stderr(&[bad("error: "), plain("there is no such program in the sandbox")]),
        Exit::NotExecutable => to_stderr(&[bad("error: "), plain("it is there, and cannot be run")]),
        _ if result.timed_out => {
            say(screen, &format!("its time was up{}", raised(limits, Limit::Timeout, ": ")));
        }
        _ if result.oom => {
            let most = raised(limits, Limit::Memory, ": ");
            say(
                screen,
                &format!("the limit on memory, within which its files count, ended it or a part of it{most}"),
            );
        }
        Exit::Signal(signal) => say(screen, &format!("{} ended it", signal_name(signal))),
        Exit::Code(_) => {}
    }
    for denial in &result.denials {
        say(screen, &denied(denial));
    }
    status
}

/// What was refused, why, and which flag would allow it, if one does.
fn denied(denial: &Denial) -> String {
    let Denial { code, asked, reason, fix, .. } = denial;
    let network = fix.as_ref().and_then(|fix| fix.overrides.get("network")).and_then(Value::as_str);
    let fix = network.map_or_else(String::new, |network| format!("; --net {network} would allow it"));
    format!("{code}: {asked}: {} ({reason}){fix}", reason.meaning())
}

/// How much a limit was, and which flag raises it.
fn raised(limits: Option<&Limits>, limit: Limit, lead: &str) -> String {
    limits.map_or_else(String::new, |limits| {
        format!("{lead}{}; --{limit} raises that", limit.told(limits.get(limit)))
    })
}

fn say(screen: &Screen, text: &str) {
    if !screen.is_quiet() {
        to_stderr(&[warning("note: "), plain(text)]);
    }
}
