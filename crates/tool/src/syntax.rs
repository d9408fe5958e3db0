//! How a tool's document is written, as its file name tells.

use std::path::Path;

/// How a tool's document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
    /// JavaScript with the fields in a comment at its top.
    JavaScript,
    /// TypeScript with the fields in a comment at its top.
    TypeScript,
}

impl Syntax {
    /// The syntax of a file: `*.tool.yaml`, `.tool.json`, plain `.yaml`, `.yml`, `.json`, and `.js`, `.mjs`, `.ts`, `.mts`.
    ///
    /// ```
    /// use std::path::Path;
    /// use bailiwick_tool::Syntax;
    /// assert_eq!(Syntax::of_path(Path::new("a.tool.yaml")), Some(Syntax::Yaml));
    /// assert_eq!(Syntax::of_path(Path::new("a.txt")), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" => Some(Self::TypeScript),
            _ => None,
        }
    }

    /// Whether the file is code that may carry a tool's fields in a comment.
    pub const fn is_code(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript)
    }
}

/// JSON text as the YAML reader takes it: a character that is escaped as two halves is escaped as one.
///
/// All else that JSON can say means the same in YAML.
pub(crate) fn without_escaped_halves(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let pair =
            half(after, 0xd800).zip(after.get(5..).and_then(|low| half(low.strip_prefix('\\')?, 0xdc00)));
        if let Some(one) = pair.and_then(|(high, low)| char::from_u32(0x1_0000 + (high << 10) + low)) {
            out.push(one);
            rest = after.get(11..).unwrap_or_default();
            continue;
        }
        // Another escape: it and the character that it is for stay together.
        let escaped = after.chars().next().map_or(0, char::len_utf8);
        let (escaped, left) = after.split_at_checked(escaped).unwrap_or((after, ""));
        out.push('\\');
        out.push_str(escaped);
        rest = left;
    }
    out.push_str(rest);
    out
}

/// The value of `uXXXX` as a half that begins at `base`.
fn half(text: &str, base: u32) -> Option<u32> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let unit = u32::from_str_radix(digits, 16).ok()?;
    unit.checked_sub(base).filter(|half| *half < 0x400)
}
