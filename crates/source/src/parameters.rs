//! Names that become variables of a body: which cannot, why, and which could instead. It looks at names only, never at
//! the code that uses them.

use std::collections::HashSet;

use bailiwick_types::{ECMASCRIPT, shortened};
use oxc_syntax::identifier::is_identifier_name;

use crate::{SourceError, SourceErrorKind};

/// Words that are no variable somewhere in the language; strict code counts, since a body may ask for it.
const RESERVED: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Checks the names that become variables of a body: parameters and statics together.
///
/// `globals` are the names granted beside the ECMAScript built-ins, dotted or not. The first name that breaks a rule is
/// told, with a name that would not.
pub fn check_parameter_names(names: &[String], globals: &[String]) -> Result<(), SourceError> {
    let mut seen = HashSet::new();
    for name in names {
        if let Some(why) = why_not(name, globals) {
            return Err(error(name, why, names, globals));
        }
        if !seen.insert(name.as_str()) {
            return Err(error(
                name,
                "is there twice: parameters and statics share one set of names",
                names,
                globals,
            ));
        }
    }
    Ok(())
}

fn why_not(name: &str, globals: &[String]) -> Option<&'static str> {
    if !is_identifier_name(name) {
        return Some("is not an identifier");
    }
    if RESERVED.contains(&name) {
        return Some("is a reserved word");
    }
    if is_global(name, globals) {
        return Some("is the name of a global");
    }
    None
}

fn is_global(name: &str, globals: &[String]) -> bool {
    let roots = globals.iter().filter_map(|global| global.split('.').next());
    ECMASCRIPT.iter().copied().chain(roots).any(|global| global == name)
}

fn error(name: &str, why: &str, names: &[String], globals: &[String]) -> SourceError {
    let proposal = proposal(name, names, globals);
    let shown = shortened(name).escape_debug().to_string();
    let message = format!("`{shown}` cannot be a variable: it {why}; name it `{proposal}`, say");
    SourceError { message, location: None, kind: SourceErrorKind::Rule }
}

/// A name like this one that breaks no rule.
fn proposal(name: &str, names: &[String], globals: &[String]) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '$';
    let kept: String = name.chars().take(40).map(|one| if is_part(one) { one } else { '_' }).collect();
    let trimmed = kept.trim_matches('_');
    let mut proposal = match trimmed.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{trimmed}"),
        Some(_) => trimmed.to_owned(),
    };
    while why_not(&proposal, globals).is_some() || names.contains(&proposal) {
        proposal.push('_');
    }
    proposal
}
