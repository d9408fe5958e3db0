//! What is run: a snippet, a file of code, or a tool document; and under which policy.

use std::path::Path;
use std::sync::Arc;

use bailiwick::policy::{EffectivePolicy, Layer, LimitRequest, Sourced, ToolPolicy, resolve};
use bailiwick::{Call, Entry, Language, Recording};
use bailiwick_config::files;
use bailiwick_document::Problem;
use bailiwick_tool::Read;
use bailiwick_types::{LayerName, LimitKind, ProfileName};

use super::arguments::{self, Reading};
use crate::documents::{
    self,
    tool::{Held, call_of, checked, code_of, held, reading},
};
use crate::failure::Failure;
use crate::outside;
use crate::render::{faint, plain, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::Run;

/// What is run.
pub(super) struct Subject {
    /// What it is called in messages.
    pub(super) name: String,
    pub(super) call: Call,
    pub(super) policy: Arc<EffectivePolicy>,
}

/// Reads a recording, and the code that takes the place of the recorded one if some was typed.
fn replayed(session: &Session, what: &Run, path: &Path) -> Result<Subject, Failure> {
    let text = files::read_recording(path)?;
    let recording =
        Recording::parse(&text).map_err(|source| Failure::Recording { path: path.to_owned(), source })?;
    let call = Call::recorded(recording);
    let entry = entry(what);
    let (name, said, call) = match (&what.file, &what.eval, &what.print) {
        (Some(file), _, _) => match held(file)? {
            Held::Tool(read) => {
                let tool = &read.tool;
                let call = call.with_code(tool.entry(), tool.language(), code_of(tool)?);
                (documents::name_of(file), Some(tool.policy().clone()), call)
            }
            Held::Code(code) => (documents::name_of(file), None, call.with_code(entry, language(file), code)),
        },
        (None, Some(code), _) => ("-e".to_owned(), None, call.with_code(entry, Language::Either, code)),
        (None, None, Some(code)) => {
            ("-p".to_owned(), None, call.with_code(Entry::Expression, Language::Either, code))
        }
        (None, None, None) => (documents::name_of(path), None, call),
    };
    let said = match (said, what.subject.overrides.as_deref()) {
        (None, Some(path)) => Some(documents::tool_policy(path)?),
        (said, _) => said,
    };
    Ok(Subject { name, call, policy: Arc::new(policy(session, what, said)?) })
}

fn entry(what: &Run) -> Entry {
    match what.entry.as_deref() {
        Some("execute") => Entry::Execute,
        Some("emit") => Entry::Emit,
        _ => Entry::Body,
    }
}

/// Reads what was typed, and the files it names.
pub(super) fn read(session: &Session, what: &Run) -> Result<Subject, Failure> {
    if let Some(path) = &what.replay {
        return replayed(session, what, path);
    }
    let entry = entry(what);
    match (&what.file, &what.eval, &what.print) {
        (Some(file), _, _) => match held(file)? {
            Held::Tool(read) => tool(session, what, file, &read),
            Held::Code(code) => {
                let name = documents::name_of(file);
                snippet(session, what, name, Call::new(entry, code).language(language(file)))
            }
        },
        (None, Some(code), _) => snippet(session, what, "-e".to_owned(), Call::new(entry, code)),
        (None, None, expression) => {
            let typed = expression.clone().unwrap_or_default();
            // A semicolon out of habit ends an expression, too.
            let code = typed.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
            snippet(session, what, "-p".to_owned(), Call::expression(code))
        }
    }
}

pub(super) fn language(file: &Path) -> Language {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("ts" | "mts" | "cts") => Language::TypeScript,
        Some("js" | "mjs" | "cjs") => Language::JavaScript,
        _ => Language::Either,
    }
}

fn snippet(session: &Session, what: &Run, name: String, call: Call) -> Result<Subject, Failure> {
    let said = what.subject.overrides.as_deref().map(documents::tool_policy).transpose()?;
    let policy = policy(session, what, said)?;
    let arguments = arguments::read(&what.arg, what.args.as_deref(), |_| Reading::Guess)?;
    let is_pure = what.entry.as_deref() == Some("emit");
    if is_pure && !arguments.is_empty() || !is_pure && what.input.is_some() {
        return Err(Failure::Argument {
            message: "--entry emit takes --input and no arguments; every other entry takes arguments and no --input"
                .to_owned(),
            hint: "give the text by --input, or use --entry body".to_owned(),
        });
    }
    let call = call
        .arguments(arguments)
        .input(what.input.clone().unwrap_or_default())
        .workspace(outside::workspace(&what.outside, what.file.as_deref())?);
    Ok(Subject { name, call, policy: Arc::new(policy) })
}

fn tool(session: &Session, what: &Run, file: &Path, read: &Read) -> Result<Subject, Failure> {
    let Read { tool, warnings } = read;
    if session.verbose {
        for Problem { path, message, hint, .. } in warnings {
            let at = if path.as_str().is_empty() { String::new() } else { format!(" ({path})") };
            let hint = hint.as_deref().map_or_else(String::new, |hint| format!("; {hint}"));
            to_stderr(&[warning("warning: "), plain(message), faint(&at), faint(&hint)]);
        }
    }
    if what.subject.overrides.is_some() || what.entry.is_some() {
        return Err(Failure::Argument {
            message: "a tool document has its own overrides and entry".to_owned(),
            hint: "leave out --overrides and --entry, or change the document".to_owned(),
        });
    }
    let policy = policy(session, what, Some(tool.policy().clone()))?;
    let arguments = arguments::read(&what.arg, what.args.as_deref(), |name| reading(tool, name))?;
    let call = call_of(tool, checked(tool, arguments)?)?;
    let call = call.workspace(outside::workspace(&what.outside, Some(file))?);
    let (call, policy) = outside::with_secrets(session, call, policy, tool.secret_statics())?;
    Ok(Subject { name: documents::name_of(file), call, policy: Arc::new(policy) })
}

/// The policy, with the limits of this run on top of what the document asks for.
fn policy(session: &Session, what: &Run, said: Option<ToolPolicy>) -> Result<EffectivePolicy, Failure> {
    let flag = what.subject.profile.as_deref().map(ProfileName::parse).transpose()?;
    let (own, mut layer) = match said {
        Some(ToolPolicy { profile, layer }) => (profile.map(|name| name.value), layer),
        None => (None, Layer::empty(LayerName::Tool, "the command line")),
    };
    let profile = match (own, flag) {
        (Some(own), Some(flag)) if own != flag => return Err(Failure::TwoProfiles { own, flag }),
        (own, flag) => own.or(flag),
    };
    for (kind, flag, text) in [
        (LimitKind::Wall, "--timeout", what.timeout.as_deref()),
        (LimitKind::Memory, "--memory", what.memory.as_deref()),
    ] {
        let Some(text) = text else { continue };
        let value = kind.unit().parse(text).map_err(|error| Failure::Argument {
            message: format!("{flag}: {error}"),
            hint: format!("write it like {}", kind.unit().format(kind.default_value())),
        })?;
        let request = LimitRequest::new(kind, value).map_err(|error| Failure::Argument {
            message: format!("{flag}: {error}"),
            hint: "see `bailiwick limits`".to_owned(),
        })?;
        layer.set_limit(Sourced::built_in(request, flag));
    }
    let layer = Arc::new(layer);
    Ok(resolve(&session.loaded.settings.baseline, profile.as_ref(), Some(&layer))?)
}
