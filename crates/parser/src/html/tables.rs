//! Tables as rows of texts: a cell that spans several places stands in each of them.

use super::text::text_of;
use super::tree::{NodeId, Step, Tree};
use crate::bounds::{SPAN, TABLE_CELLS};
use crate::json_out::Json;
use crate::place::grouped;
use crate::{ParseError, Reason};

/// A table: its texts, and rows of numbers of them. A text that spans a thousand places is kept once.
pub(super) struct Table {
    texts: Vec<String>,
    rows: Vec<Vec<Option<usize>>>,
}

/// What of a cell reaches down into rows to come.
#[derive(Clone, Copy)]
struct Hanging {
    text: usize,
    rows: usize,
}

impl Table {
    /// Reads the table that an element is; `cells` counts those of all tables that are read.
    pub(super) fn read(tree: &Tree, table: NodeId, cells: &mut usize) -> Result<Self, ParseError> {
        let mut read = Self { texts: Vec::new(), rows: Vec::new() };
        let mut hanging: Vec<Option<Hanging>> = Vec::new();
        for row in rows_of(tree, table) {
            let mut line: Vec<Option<usize>> = Vec::new();
            for cell in tree.children(row) {
                let Some(element) = tree.element(cell).filter(|one| matches!(one.tag(), "td" | "th")) else {
                    continue;
                };
                fill(&mut line, &hanging);
                let span = |name: &str, least: usize, most: usize| {
                    let written = element.attribute(name).unwrap_or_default().trim();
                    if !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit()) {
                        written.parse().unwrap_or(most).clamp(least, most)
                    } else {
                        1
                    }
                };
                let columns = span("colspan", 1, SPAN);
                // None is all rows that are left.
                let rows = match span("rowspan", 0, usize::MAX) {
                    0 => usize::MAX,
                    rows => rows,
                };
                read.texts.push(text_of(tree, cell));
                let text = read.texts.len() - 1;
                for _ in 0..columns {
                    let column = line.len();
                    line.push(Some(text));
                    if rows > 1 {
                        if hanging.len() <= column {
                            hanging.resize(column + 1, None);
                        }
                        if let Some(place) = hanging.get_mut(column) {
                            *place = Some(Hanging { text, rows });
                        }
                    }
                }
                if *cells + line.len() > TABLE_CELLS {
                    return Err(too_many());
                }
            }
            // What hangs further to the right has a gap before it.
            while let Some(place) = hanging.get(line.len()) {
                line.push(place.map(|one| one.text));
            }
            for place in &mut hanging {
                *place = place.and_then(|one| (one.rows > 1).then(|| Hanging { rows: one.rows - 1, ..one }));
            }
            while hanging.pop_if(|place| place.is_none()).is_some() {}
            *cells += line.len().max(1);
            if *cells > TABLE_CELLS {
                return Err(too_many());
            }
            read.rows.push(line);
        }
        Ok(read)
    }

    fn text(&self, cell: Option<usize>) -> &str {
        cell.and_then(|text| self.texts.get(text)).map(String::as_str).unwrap_or_default()
    }

    /// Each row as a list of texts.
    pub(super) fn write_rows(&self, json: &mut Json) -> Result<(), ParseError> {
        json.open('[')?;
        for row in &self.rows {
            json.open('[')?;
            for cell in row {
                json.text(self.text(*cell))?;
            }
            json.close(']');
        }
        json.close(']');
        Ok(())
    }

    /// Each row but the first as an object, whose keys are the texts of the first.
    pub(super) fn write_objects(&self, json: &mut Json) -> Result<(), ParseError> {
        let names: Vec<&str> = self
            .rows
            .first()
            .map(|row| row.iter().map(|cell| self.text(*cell)).collect())
            .unwrap_or_default();
        let names = crate::csv::distinct(&names);
        json.open('[')?;
        for row in self.rows.iter().skip(1) {
            json.open('{')?;
            for (column, name) in names.iter().enumerate() {
                json.key(name)?;
                json.text(self.text(row.get(column).copied().flatten()))?;
            }
            json.close('}');
        }
        json.close(']');
        Ok(())
    }
}

/// Puts what hangs down from rows above where the line has got to.
fn fill(line: &mut Vec<Option<usize>>, hanging: &[Option<Hanging>]) {
    // Only what hung before this row counts: a cell of this row is in the line already.
    while let Some(Some(one)) = hanging.get(line.len()) {
        line.push(Some(one.text));
    }
}

/// The rows of a table and not of a table in it.
fn rows_of(tree: &Tree, table: NodeId) -> Vec<NodeId> {
    let mut rows = Vec::new();
    let mut walk = tree.walk(table);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        match tree.element(id).map(super::tree::Element::tag) {
            Some("tr") => {
                rows.push(id);
                walk.pass_over(id);
            }
            Some("table" | "caption" | "template") if id != table => walk.pass_over(id),
            _ => {}
        }
    }
    rows
}

fn too_many() -> ParseError {
    let message = format!(
        "the tables have more than {} cells, those that a span stands for counted",
        grouped(TABLE_CELLS)
    );
    ParseError::new(Reason::TooManyCells, message)
}
