//! Which names can be variables in a tool's code.

use bailiwick_types::ECMASCRIPT;

/// Characters of a name.
const LONGEST: usize = 64;

/// Words that no variable of a strict function can have.
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

/// Why a name cannot be a variable. Only ASCII is accepted, so that no two names look alike.
pub(crate) fn why_not(name: &str) -> Option<&'static str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    if name.is_empty() || !name.bytes().all(is_part) || name.starts_with(|first: char| first.is_ascii_digit())
    {
        return Some("is not an identifier of a-z, A-Z, 0-9, `_` and `$`");
    }
    if name.len() > LONGEST {
        return Some("has more than 64 characters");
    }
    if RESERVED.contains(&name) {
        return Some("is a reserved word");
    }
    None
}

/// Whether the language itself has a global of this name.
pub(crate) fn is_global(name: &str) -> bool {
    ECMASCRIPT.contains(&name)
}

/// A name like this one that can be a variable.
pub(crate) fn proposal(name: &str) -> String {
    let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_' || one == '$';
    let kept: String = name.chars().take(40).map(|one| if is_part(one) { one } else { '_' }).collect();
    let trimmed = kept.trim_matches('_');
    match trimmed.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{trimmed}"),
        Some(_) if why_not(trimmed).is_some() || is_global(trimmed) => format!("{trimmed}_"),
        Some(_) => trimmed.to_owned(),
    }
}
