//! Which names can be parameters of a script in Python.

/// Words that no variable can have.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Why a name cannot be a variable of a script.
pub(super) fn why_not(name: &str) -> Option<&'static str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_part) || name.starts_with(|first: char| first.is_ascii_digit())
    {
        return Some("is not an identifier of a-z, A-Z, 0-9 and `_`");
    }
    if KEYWORDS.contains(&name) {
        return Some("is a word of Python");
    }
    // What the runner calls itself.
    name.starts_with("__").then_some("begins with `__`")
}
