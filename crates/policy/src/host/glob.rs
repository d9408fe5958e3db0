//! Path patterns of a host rule: `/v1/**`, `/repos/*/issues`.
//!
//! `*` stands for anything within one segment, `**` for any number of segments; nothing else is special. Both
//! the pattern and the path of a request are brought into the same plain form first, so `%61` and `a` are one.

use std::cmp::Ordering;
use std::fmt::Write as _;

use globset::{GlobBuilder, GlobMatcher};

/// The longest pattern; what is longer names one document, not a place in an API.
const MOST_PATTERN_BYTES: usize = 256;

/// A compiled path pattern; equal and ordered by its text.
#[derive(Debug, Clone)]
pub struct PathGlob {
    text: String,
    matcher: GlobMatcher,
}

/// A request's path in plain form, or why it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlainPath {
    /// The form patterns are matched against.
    Plain(String),
    /// It holds an encoded slash, backslash, percent sign or NUL: servers disagree on what that means.
    Ambiguous,
}

impl PathGlob {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') {
            return Err(format!(
                "the path pattern `{}` must begin with `/`",
                bailiwick_types::shortened(text)
            ));
        }
        if text.len() > MOST_PATTERN_BYTES {
            return Err(format!("a path pattern has at most {MOST_PATTERN_BYTES} bytes"));
        }
        if let Some(odd) = text.chars().find(|c| matches!(c, '[' | ']' | '{' | '}' | '?' | '\\' | '#')) {
            return Err(format!("`{odd}` has no meaning in a path pattern; only `*` and `**` are special"));
        }
        if text.split('/').any(|segment| segment.contains("**") && segment != "**") {
            return Err("`**` must stand alone between slashes".to_owned());
        }
        // Written as people write, matched as requests are: `/ä b` is `/%C3%A4%20b` there.
        let written: String = text
            .chars()
            .flat_map(|c| {
                if c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '`') {
                    vec![c]
                } else {
                    encoded(c).chars().collect()
                }
            })
            .collect();
        let PlainPath::Plain(plain) = plain_url_path(&written) else {
            return Err(
                "an encoded slash, backslash, percent sign or NUL, or a `..;`, cannot be matched".to_owned()
            );
        };
        if plain.split('/').any(|segment| segment == "." || segment == "..") {
            return Err("`.` and `..` never reach a server, so the pattern can match nothing".to_owned());
        }
        let matcher = GlobBuilder::new(&plain)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("not a path pattern: {}", error.kind()))?
            .compile_matcher();
        Ok(Self { text: plain, matcher })
    }

    /// The pattern in plain form.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the path of a URL matches; never, where servers disagree on what the path means.
    pub fn fits(&self, url_path: &str) -> bool {
        matches!(plain_url_path(url_path), PlainPath::Plain(plain) if self.matches(&plain))
    }

    /// Whether a plain path matches.
    pub(crate) fn matches(&self, plain: &str) -> bool {
        self.matcher.is_match(plain)
    }

    /// Whether everything the other pattern matches is matched by this one, as far as can be told simply.
    pub fn covers(&self, other: &Self) -> bool {
        if self == other || self.text == "/**" {
            return true;
        }
        if let Some(prefix) = self.text.strip_suffix("**")
            && !prefix.contains('*')
        {
            return other.text.starts_with(prefix) && other.text.len() > prefix.len();
        }
        !other.text.contains('*') && self.matches(&other.text)
    }
}

impl PartialEq for PathGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathGlob {}

impl PartialOrd for PathGlob {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PathGlob {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl std::hash::Hash for PathGlob {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// Brings the path of a URL into plain form: percent signs that hide an ordinary character are undone, all
/// others have upper-case digits.
pub(crate) fn plain_url_path(path: &str) -> PlainPath {
    let mut plain = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' {
            return PlainPath::Ambiguous;
        }
        if byte != b'%' {
            plain.push(byte);
            continue;
        }
        let digit =
            |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16)).and_then(|d| u8::try_from(d).ok());
        let (Some(high), Some(low)) = (digit(bytes.next()), digit(bytes.next())) else {
            return PlainPath::Ambiguous;
        };
        let decoded = high * 16 + low;
        match decoded {
            b'/' | b'\\' | b'%' | 0 => return PlainPath::Ambiguous,
            b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => plain.push(decoded),
            other => plain.extend_from_slice(format!("%{other:02X}").as_bytes()),
        }
    }
    let Ok(plain) = String::from_utf8(plain) else { return PlainPath::Ambiguous };
    // Some servers cut a parameter off a segment first and then see `..`.
    if plain
        .split('/')
        .any(|segment| ["..;", ".;", "..%3B", ".%3B"].iter().any(|dots| segment.starts_with(dots)))
    {
        return PlainPath::Ambiguous;
    }
    PlainPath::Plain(plain)
}

/// A character as it stands percent-encoded in a path.
fn encoded(c: char) -> String {
    c.encode_utf8(&mut [0; 4]).bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "%{byte:02X}");
        text
    })
}
