//! What is run: a snippet, a file of code, or a tool document; and under which policy.

use std::path::Path;
use std::sync::Arc;

use bailiwick::policy::{EffectivePolicy, Layer, LimitRequest, Sourced, ToolPolicy, resolve};
use bailiwick::{Call, Entry, Language};
use bailiwick_config::files;
use bailiwick_types::{LayerName, LimitKind, ProfileName};

use super::arguments::{self, Reading};
use crate::documents::{self, tool::ToolFile};
use crate::failure::Failure;
use crate::resolved::Session;
use crate::typed::Run;

/// What is run.
pub(super) struct Subject {
    /// What it is called in messages.
    pub(super) name: String,
    pub(super) call: Call,
    pub(super) policy: Arc<EffectivePolicy>,
}

/// Reads what was typed, and the files it names.
pub(super) fn read(session: &Session, what: &Run) -> Result<Subject, Failure> {
    let entry = match what.entry.as_deref() {
        Some("execute") => Entry::Execute,
        Some("emit") => Entry::Emit,
        _ => Entry::Body,
    };
    match (&what.file, &what.eval, &what.print) {
        (Some(file), _, _) if documents::tool::is_tool(file) => tool(session, what, file),
        (Some(file), _, _) => {
            let text = files::read_document(file)?;
            let name = documents::name_of(file);
            snippet(session, what, name, Call::new(entry, text).language(language(file)))
        }
        (None, Some(code), _) => snippet(session, what, "-e".to_owned(), Call::new(entry, code)),
        (None, None, expression) => {
            let typed = expression.clone().unwrap_or_default();
            // A semicolon out of habit ends an expression, too.
            let code = typed.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
            snippet(session, what, "-p".to_owned(), Call::expression(code))
        }
    }
}

fn language(file: &Path) -> Language {
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
    let call = call.arguments(arguments).input(what.input.clone().unwrap_or_default());
    Ok(Subject { name, call, policy })
}

fn tool(session: &Session, what: &Run, file: &Path) -> Result<Subject, Failure> {
    if what.subject.overrides.is_some() || what.entry.is_some() {
        return Err(Failure::Argument {
            message: "a tool document has its own overrides and entry".to_owned(),
            hint: "leave out --overrides and --entry, or change the document".to_owned(),
        });
    }
    let ToolFile { code, entry, params, statics, policy: said } = documents::tool::read(file)?;
    let policy = policy(session, what, Some(said))?;
    let reading = |name: &str| match params.iter().find(|param| param.name == name) {
        Some(param) if param.is_text => Reading::Text,
        _ => Reading::Guess,
    };
    let arguments = arguments::read(&what.arg, what.args.as_deref(), reading)?;
    documents::tool::check_arguments(&params, &arguments)?;
    let call = Call::new(entry, code)
        .arguments(arguments)
        .statics(statics)
        .parameters(params.into_iter().map(|param| param.name));
    Ok(Subject { name: documents::name_of(file), call, policy })
}

/// The policy, with the limits of this run on top of what the document asks for.
fn policy(session: &Session, what: &Run, said: Option<ToolPolicy>) -> Result<Arc<EffectivePolicy>, Failure> {
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
    let policy = resolve(&session.loaded.settings.baseline, profile.as_ref(), Some(&layer))?;
    Ok(Arc::new(policy))
}
