//! Documents named on the command line, read and parsed.

pub(crate) mod tool;

use std::path::Path;
use std::sync::Arc;

use bailiwick_config::files;
use bailiwick_document::{Bounds, Format, parse};
use bailiwick_policy::{EffectivePolicy, ToolPolicy, resolve};
use bailiwick_tool::{Syntax, Tool, has_front_matter};
use bailiwick_types::ProfileName;

use crate::failure::Failure;
use crate::resolved::Session;
use crate::typed::Subject;

/// What a document is called in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}

/// Reads a document that says something about policy: a tool, or what stands in one.
pub(crate) fn tool_policy(path: &Path) -> Result<ToolPolicy, Failure> {
    let text = files::read_document(path)?;
    let name = name_of(path);
    let syntax = Syntax::of_path(path);
    if let Some(syntax) = syntax.filter(|syntax| syntax.is_code() && has_front_matter(&text)) {
        return Ok(Tool::read(&name, &text, syntax)?.tool.policy().clone());
    }
    let format = match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) if extension.eq_ignore_ascii_case("toml") => Format::Toml,
        _ => Format::Yaml,
    };
    let tree = parse(&name, &text, format, Bounds::WRITTEN_BY_HAND)?;
    match syntax {
        // What runs something is a whole tool.
        Some(syntax) if ["code", "command"].iter().any(|body| tree.get(body).is_some()) => {
            Ok(Tool::read(&name, &text, syntax)?.tool.policy().clone())
        }
        _ => Ok(ToolPolicy::read(&name, &tree)?),
    }
}

/// The effective policy of what a command is about.
pub(crate) fn effective(session: &Session, subject: &Subject) -> Result<EffectivePolicy, Failure> {
    let said = subject.overrides.as_deref().map(tool_policy).transpose()?;
    resolved(session, said, subject.profile.as_deref())
}

/// Resolves what a document said. The flag and the document may name a profile, but not two.
pub(crate) fn resolved(
    session: &Session,
    said: Option<ToolPolicy>,
    profile: Option<&str>,
) -> Result<EffectivePolicy, Failure> {
    let flag = profile.map(ProfileName::parse).transpose()?;
    let (own, layer) = match said {
        Some(ToolPolicy { profile, layer }) => (profile.map(|name| name.value), Some(Arc::new(layer))),
        None => (None, None),
    };
    let profile = match (own, flag) {
        (Some(own), Some(flag)) if own != flag => return Err(Failure::TwoProfiles { own, flag }),
        (own, flag) => own.or(flag),
    };
    Ok(resolve(&session.loaded.settings.baseline, profile.as_ref(), layer.as_ref())?)
}
