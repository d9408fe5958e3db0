//! `bailiwick tool check`: what is wrong or doubtful about documents, where, and what to write instead.

use bailiwick_core::{Action, Checked, CodeFinding, Document, Fault, Found, Refusal, Reply};
use bailiwick_types::Risk;
use serde_json::{Value, json};

use super::is_about_the_input;
use crate::desk::{At, ask, at_desk};
use crate::failure::Failure;
use crate::places::Places;
use crate::render::{Screen, bad, error_of, faint, good, level, plain, strong, warning};
use crate::resolved::Session;
use crate::targets;
use crate::typed::tool::Check;

/// The exit code when something stands in the way.
const BLOCKED: u8 = 2;

/// `bailiwick tool check TARGET…`
pub(crate) fn check(screen: &mut Screen, session: &Session, what: &Check) -> Result<u8, Failure> {
    let files = targets::files_below(&what.targets)?;
    at_desk(session, &what.cells, async |desk| {
        let mut all = Vec::new();
        let mut blocked = 0;
        for path in &files {
            let document = targets::read(path)?;
            let places = Places::of(path, &document.text);
            let looked = look(desk, document).await?;
            blocked += usize::from(!looked.as_ref().is_ok_and(|checked| checked.ok));
            if screen.wants_json() {
                all.push(to_json(places.file(), &looked));
            } else {
                tell(screen, &places, &looked);
            }
        }
        if screen.wants_json() {
            screen.json(&json!({"ok": blocked == 0, "tools": all}));
        } else if files.len() > 1 {
            screen.line(&[plain(&format!("{} fine, {blocked} blocked", files.len() - blocked))]);
        }
        Ok(if blocked == 0 { 0 } else { BLOCKED })
    })
}

/// Looks at one document; what is wrong with it is no reason to stop.
async fn look(desk: &At, document: Document) -> Result<Result<Checked, Refusal>, Failure> {
    match ask(desk, Action::ToolCheck { document }).await {
        Ok(Reply::Checked(checked)) => Ok(Ok(*checked)),
        Ok(_) => Err(Failure::StrangeReply("a check")),
        Err(refusal) if is_about_the_input(&refusal) => Ok(Err(refusal)),
        Err(refusal) => Err(refusal.into()),
    }
}

fn to_json(file: &str, looked: &Result<Checked, Refusal>) -> Value {
    match looked {
        Ok(checked) => {
            let mut json = json!(checked);
            if let Value::Object(map) = &mut json {
                map.shift_insert(0, "file".to_owned(), json!(file));
            }
            json
        }
        Err(refusal) => json!({"file": file, "ok": false, "error": error_of(refusal)}),
    }
}

fn tell(screen: &mut Screen, places: &Places, looked: &Result<Checked, Refusal>) {
    let checked = match looked {
        Ok(checked) => checked,
        Err(refusal) => {
            screen.line(&[bad("blocked"), plain("  "), strong(places.file())]);
            tell_refusal(screen, refusal);
            return;
        }
    };
    let Checked { name, ok, warnings, code, code_failure, texts, risk, approval, missing_secrets } = checked;
    let word = if *ok { good("fine") } else { bad("blocked") };
    let name = format!("  {name}");
    screen.line(&[word, plain("  "), strong(places.file()), plain(&name), plain("  "), level(risk.level)]);
    for fault in warnings {
        tell_fault(screen, warning("warning: "), fault);
    }
    if let Some(failure) = code_failure {
        screen.line(&[bad("error: "), strong(&format!("{}: ", failure.code)), plain(&failure.message)]);
        if let Some(at) = failure.location {
            screen.line(&[faint("  --> "), plain(&places.place(at.line, at.column))]);
        }
        if let Some(hint) = &failure.hint {
            screen.line(&[strong("  hint: "), plain(hint)]);
        }
    }
    for CodeFinding { name, why, instead, line, column, blocks } in code {
        let lead = if *blocks { bad("error: ") } else { warning("warning: ") };
        screen.line(&[lead, strong(name), plain(": "), plain(why)]);
        screen.line(&[faint("  --> "), plain(&places.place(*line, *column))]);
        screen.line(&[strong("  instead: "), plain(instead)]);
    }
    for found in texts {
        tell_found(screen, found);
    }
    tell_standing(screen, risk, *approval, missing_secrets);
}

fn tell_refusal(screen: &mut Screen, refusal: &Refusal) {
    screen.line(&[bad("error: "), strong(&refusal.message)]);
    if let Some(hint) = refusal.hint.as_ref().filter(|_| !screen.is_quiet()) {
        screen.line(&[strong("  hint: "), plain(hint)]);
    }
    for fault in &refusal.faults {
        tell_fault(screen, bad("error: "), fault);
    }
}

/// One mistake or doubt of a document.
pub(super) fn tell_fault(screen: &mut Screen, lead: crate::render::Span<'_>, fault: &Fault) {
    let Fault { document, path, line, column, message, hint } = fault;
    screen.line(&[lead, strong(message)]);
    let at = if *line > 0 { format!("{document}:{line}:{column}") } else { document.clone() };
    screen.line(&[faint("  --> "), plain(&at), faint("  "), faint(path)]);
    if let Some(hint) = hint.as_ref().filter(|_| !screen.is_quiet()) {
        screen.line(&[strong("  hint: "), plain(hint)]);
    }
}

/// A text that trips the scan.
pub(super) fn tell_found(screen: &mut Screen, found: &Found) {
    let Found { path, rule, meaning, blocks, matched, offset } = found;
    let lead = if *blocks { bad("scan: ") } else { warning("scan: ") };
    screen.line(&[lead, strong(rule), plain(": "), plain(meaning)]);
    let at = format!("{path}, byte {offset}: ");
    screen.line(&[faint("  --> "), plain(&at), strong(matched)]);
    if *blocks {
        let hint = "reword it, or publish it with --despite-scan REASON, which is on the record";
        screen.line(&[strong("  hint: "), plain(hint)]);
    }
}

fn tell_standing(screen: &mut Screen, risk: &Risk, approval: bool, missing: &[String]) {
    for reason in &risk.reasons {
        screen.field(
            "  risk",
            &[level(reason.level), plain(&format!(" {}: {}", reason.signal, reason.detail))],
        );
    }
    if approval {
        screen.field("  approval", &[plain("every call waits for a person")]);
    }
    for name in missing {
        let hint = format!(" is not set: bailiwick secret set {name}");
        screen.field("  secret", &[warning(name), plain(&hint)]);
    }
}
