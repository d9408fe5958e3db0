//! What a folder's own file may say: only less.
//!
//! Every key says in the table how it narrows. Anything else is a problem that names the key, its line and the
//! way out: read the file, then `bailiwick trust` it. What was accepted is then made to fit: an allow that the folder
//! denies is gone, a limit above its new ceiling is at the ceiling. So a narrowing narrows and never just breaks.

use std::sync::Arc;

use bailiwick_document::{DocPath, Place, Problem, Problems};
use bailiwick_policy::{
    AskWhen, Capability, CapabilityPattern, CapabilitySet, HostRule, NetworkMode, Room, Sourced, without,
};
use bailiwick_types::{LimitKind, Limits};

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
    let mut added = Added::default();
    for (key, value, place) in sheet.values {
        added.note(key, &value);
        let current = |config: &Config| config.get(&key.path).map(|setting| setting.value.clone());
        let (now, before) = (current(settled), current(by_files));
        match (narrowed(key, now.as_ref(), &value), narrowed(key, before.as_ref(), &value)) {
            (Some(value), _) => accepted.push((key, value, place)),
            // Narrower than the operator's files, but not than what is settled: both hold.
            (None, Some(_)) => {
                accepted.extend(now.and_then(|now| common(&now, &value)).map(|both| (key, both, place)));
            }
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
    let denied_before = denied(settled);
    for (key, value, place) in accepted {
        settled.set(key, value, Origin::File { path: sheet.document.clone(), place });
    }
    added.deny = added.deny.difference(denied_before);
    make_fit(settled, &added, &Origin::File { path: sheet.document.clone(), place: None });
    Ok(())
}

/// What the folder added to the lists of what is not allowed.
#[derive(Default)]
struct Added {
    deny: CapabilitySet,
    never: Vec<Arc<HostRule>>,
}

impl Added {
    fn note(&mut self, key: &Key, value: &Value) {
        match (key.path.as_str(), value) {
            ("policy.deny", Value::Patterns(patterns)) => self.deny = set_of(patterns),
            ("policy.hosts.never", Value::Hosts(rules)) => {
                self.never = rules.iter().map(|rule| rule.value.clone()).collect();
            }
            _ => {}
        }
    }
}

fn denied(config: &Config) -> CapabilitySet {
    match config.get("policy.deny").map(|setting| &setting.value) {
        Some(Value::Patterns(patterns)) => set_of(patterns),
        _ => CapabilitySet::EMPTY,
    }
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
        Narrowing::Fewer if key.path == "policy.hosts.reserved" => {
            reserves_fewer(current, new).then(|| new.clone())
        }
        Narrowing::Fewer => is_fewer(current, new).then(|| new.clone()),
        Narrowing::More => joined(current, new),
    }
}

