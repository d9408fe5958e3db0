//! Rows to CSV.

use std::collections::BTreeMap;

use super::check_marks;
use crate::bounds::{COLUMNS, OUTPUT_BYTES, ROWS, check_size};
use crate::json_in::{Piece, Pieces};
use crate::json_out::output_too_large;
use crate::place::grouped;
use crate::{ParseError, Reason};

/// Which columns are written, and whether their names are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    /// All keys of the rows in the order in which they are first seen, with a row of their names; rows that are lists
    /// have no names.
    Found,
    /// The same without the row of names.
    FoundWithoutNames,
    /// These, with a row of their names.
    Names(Vec<String>),
}

/// How rows are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOptions {
    /// Which columns.
    pub columns: Columns,
    /// What is between fields: one ASCII character.
    pub delimiter: char,
    /// What is around a field that holds a delimiter or a line break: one ASCII character.
    pub quote: char,
    /// Put every field in quotes.
    pub always: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { columns: Columns::Found, delimiter: ',', quote: '"', always: false }
    }
}

/// A row: its fields by column.
type Row = Vec<Option<String>>;

/// Writes rows, given as JSON: a list of lists or of objects, of texts, numbers, booleans and nulls. The rows are read
/// twice, first for their columns: no more than one is held.
pub fn stringify(rows: &str, options: &WriteOptions) -> Result<String, ParseError> {
    check_size(rows)?;
    check_marks(options.delimiter, options.quote)?;
    let mut columns = Found::default();
    if let Columns::Names(names) = &options.columns {
        for name in names {
            columns.add(name)?;
        }
    } else {
        read(rows, &mut columns, |_| Ok(()))?;
    }
    columns.state = Finding::Done;
    let mut out = String::new();
    let named = options.columns != Columns::FoundWithoutNames && !columns.names.is_empty();
    if named {
        write_row(columns.names.iter().map(String::as_str), options, &mut out)?;
    }
    let width = columns.names.len();
    read(rows, &mut columns, |row| {
        let width = row.len().max(width);
        let field = |column: usize| row.get(column).and_then(Option::as_deref).unwrap_or_default();
        write_row((0..width).map(field), options, &mut out)
    })?;
    Ok(out)
}

/// The columns that were found.
#[derive(Default)]
struct Found {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
    state: Finding,
}

/// What is done with a column that is met.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Finding {
    /// It is added; its fields are not kept.
    #[default]
    Open,
    /// Only those that were found are written.
    Done,
}

impl Found {
    /// The place of a column; none if it is not to be written.
    fn add(&mut self, name: &str) -> Result<Option<usize>, ParseError> {
        let place = self.places.get(name).copied();
        if self.state == Finding::Done {
            return Ok(place);
        }
        if place.is_some() {
            return Ok(None);
        }
        if self.names.len() >= COLUMNS {
            return Err(too_many_columns());
        }
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        Ok(None)
    }
}

/// Reads rows, one after the other.
fn read(
    rows: &str,
    columns: &mut Found,
    mut each: impl FnMut(&Row) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let shape = || ParseError::new(Reason::Malformed, "rows have to be a list of lists or of objects");
    let mut pieces = Pieces::new(rows);
    if pieces.next()? != Some(Piece::OpenList) {
        return Err(shape());
    }
    let mut count = 0_usize;
    let mut row = Row::new();
    loop {
        match pieces.next()? {
            Some(Piece::CloseList) => return Ok(()),
            Some(Piece::OpenList | Piece::OpenMap) => {}
            _ => return Err(shape()),
        }
        count += 1;
        if count > ROWS {
            let message = format!("there are more than {} rows", grouped(ROWS));
            return Err(ParseError::new(Reason::TooManyRows, message));
        }
        row.clear();
        read_row(&mut pieces, columns, &mut row)?;
        each(&row)?;
    }
}

/// Reads the fields of a row, up to its end.
fn read_row(pieces: &mut Pieces<'_>, columns: &mut Found, row: &mut Row) -> Result<(), ParseError> {
    let mut place = None;
    loop {
        let value = match pieces.next()? {
            Some(Piece::CloseList | Piece::CloseMap) => return Ok(()),
            Some(Piece::Key(name)) => {
                place = Some(columns.add(&name)?);
                continue;
            }
            Some(Piece::Text(text)) => Some(text),
            Some(Piece::Word("null")) => None,
            Some(Piece::Word(word)) => Some(word.to_owned()),
            Some(Piece::OpenList | Piece::OpenMap) => {
                let message = "a field cannot be a list or an object; write it as text first";
                return Err(ParseError::new(Reason::Malformed, message));
            }
            None => return Err(ParseError::new(Reason::Malformed, "a row is not closed")),
        };
        match place {
            None if row.len() >= COLUMNS => return Err(too_many_columns()),
            None => row.push(value),
            // The column is not one that is to be written.
            Some(None) => {}
            Some(Some(column)) => {
                if row.len() <= column {
                    row.resize(column + 1, None);
                }
                if let Some(field) = row.get_mut(column) {
                    *field = value;
                }
            }
        }
    }
}

fn too_many_columns() -> ParseError {
    ParseError::new(Reason::TooManyColumns, format!("a row has more than {} fields", grouped(COLUMNS)))
}

fn write_row<'a>(
    fields: impl Iterator<Item = &'a str>,
    options: &WriteOptions,
    out: &mut String,
) -> Result<(), ParseError> {
    let start = out.len();
    for (column, field) in fields.enumerate() {
        if column > 0 {
            out.push(options.delimiter);
        }
        let quoted = options.always
            || field.contains([options.delimiter, options.quote, '\n', '\r'])
            || field.starts_with([' ', '\t', '\u{feff}'])
            || field.ends_with([' ', '\t']);
        if quoted {
            out.push(options.quote);
            for c in field.chars() {
                if c == options.quote {
                    out.push(c);
                }
                out.push(c);
            }
            out.push(options.quote);
        } else {
            out.push_str(field);
        }
        if out.len() > OUTPUT_BYTES {
            return Err(output_too_large());
        }
    }
    // An empty line would be no row.
    if out.len() == start {
        out.push(options.quote);
        out.push(options.quote);
    }
    out.push('\n');
    Ok(())
}
