//! One entry more, or less, in a JSON text that stays as it is otherwise: what is written anew is the entry, in the way
//! that the text around it is laid out.
//!
//! The text has been read by a strict reader first. What is done here only looks for places in it, without recursion,
//! and what comes out is read and compared again.

mod layout;
mod places;

use serde_json::{Value, json};

use self::layout::{Layout, spliced};
use self::places::{Container, Item};
use super::edit::{Change, EditError, Edited};

/// Where VS Code is told what to ask for.
const INPUTS: &str = "inputs";

/// The text with the change.
pub(super) fn edit(text: &str, servers: &str, name: &str, change: Change<'_>) -> Result<Edited, EditError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let before = read(text)?;
    if !before.is_object() {
        return Err(shape("the whole", "an object"));
    }
    if before.get(servers).is_some_and(|found| !found.is_object()) {
        return Err(shape(&format!("`{servers}`"), "an object"));
    }
    let (after, expected) = match change {
        Change::Put { entry, input, replace } => put(text, &before, servers, name, entry, input, replace)?,
        Change::Take { input } => take(text, &before, servers, name, input)?,
    };
    if expected == before {
        return Ok(Edited::Same);
    }
    if read(&after)? != expected {
        return Err(EditError::NotKept);
    }
    Ok(Edited::Text(after))
}

fn read(text: &str) -> Result<Value, EditError> {
    serde_json::from_str(text)
        .map_err(|error| EditError::NotPlain { format: "JSON", message: error.to_string() })
}

fn shape(place: &str, wanted: &'static str) -> EditError {
    EditError::Shape { place: place.to_owned(), wanted }
}

/// The text with the entry, and what it must mean.
fn put(
    text: &str,
    before: &Value,
    servers: &str,
    name: &str,
    entry: &Value,
    input: Option<&Value>,
    replace: bool,
) -> Result<(String, Value), EditError> {
    let mut expected = before.clone();
    let mut text = text.to_owned();
    let found = before.get(servers).and_then(|servers| servers.get(name));
    if found != Some(entry) {
        if found.is_some() && !replace {
            return Err(EditError::Different { name: name.to_owned() });
        }
        text = with_member(&text, servers, name, entry)?;
        if let Some(all) = expected.as_object_mut() {
            let all = all.entry(servers).or_insert_with(|| json!({}));
            all.as_object_mut().and_then(|all| all.insert(name.to_owned(), entry.clone()));
        }
    }
    if let Some(input) = input {
        let there = inputs(before)?;
        if !there.iter().any(|one| one.get("id") == input.get("id")) {
            text = with_input(&text, input)?;
            if let Some(all) = expected.as_object_mut() {
                let all = all.entry(INPUTS).or_insert_with(|| json!([]));
                all.as_array_mut().into_iter().for_each(|all| all.push(input.clone()));
            }
        }
    }
    Ok((text, expected))
}

/// The text without the entry, and what it must mean.
fn take(
    text: &str,
    before: &Value,
    servers: &str,
    name: &str,
    input: &str,
) -> Result<(String, Value), EditError> {
    let mut expected = before.clone();
    let mut text = text.to_owned();
    if let Some(all) = expected.get_mut(servers).and_then(Value::as_object_mut)
        && all.shift_remove(name).is_some()
    {
        text = without(&text, servers, |item, _| item.key.as_deref() == Some(name))?;
        let is_ours = |one: &Value| one.get("id").and_then(Value::as_str) == Some(input);
        // With the entry goes what only it asked for.
        if let Some(all) = expected.get_mut(INPUTS).and_then(Value::as_array_mut)
            && let Some(index) = all.iter().position(is_ours)
        {
            all.remove(index);
            text = without(&text, INPUTS, |_, value| is_ours(value))?;
        }
    }
    Ok((text, expected))
}

fn inputs(whole: &Value) -> Result<&[Value], EditError> {
    match whole.get(INPUTS) {
        None => Ok(&[]),
        Some(Value::Array(all)) => Ok(all),
        Some(_) => Err(shape(&format!("`{INPUTS}`"), "a list")),
    }
}

fn with_member(text: &str, servers: &str, name: &str, entry: &Value) -> Result<String, EditError> {
    let root = Container::root(text)?;
    let layout = Layout::of(text, &root);
    let Some(found) = root.member(servers)? else {
        return Ok(layout.insert(text, &root, Some(servers), &json!({name: entry})));
    };
    let inner = Container::at(text, found.value.start)?;
    Ok(match inner.member(name)? {
        None => layout.insert(text, &inner, Some(name), entry),
        Some(item) => layout.replace(text, item, entry),
    })
}

fn with_input(text: &str, input: &Value) -> Result<String, EditError> {
    let root = Container::root(text)?;
    let layout = Layout::of(text, &root);
    let Some(found) = root.member(INPUTS)? else {
        return Ok(layout.insert(text, &root, Some(INPUTS), &json!([input])));
    };
    Ok(layout.insert(text, &Container::at(text, found.value.start)?, None, input))
}

/// The text without the first item that is meant, in the container of this name.
fn without(
    text: &str,
    container: &str,
    is_meant: impl Fn(&Item, &Value) -> bool,
) -> Result<String, EditError> {
    let root = Container::root(text)?;
    let found = root.member(container)?.ok_or(EditError::NotKept)?;
    let inner = Container::at(text, found.value.start)?;
    let mut index = None;
    for (number, item) in inner.items.iter().enumerate() {
        let value = read(text.get(item.value.clone()).unwrap_or_default())?;
        if is_meant(item, &value) {
            index = Some(number);
            break;
        }
    }
    let index = index.ok_or(EditError::NotKept)?;
    let before = index.checked_sub(1).and_then(|index| inner.items.get(index));
    let gone = match (before, inner.items.get(index), inner.items.get(index + 1)) {
        (_, Some(item), Some(next)) => item.start..next.start,
        (Some(before), Some(item), None) => before.value.end..item.value.end,
        _ => inner.open + 1..inner.close,
    };
    Ok(spliced(text, gone, ""))
}
