//! The bounds of the parsers. Each ends in a [`ParseError`] that names it; none is a cut.

use crate::place::grouped;
use crate::{ParseError, Reason};

/// Bytes of text that are read: a little more than the largest body that a fetch gives.
pub const INPUT_BYTES: usize = 6 * 1024 * 1024;

/// Bytes of JSON that are given back, or of text that is written.
pub const OUTPUT_BYTES: usize = 8 * 1024 * 1024;

/// How deep elements, lists and maps may be nested.
pub const DEPTH: usize = 256;

/// Nodes of a tree: elements, texts, comments; for YAML, values with those that aliases stand for.
pub const NODES: usize = 120_000;

/// Attributes of one element. Their duplicates are looked for one by one.
pub const ATTRIBUTES: usize = 256;

/// Attributes of one tag if script and style were markup: what a tag may have that hides where they usually are.
pub const HIDDEN_ATTRIBUTES: usize = 8 * 1024;

/// Attributes of a whole document.
pub const ALL_ATTRIBUTES: usize = 120_000;

/// Comparisons of attributes with each other that such hidden tags may take in all.
pub const HIDDEN_COMPARISONS: usize = 100_000_000;

/// Attributes of nested elements of formatting (`<b>`, `<a>`) that may be compared, each with those of all around it.
pub const COMPARED_ATTRIBUTES: usize = 1_000_000;

/// Tags of HTML, with end tags, comments, and what only looks like one: every `<`.
pub const TAGS: usize = 250_000;

/// References (`&amp;`) in HTML, with what only looks like one.
pub const REFERENCES: usize = 400_000;

/// Nodes that are looked at for what is selected: more than there are, if what is selected is inside each other. Each
/// 64 bytes of a text count as one.
pub const VISITS: usize = 2_000_000;

/// Brackets (`<`) in XML: the parser takes room for as many nodes at once.
pub const XML_BRACKETS: usize = 240_000;

/// Signs of equality in XML: the parser takes room for as many attributes at once.
pub const XML_EQUALS: usize = 150_000;

/// Namespaces that a document of XML may declare.
pub const NAMESPACES: usize = 16 * 1024;

/// Namespaces that may be declared around one element of XML.
pub const NAMESPACES_AT_ONCE: usize = 64;

/// Bytes of a CSS selector.
pub const SELECTOR_BYTES: usize = 4096;

/// Compounds (`a.b` in `a.b > c`) of a CSS selector, all its alternatives counted.
pub const SELECTOR_COMPOUNDS: usize = 128;

/// Conditions of a CSS selector times bytes of the page that it looks at.
pub const SELECTOR_WORK: usize = 512 * 1024 * 1024;

/// How deep `:not(…)` and `:is(…)` may be nested.
pub const SELECTOR_DEPTH: usize = 8;

/// Columns that one cell of a table may span, as HTML has it.
pub const SPAN: usize = 1000;

/// Cells of all tables that are asked for, those that a span stands for counted.
pub const TABLE_CELLS: usize = 256 * 1024;

/// Fields of one row of CSV.
pub const COLUMNS: usize = 16 * 1024;

/// Rows of CSV.
pub const ROWS: usize = 1024 * 1024;

/// What can begin a token inside of the outermost brackets of YAML: the scanner keeps all of them.
pub const FLOW_MARKS: usize = 60_000;

/// Aliases (`*name`) in YAML.
pub const ALIASES: usize = 10_000;

/// Bytes of a key in YAML.
pub const KEY_BYTES: usize = 1024;

/// Refuses text that is larger than what is read.
pub(crate) fn check_size(text: &str) -> Result<(), ParseError> {
    if text.len() <= INPUT_BYTES {
        return Ok(());
    }
    Err(ParseError::new(
        Reason::TooLarge,
        format!("the text has {} bytes, the limit is {}", grouped(text.len()), grouped(INPUT_BYTES)),
    ))
}