fn is_smaller(current: &Value, new: &Value) -> bool {
    match (current, new) {
        (Value::Duration(now), Value::Duration(new))
        | (Value::Size(now), Value::Size(new))
        | (Value::Count(now), Value::Count(new)) => new <= now,
        (Value::Cores(now), Value::Cores(new)) => new <= now,
        // A stronger wall is the narrower one.
        (Value::Tier(now), Value::Tier(new)) => new.meets(*now),
        (Value::Limit(a, now), Value::Limit(b, new)) => a == b && new <= now,
        (Value::Level(now), Value::Level(new)) => new <= now,
        // A list can hold private hosts, which `strict` does not reach: neither is the narrower one.
        (Value::Mode(now), Value::Mode(new)) => *new == NetworkMode::Blocked || *now == NetworkMode::Open,
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

/// The same for a list of whole hosts, where no port means all ports.
fn reserves_fewer(current: &Value, new: &Value) -> bool {
    match (current, new) {
        (Value::Hosts(now), Value::Hosts(new)) => {
            new.iter().all(|rule| now.iter().any(|mine| mine.value.refuses_all_of(&rule.value)))
        }
        _ => false,
    }
}

/// What two lists have in common; nothing where one value simply stays.
fn common(now: &Value, new: &Value) -> Option<Value> {
    match (now, new) {
        (Value::Modes(now), Value::Modes(new)) => {
            Some(Value::Modes(now.iter().filter(|mode| new.contains(mode)).copied().collect()))
        }
        (Value::Patterns(now), Value::Patterns(new)) => {
            let only_now = set_of(now).difference(set_of(new));
            Some(Value::Patterns(without(now, only_now)))
        }
        (Value::Hosts(now), Value::Hosts(new)) => {
            let covered = |rule: &&Sourced<Arc<HostRule>>, by: &[Sourced<Arc<HostRule>>]| {
                by.iter().any(|other| other.value.covers(&rule.value))
            };
            let both = now
                .iter()
                .filter(|rule| covered(rule, new))
                .chain(new.iter().filter(|rule| covered(rule, now)));
            Some(Value::Hosts(both.cloned().collect()))
        }
        (Value::Folders(now), Value::Folders(new)) => {
            Some(Value::Folders(now.iter().filter(|folder| new.contains(folder)).cloned().collect()))
        }
        (Value::Texts(now), Value::Texts(new)) => {
            Some(Value::Texts(now.iter().filter(|text| new.contains(text)).cloned().collect()))
        }
        _ => None,
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

/// Takes away what the narrowed settings no longer leave room for, in the baseline and in the profiles.
fn make_fit(config: &mut Config, added: &Added, origin: &Origin) {
    let offered = match config.get("ceilings.network").map(|setting| &setting.value) {
        Some(Value::Modes(modes)) => modes.clone(),
        _ => Vec::new(),
    };
    let no_network = added.deny.contains(Capability::NetFetch);
    replace(config, "policy.allow", origin, |value| match value {
        Value::Patterns(patterns) => Some(Value::Patterns(without(patterns, added.deny))),
        _ => None,
    });
    replace(config, "policy.network", origin, |value| match value {
        Value::Mode(mode) if no_network || !offered.contains(mode) => Some(Value::Mode(NetworkMode::Blocked)),
        _ => None,
    });
    replace(config, "policy.hosts.allow", origin, |value| match value {
        Value::Hosts(_) if no_network => Some(Value::Hosts(Vec::new())),
        Value::Hosts(rules) => {
            let free = |rule: &&Sourced<Arc<HostRule>>| {
                !added.never.iter().any(|never| rule.value.meets_refusal(never))
            };
            Some(Value::Hosts(rules.iter().filter(free).cloned().collect()))
        }
        _ => None,
    });
    let mut limits = Limits::shipped_ceilings();
    for kind in LimitKind::ALL {
        let Some(Value::Limit(_, ceiling)) =
            config.get(&format!("ceilings.{}", kind.key())).map(|s| s.value.clone())
        else {
            continue;
        };
        // Every ceiling was checked when it was read.
        if limits.set(*kind, ceiling).is_ok() {
            replace(config, &format!("limits.{}", kind.key()), origin, |value| match value {
                Value::Limit(kind, limit) if *limit > ceiling => Some(Value::Limit(*kind, ceiling)),
                _ => None,
            });
        }
    }
    let read_roots = match config.get("fs.readRoots").map(|setting| &setting.value) {
        Some(Value::Folders(folders)) => folders.clone(),
        _ => Vec::new(),
    };
    let room = Room { limits, networks: offered, never: added.never.clone(), denied: added.deny, read_roots };
    for (profile, _) in config.profiles.values_mut() {
        profile.layer = Arc::new(profile.layer.fitted(&room));
    }
}

/// Puts another value in the place of one; it then comes from the folder's file.
fn replace(config: &mut Config, path: &str, origin: &Origin, change: impl Fn(&Value) -> Option<Value>) {
    let Some(setting) = config.get(path) else { return };
    let Some(value) = change(&setting.value).filter(|value| *value != setting.value) else { return };
    if let Some(key) = KEYS.iter().find(|key| key.path == path) {
        config.set(key, value, origin.clone());
    }
}
