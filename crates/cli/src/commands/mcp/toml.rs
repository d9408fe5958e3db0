//! One entry more, or less, in a TOML text whose other lines and comments stay as they are.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::edit::{Change, EditError, Edited};

/// A document with nothing but the entry.
pub(super) fn document(servers: &str, name: &str, entry: &Value) -> String {
    let mut document = DocumentMut::new();
    let mut all = headless();
    all.insert(name, Item::Table(table(entry)));
    document.insert(servers, Item::Table(all));
    document.to_string()
}

/// The text with the change.
pub(super) fn edit(text: &str, servers: &str, name: &str, change: Change<'_>) -> Result<Edited, EditError> {
    let before = read(text)?;
    let mut edited: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| not_plain(text, error.message(), error.span()))?;
    if edited.to_string() != text {
        return Err(EditError::NotKept);
    }
    let not_a_table = || EditError::Shape { place: format!("`{servers}`"), wanted: "a table" };
    let mut expected = before.clone();
    if before.get(servers).is_some_and(|found| !found.is_table()) {
        return Err(not_a_table());
    }
    let found = before.get(servers).and_then(|all| all.get(name));
    match change {
        Change::Put { entry, input: _, replace } => {
            let alone = read(&document(servers, name, entry))?;
            let wanted = alone.get(servers).and_then(|all| all.get(name)).ok_or(EditError::NotKept)?;
            if found.is_some() && found != Some(wanted) && !replace {
                return Err(EditError::Different { name: name.to_owned() });
            }
            let all = expected.entry(servers).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            all.as_table_mut().and_then(|all| all.insert(name.to_owned(), wanted.clone()));
            put(&mut edited, servers, name, entry, text.is_empty()).ok_or_else(not_a_table)?;
        }
        Change::Take { .. } => {
            expected.get_mut(servers).and_then(toml::Value::as_table_mut).and_then(|all| all.remove(name));
            edited.get_mut(servers).and_then(Item::as_table_like_mut).and_then(|all| all.remove(name));
        }
    }
    if expected == before {
        return Ok(Edited::Same);
    }
    let after = edited.to_string();
    // What only named the place of tables is gone with the last of them.
    let mut found = read(&after)?;
    if expected.get(servers).and_then(toml::Value::as_table).is_some_and(toml::Table::is_empty) {
        found.entry(servers).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    }
    if found != expected {
        return Err(EditError::NotKept);
    }
    Ok(Edited::Text(after))
}

fn read(text: &str) -> Result<toml::Table, EditError> {
    toml::from_str(text).map_err(|error| not_plain(text, error.message(), error.span()))
}

/// Without the line itself, which may hold a secret.
fn not_plain(text: &str, message: &str, span: Option<std::ops::Range<usize>>) -> EditError {
    let before = span.and_then(|span| text.get(..span.start));
    let line =
        before.map_or_else(String::new, |before| format!(" at line {}", before.matches('\n').count() + 1));
    EditError::NotPlain { format: "TOML", message: format!("{message}{line}") }
}

/// Puts the entry in its place; none where that is no table.
fn put(document: &mut DocumentMut, servers: &str, name: &str, entry: &Value, is_first: bool) -> Option<()> {
    let all = document.entry(servers).or_insert_with(|| Item::Table(headless()));
    let is_inline = all.is_inline_table();
    let all = all.as_table_like_mut()?;
    let mut table = table(entry);
    if is_inline {
        all.insert(name, Item::Value(table.into_inline_table().into()));
        return Some(());
    }
    if let Some(Item::Table(old)) = all.get(name) {
        // In the same place, below the same comments.
        table.set_position(old.position());
        *table.decor_mut() = old.decor().clone();
    } else if !is_first {
        table.decor_mut().set_prefix("\n");
    }
    all.insert(name, Item::Table(table));
    Some(())
}

/// A table that only holds others.
fn headless() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

fn table(entry: &Value) -> Table {
    let mut table = Table::new();
    for (key, value) in entry.as_object().into_iter().flatten() {
        table.insert(key, Item::Value(value_of(value)));
    }
    table
}

/// An entry holds texts and lists of texts.
fn value_of(value: &Value) -> toml_edit::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Array(all) => toml_edit::Value::Array(all.iter().map(value_of).collect()),
        other => other.to_string().into(),
    }
}
