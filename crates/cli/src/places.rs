//! Where a line of a tool's code stands in the file that people edit.
//!
//! A file of code keeps its lines. In YAML the code is a block beneath `code: |`, further down and further right; where
//! that block is not plainly to be seen, a place is told within the code.

use std::path::Path;

use crate::targets;

/// A file with code in it.
pub(crate) struct Places {
    file: String,
    offset: Option<(u32, u32)>,
}

impl Places {
    /// The places of a file with this text.
    pub(crate) fn of(path: &Path, text: &str) -> Self {
        let offset = if targets::is_code(path) { Some((0, 0)) } else { block(text) };
        Self { file: path.display().to_string(), offset }
    }

    /// The places of a tool whose file is not known.
    pub(crate) fn of_tool(name: &str) -> Self {
        Self { file: name.to_owned(), offset: None }
    }

    /// What the file is called.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// A place of the code, as it is told.
    pub(crate) fn place(&self, line: u32, column: u32) -> String {
        match self.offset {
            Some((lines, columns)) => format!("{}:{}:{}", self.file, line + lines, column + columns),
            None => format!("{}, line {line}, column {column} of its code", self.file),
        }
    }
}

/// How many lines come before the code, and how far it is indented.
fn block(text: &str) -> Option<(u32, u32)> {
    let mut lines = text.lines().zip(1_u32..).skip_while(|(line, _)| !opens_block(line));
    let (_, before) = lines.next()?;
    let (first, _) = lines.find(|(line, _)| !line.trim().is_empty())?;
    let indent = first.chars().take_while(|c| *c == ' ').count();
    // Not indented, it would be no part of the block.
    (indent > 0).then_some((before, u32::try_from(indent).ok()?))
}

/// Whether a line is `code: |`, with or without a word on how the block ends. A stated indentation is left alone.
fn opens_block(line: &str) -> bool {
    line.strip_prefix("code:").is_some_and(|mark| matches!(mark.trim(), "|" | "|-" | "|+"))
}

#[cfg(test)]
mod tests;
