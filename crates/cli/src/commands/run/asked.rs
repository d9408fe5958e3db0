//! `bailiwick run` at a server: the code goes there, and so does what it declares; the console comes back as it happens.
//!
//! What belongs to this machine (canned answers, workspaces, recordings, a tool's secrets) is not sent anywhere.

use std::path::Path;
use std::sync::Arc;

use bailiwick_config::files;
use bailiwick_core::{Action, Code, CodeChecked, CodeRun, Deaf, Listener, Reply};
use bailiwick_document::{Bounds, Format, parse};
use bailiwick_tool::json_of;
use bailiwick_types::CorrelationId;
use serde_json::{Map, Value, json};

use super::arguments::{self, Reading};
use super::{REFUSED, subject};
use crate::desk::{Console, Person, at_desk, caller};
use crate::documents::{
    self,
    tool::{Held, held},
};
use crate::failure::Failure;
use crate::render::{Screen, bad, faint, plain, report, strong, warning};
use crate::resolved::Session;
use crate::typed::Run;

/// `bailiwick run` with a server.
pub(super) fn run(screen: &mut Screen, session: &Session, what: &Run) -> Result<u8, Failure> {
    refuse_what_is_ours(session, what)?;
    let (name, code) = code(session, what)?;
    if what.check {
        let checked = at_desk(session, &what.cells, async |desk| {
            match desk.perform(caller(Person::Nobody, Arc::new(Deaf)), Action::CodeCheck { code }).await? {
                Reply::CodeChecked(checked) => Ok(checked),
                _ => Err(Failure::StrangeReply("findings")),
            }
        })?;
        return Ok(tell_checked(screen, &name, &checked));
    }
    let run = CodeRun {
        code,
        name: name.clone(),
        arguments: arguments::read(&what.arg, what.args.as_deref(), |_| Reading::Guess)?,
        overrides: what.subject.overrides.as_deref().map(overrides).transpose()?,
        profile: what.subject.profile.clone(),
        limits: limits(what),
        correlation: what.correlation.as_deref().map(CorrelationId::parse).transpose()?,
        always_asks: false,
    };
    let listener: Arc<dyn Listener> =
        if screen.wants_json() { Arc::new(Deaf) } else { Arc::new(Console::default()) };
    let report = at_desk(session, &what.cells, async |desk| {
        let caller = caller(Person::of(what.outside.yes), listener);
        match desk.perform(caller, Action::CodeRun(Box::new(run))).await? {
            Reply::Called(report) => Ok(report),
            _ => Err(Failure::StrangeReply("a call")),
        }
    })?;
    Ok(report::tell(screen, &name, &report, session.verbose))
}

fn refuse_what_is_ours(session: &Session, what: &Run) -> Result<(), Failure> {
    let ours = [
        ("--record", what.record.is_some()),
        ("--replay", what.replay.is_some()),
        ("--http", what.outside.http.is_some()),
        ("--workspace", what.outside.workspace.is_some()),
        ("--no-check", what.no_check),
        ("--entry emit", what.entry.as_deref() == Some("emit")),
    ];
    match ours.into_iter().find(|(_, is_there)| *is_there) {
        None => Ok(()),
        Some((flag, _)) => session
            .here_only(&format!("{flag} works on this machine only"), "leave out the server, or the flag"),
    }
}

/// The code as it was typed, or as it stands in a file.
fn code(session: &Session, what: &Run) -> Result<(String, Code), Failure> {
    let entry = what.entry.as_deref().unwrap_or("body");
    let made = |name: &str, text: String, entry: &str, language: &str| {
        (name.to_owned(), Code { text, entry: entry.to_owned(), language: language.to_owned() })
    };
    if let Some(file) = &what.file {
        return match held(file)? {
            Held::Code(text) => {
                let language =
                    if subject::language(file) == bailiwick::Language::JavaScript { "js" } else { "ts" };
                Ok(made(&documents::name_of(file), text, entry, language))
            }
            Held::Tool(_) => {
                session.here_only(
                    "a tool's document runs on this machine",
                    "publish it there: bailiwick tool publish",
                )?;
                Err(Failure::StrangeReply("a server"))
            }
        };
    }
    if let Some(code) = &what.eval {
        return Ok(made("-e", code.clone(), entry, "ts"));
    }
    let typed = what.print.clone().unwrap_or_default();
    let expression = typed.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    Ok(made("-p", expression.to_owned(), "expression", "ts"))
}

/// A document of overrides as JSON. What it means is for the server to say.
fn overrides(path: &Path) -> Result<Value, Failure> {
    let text = files::read_document(path)?;
    let is_toml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    let format = if is_toml { Format::Toml } else { Format::Yaml };
    let tree = parse(&documents::name_of(path), &text, format, Bounds::WRITTEN_BY_HAND)?;
    Ok(json_of(&tree.value))
}

fn limits(what: &Run) -> Option<Value> {
    let typed = [("wall", &what.timeout), ("memory", &what.memory)];
    let limits: Map<String, Value> =
        typed.into_iter().filter_map(|(kind, text)| Some((kind.to_owned(), json!(text.as_ref()?)))).collect();
    (!limits.is_empty()).then_some(Value::Object(limits))
}

fn tell_checked(screen: &mut Screen, name: &str, checked: &CodeChecked) -> u8 {
    let CodeChecked { ok, error, findings } = checked;
    if screen.wants_json() {
        screen.json(&json!(checked));
    } else if let Some(failure) = error {
        report::told(name, failure, false);
    } else if findings.is_empty() {
        screen.line(&[plain("nothing found")]);
    } else {
        for found in findings {
            let lead = if found.blocks { bad("error: ") } else { warning("warning: ") };
            screen.line(&[lead, strong(&found.name), plain(": "), plain(&found.why)]);
            screen.line(&[faint("  --> "), plain(&format!("{name}:{}:{}", found.line, found.column))]);
            screen.line(&[strong("  instead: "), plain(&found.instead)]);
        }
    }
    match error {
        Some(failure) => failure.code.class().exit_code(),
        None if *ok => 0,
        None => REFUSED,
    }
}
