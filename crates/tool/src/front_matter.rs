//! A tool's fields in a comment at the top of its code.
//!
//! The form: the file may begin with a `#!` line and blank lines; then comes a block comment whose first and last words
//! are `---`, each alone on its line but for the comment's own marks:
//!
//! ```text
//! /*---                  /**
//! name: add               * ---
//! description: Adds.      * name: add
//! ---*/                   * description: Adds.
//! return 1;               * ---
//!                         */
//! ```
//!
//! Where every line of the comment begins with `*`, these are no part of the fields. What is no part of the code is
//! blanked, not cut out, so line 12 of the file is line 12 of the code and of every message.

use std::fmt::Write as _;

/// A file taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    /// The fields in YAML, at the lines and columns of the file.
    pub(crate) fields: String,
    /// The code, at the lines and columns of the file.
    pub(crate) code: String,
}

/// Whether code carries the fields of a tool at its top.
pub fn has_front_matter(text: &str) -> bool {
    split(text).is_some()
}

/// Takes a file apart; nothing if it has no front matter.
pub(crate) fn split(text: &str) -> Option<FrontMatter> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let after_shebang = if text.starts_with("#!") { text.find('\n')? } else { 0 };
    let shebang_and_blanks = text.len() - text.get(after_shebang..)?.trim_start().len();
    let comment = text.get(shebang_and_blanks..)?.strip_prefix("/*")?;
    let (comment, _) = comment.split_once("*/")?;
    let begins = shebang_and_blanks + "/*".len();
    let ends = begins + comment.len() + "*/".len();
    let lines: Vec<&str> = comment.split('\n').collect();
    // The gutter may not be on the line that opens the comment, where `/**` has its own.
    let has_gutter = lines.len() > 1
        && lines.iter().skip(1).all(|line| {
            let line = line.trim();
            line.is_empty() || line == "*" || line.starts_with("* ")
        });
    let mut plain: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| if has_gutter || index == 0 { without_gutter(line) } else { (*line).to_owned() })
        .collect();
    let mut words = plain.iter_mut().filter(|line| !line.trim().is_empty());
    let (first, last) = (words.next()?, words.next_back()?);
    for mark in [first, last] {
        if mark.trim() != "---" {
            return None;
        }
        mark.clear();
    }
    let mut fields = blanked(text.get(..begins)?);
    let _ = write!(fields, "{}", plain.join("\n"));
    let code = format!("{}{}", blanked(text.get(..ends)?), text.get(ends..)?);
    Some(FrontMatter { fields, code })
}

/// A line whose leading `*`s are spaces.
fn without_gutter(line: &str) -> String {
    let stars = line.trim_start().trim_start_matches('*');
    let before = line.len() - stars.len();
    format!("{}{stars}", line.get(..before).unwrap_or_default().replace('*', " "))
}

/// Line breaks, and spaces for what stands on the last line, so that what follows keeps its place.
fn blanked(text: &str) -> String {
    let last = text.rsplit('\n').next().unwrap_or_default();
    let breaks: String = text.chars().filter(|one| matches!(one, '\n')).collect();
    format!("{breaks}{}", " ".repeat(last.chars().count()))
}

/// What to write at the top of code that has no front matter.
pub(crate) const HINT: &str = "begin the file with these lines: `/*---`, `name: my_tool`, `---*/`";
