//! One Rust file, lexed: its tokens, its attributes, its comments, and which
//! of its tokens are there for tests only.

use std::ops::Range;

use super::attributes::{self, Attribute};
use super::comments::{self, Comment};
use super::test_code;
use super::tokens::Tokens;

/// A Rust file that lexes.
#[derive(Debug)]
pub(crate) struct Source {
    /// Relative to the root.
    pub(crate) path: String,
    /// How many lines it has.
    pub(crate) lines: usize,
    /// Its tokens, in one row.
    pub(crate) tokens: Tokens,
    /// Its attributes, in the order of the text.
    pub(crate) attributes: Vec<Attribute>,
    /// Its comments, doc comments among them.
    pub(crate) comments: Vec<Comment>,
    /// The tokens of each `#[cfg(test)]` item, its attribute included.
    pub(crate) test_items: Vec<Range<usize>>,
}

impl Source {
    /// Lexes `text`; an error is the line at which that fails.
    pub(crate) fn lex(path: &str, text: &str) -> Result<Self, usize> {
        let code = without_shebang(text);
        let tokens = Tokens::lex(code)?;
        let attributes = attributes::all(&tokens);
        let test_items = test_code::items(&tokens, &attributes);
        let comments = comments::all(code);
        Ok(Self {
            path: path.to_owned(),
            lines: text.lines().count(),
            tokens,
            attributes,
            comments,
            test_items,
        })
    }

    /// Whether the whole file is there for tests: it is called `tests.rs`, or
    /// lies in a `tests` or `benches` folder.
    pub(crate) fn is_test_file(&self) -> bool {
        let mut names = self.path.rsplit('/');
        names.next() == Some("tests.rs") || names.any(|folder| matches!(folder, "tests" | "benches"))
    }

    /// Whether the token at `index` is there for tests only.
    pub(crate) fn is_test_code(&self, index: usize) -> bool {
        self.is_test_file() || self.test_items.iter().any(|item| item.contains(&index))
    }
}

/// The text without a leading `#!/path` line, whose line break stays so that
/// lines keep their numbers. `#![...]` is an attribute, not a shebang.
fn without_shebang(text: &str) -> &str {
    match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => {
            text.find('\n').map_or("", |end| text.get(end..).unwrap_or_default())
        }
        _ => text,
    }
}
