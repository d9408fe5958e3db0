//! Rows of a table for people: columns as wide as their widest cell, the last one as long as it is.

use super::{Screen, Span, faint};

/// A table that is being filled.
pub(crate) struct Table {
    heads: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

/// How a cell looks.
type Look = for<'a> fn(&'a str) -> Span<'a>;

/// One cell.
pub(crate) struct Cell {
    text: String,
    look: Look,
}

impl Cell {
    /// A cell that looks like this. What is too long for a column is cut: whoever named it must not spoil the table.
    pub(crate) fn new(text: impl Into<String>, look: Look) -> Self {
        Self { text: cut(text.into()), look }
    }
}

/// A text that fits into a column.
pub(crate) fn cut(text: String) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        None => text,
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}

impl Table {
    /// An empty table with these heads.
    pub(crate) fn new(heads: &'static [&'static str]) -> Self {
        Self { heads, rows: Vec::new() }
    }

    /// One row more.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Writes it.
    pub(crate) fn show(&self, screen: &mut Screen) {
        let width = |column: usize| {
            let head = self.heads.get(column).map_or(0, |head| head.chars().count());
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0).max(head)
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        let heads: Vec<Cell> = self.heads.iter().map(|head| Cell::new(*head, faint)).collect();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or(0);
            let padded: Vec<(String, Look)> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .take(last + 1)
                .map(|(column, (Cell { text, look }, width))| {
                    let width = if column == last { 0 } else { width + 2 };
                    (format!("{text:<width$}"), *look)
                })
                .collect();
            let spans: Vec<Span<'_>> = padded.iter().map(|(text, look)| look(text)).collect();
            screen.line(&spans);
        }
    }
}
