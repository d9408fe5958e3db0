//! What a folder's own file may say: only less.
//!
//! Every key says in the table how it narrows. Anything else is a problem that names the key, its line and the
//! way out: read the file, then `bailiwick trust` it. What was accepted is then made to fit: an allow that the folder
//! denies is gone, a limit above its new ceiling is at the ceiling. So a narrowing narrows and never just breaks.

use std::sync::Arc;

use bailiwick_document::{DocPath, Place, Problem, Problems};
use bailiwick_policy::{AskWhen, CapabilityPattern, CapabilitySet, HostRule, NetworkMode, Sourced};
use bailiwick_types::LimitKind;

use crate::keys::{KEYS, Key, Narrowing};
use crate::merge::{Config, Origin};
use crate::read::Sheet;
use crate::value::Value;

/// Lays a folder's sheet on the settled settings, or names every key that would widen them.
///
/// A key widens when it is wider than both what the operator's files say and what is settled: a flag that is stricter
/// for once does not turn the folder's file into an error, it just stays the stricter one.
pub(crate) fn apply(settled: &mut Config, by_files: &Config, sheet: Sheet) -> Result<(), Problems> {
    let mut problems = Vec::new();
    let mut accepted = Vec::new();
    for (key, value, place) in sheet.values {
        let current = |config: &Config| config.get(&key.path).map(|setting| setting.value.clone());
        match (
            narrowed(key, current(settled).as_ref(), &value),
            narrowed(key, current(by_files).as_ref(), &value),
        ) {
            (Some(value), _) => accepted.push((key, value, place)),
            (None, Some(_)) => {}
            (None, None) => problems.push(refused(key, place, &sheet.document)),
        }
    }
    for (name, _, place) in &sheet.profiles {
        problems.push(Problem {
            place: Some(*place),
            path: DocPath::root().field(&format!("profiles.{name}")),
            message: format!(
                "`profiles.{name}` would widen what the operator set: a profile is an offer of powers"
            ),
            hint: Some(trust_hint(&sheet.document)),
        });
    }
    if let Some(problems) = Problems::from_list(&*sheet.document, problems) {
        return Err(problems);
    }
    for (key, value, place) in accepted {
        settled.set(key, value, Origin::File { path: sheet.document.clone(), place });
    }
    make_fit(settled);
    Ok(())
}

fn trust_hint(document: &str) -> String {
    format!("read the file, and if you mean it: bailiwick trust {document}")
}

fn refused(key: &Key, place: Option<Place>, document: &str) -> Problem {
    let path = &key.path;
    let message = match key.narrowing {
        Narrowing::Fixed => format!("only the operator sets `{path}`; a folder's own file may not change it"),
        Narrowing::Smaller | Narrowing::Fewer | Narrowing::More => {
            format!("`{path}` would widen what the operator set; a folder's own file may only narrow")
        }
    };
    Problem { place, path: DocPath::root().field(path), message, hint: Some(trust_hint(document)) }
}

/// The value a key has after narrowing, or nothing if the new one is wider.
fn narrowed(key: &Key, current: Option<&Value>, new: &Value) -> Option<Value> {
    let current = current?;
    if current == new {
        return Some(new.clone());
    }
    match key.narrowing {
        Narrowing::Fixed => None,
        Narrowing::Smaller => is_smaller(current, new).then(|| new.clone()),
        Narrowing::Fewer => is_fewer(current, new).then(|| new.clone()),
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
        (Value::Patterns(now), Value::Patterns(new)) => set_of(new).difference(set_of(now)).is_empty(),
        (Value::Hosts(now), Value::Hosts(new)) => {
            new.iter().all(|rule| now.iter().any(|mine| mine.value.covers(&rule.value)))
        }
        // A folder below an opened one may be a link to anywhere, and the folder's author makes links.
        (Value::Folders(now), Value::Folders(new)) => new.iter().all(|folder| now.contains(folder)),
        (Value::Texts(now), Value::Texts(new)) => new.iter().all(|text| now.contains(text)),
        _ => false,
    }
}

fn set_of(patterns: &[Sourced<CapabilityPattern>]) -> CapabilitySet {
    patterns.iter().fold(CapabilitySet::EMPTY, |set, pattern| set.union(pattern.value.set()))
}

fn joined(current: &Value, new: &Value) -> Option<Value> {
    match (current.clone(), new.clone()) {
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

/// Takes away what the narrowed settings no longer leave room for.
fn make_fit(config: &mut Config) {
    let denied = match config.get("policy.deny").map(|setting| &setting.value) {
        Some(Value::Patterns(patterns)) => set_of(patterns),
        _ => CapabilitySet::EMPTY,
    };
    replace(config, "policy.allow", |value| match value {
        Value::Patterns(patterns) => Some(Value::Patterns(without(patterns, denied))),
        _ => None,
    });
    let never: Vec<Arc<HostRule>> = match config.get("policy.hosts.never").map(|setting| &setting.value) {
        Some(Value::Hosts(rules)) => rules.iter().map(|rule| rule.value.clone()).collect(),
        _ => Vec::new(),
    };
    replace(config, "policy.hosts.allow", |value| match value {
        Value::Hosts(rules) => {
            let free = |rule: &&Sourced<Arc<HostRule>>| {
                !never.iter().any(|never| never.pattern().overlaps(rule.value.pattern()))
            };
            Some(Value::Hosts(rules.iter().filter(free).cloned().collect()))
        }
        _ => None,
    });
    let offered = match config.get("ceilings.network").map(|setting| &setting.value) {
        Some(Value::Modes(modes)) => modes.clone(),
        _ => Vec::new(),
    };
    replace(config, "policy.network", |value| match value {
        Value::Mode(mode) if !offered.contains(mode) => Some(Value::Mode(NetworkMode::Blocked)),
        _ => None,
    });
    for kind in LimitKind::ALL {
        let ceiling = match config.get(&format!("ceilings.{}", kind.key())).map(|setting| &setting.value) {
            Some(Value::Limit(_, ceiling)) => *ceiling,
            _ => continue,
        };
        replace(config, &format!("limits.{}", kind.key()), |value| match value {
            Value::Limit(kind, limit) if *limit > ceiling => Some(Value::Limit(*kind, ceiling)),
            _ => None,
        });
    }
}

/// Allows without what is denied, each capability by its name where a pattern held both.
fn without(
    patterns: &[Sourced<CapabilityPattern>],
    denied: CapabilitySet,
) -> Vec<Sourced<CapabilityPattern>> {
    let mut kept = Vec::new();
    for pattern in patterns {
        let free = pattern.value.set().difference(denied);
        if free == pattern.value.set() {
            kept.push(pattern.clone());
            continue;
        }
        kept.extend(free.iter().map(|capability| Sourced {
            value: CapabilityPattern::exact(capability),
            place: pattern.place,
            path: pattern.path.clone(),
            document: pattern.document.clone(),
        }));
    }
    kept
}

/// Puts another value in the place of one, if there is one; where it came from stays.
fn replace(config: &mut Config, path: &str, change: impl Fn(&Value) -> Option<Value>) {
    let Some(setting) = config.get(path) else { return };
    let Some(value) = change(&setting.value) else { return };
    let origin = setting.origin.clone();
    if let Some(key) = KEYS.iter().find(|key| key.path == path) {
        config.set(key, value, origin);
    }
}
