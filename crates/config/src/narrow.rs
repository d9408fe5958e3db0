//! What a folder's own file may say: only less.
//!
//! Every key says in the table how it narrows. Anything else is a problem that names the key, its line and the
//! way out: read the file, then `bailiwick trust` it.

use bailiwick_document::{DocPath, Place, Problem, Problems};
use bailiwick_policy::{AskWhen, CapabilitySet, GuestPath};

use crate::keys::{Key, Narrowing};
use crate::merge::{Config, Origin};
use crate::read::Sheet;
use crate::value::Value;

/// Lays a folder's sheet on the settings so far, or names every key that would widen them.
pub(crate) fn apply(config: &mut Config, sheet: Sheet) -> Result<(), Problems> {
    let mut problems = Vec::new();
    let mut accepted = Vec::new();
    for (key, value, place) in sheet.values {
        let current = config.get(&key.path).map(|setting| setting.value.clone());
        match narrowed(key, current.as_ref(), value) {
            Some(value) => accepted.push((key, value, place)),
            None => problems.push(widens(&key.path, place, &sheet.document)),
        }
    }
    for (name, _, place) in &sheet.profiles {
        // A profile is an offer of powers; only the operator makes offers.
        problems.push(widens(&format!("profiles.{name}"), Some(*place), &sheet.document));
    }
    if let Some(problems) = Problems::from_list(&*sheet.document, problems) {
        return Err(problems);
    }
    for (key, value, place) in accepted {
        let origin = Origin::File { path: sheet.document.clone(), place };
        config.set(key, value, origin);
    }
    Ok(())
}

fn widens(path: &str, place: Option<Place>, document: &str) -> Problem {
    Problem {
        place,
        path: DocPath::root().field(path),
        message: format!("`{path}` would widen what the operator set; a folder's own file may only narrow"),
        hint: Some(format!("read the file, and if you mean it: bailiwick trust {document}")),
    }
}

/// The value a key has after narrowing, or nothing if the new one is wider.
fn narrowed(key: &Key, current: Option<&Value>, new: Value) -> Option<Value> {
    let current = current?;
    if *current == new {
        return Some(new);
    }
    match key.narrowing {
        Narrowing::Fixed => None,
        Narrowing::Smaller => is_smaller(current, &new).then_some(new),
        Narrowing::Fewer => is_fewer(current, &new).then_some(new),
        Narrowing::More => joined(current, new),
    }
}

fn is_smaller(current: &Value, new: &Value) -> bool {
    match (current, new) {
        (Value::Duration(now), Value::Duration(new)) => new <= now,
        (Value::Limit(a, now), Value::Limit(b, new)) => a == b && new <= now,
        (Value::Level(now), Value::Level(new)) => new <= now,
        (Value::Mode(now), Value::Mode(new)) => new <= now,
        (Value::Ask(now), Value::Ask(new)) => strictness(*new) >= strictness(*now),
        _ => false,
    }
}

fn strictness(ask: Option<AskWhen>) -> u8 {
    match ask {
        None => 0,
        Some(AskWhen::First) => 1,
        Some(AskWhen::Always) => 2,
    }
}

fn is_fewer(current: &Value, new: &Value) -> bool {
    match (current, new) {
        (Value::Modes(now), Value::Modes(new)) => new.iter().all(|mode| now.contains(mode)),
        (Value::Patterns(now), Value::Patterns(new)) => {
            let set = |patterns: &[bailiwick_policy::Sourced<bailiwick_policy::CapabilityPattern>]| {
                patterns.iter().fold(CapabilitySet::EMPTY, |set, pattern| set.union(pattern.value.set()))
            };
            set(new).difference(set(now)).is_empty()
        }
        (Value::Hosts(now), Value::Hosts(new)) => {
            new.iter().all(|rule| now.iter().any(|mine| mine.value.covers(&rule.value)))
        }
        (Value::Folders(now), Value::Folders(new)) => {
            new.iter().all(|folder| now.iter().any(|mine: &GuestPath| mine.contains(folder)))
        }
        (Value::Texts(now), Value::Texts(new)) => new.iter().all(|text| now.contains(text)),
        _ => false,
    }
}

fn joined(current: &Value, new: Value) -> Option<Value> {
    match (current.clone(), new) {
        (Value::Patterns(mut now), Value::Patterns(new)) => {
            now.extend(new);
            Some(Value::Patterns(now))
        }
        (Value::Hosts(mut now), Value::Hosts(new)) => {
            now.extend(new);
            Some(Value::Hosts(now))
        }
        (Value::Texts(mut now), Value::Texts(new)) => {
            now.extend(new);
            Some(Value::Texts(now))
        }
        _ => None,
    }
}
