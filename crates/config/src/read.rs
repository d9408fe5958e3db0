//! One document to settings: every key looked up in the table, every mistake told.

use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick_document::{
    DocPath, Entry, Key as DocKey, Node, Place, Problem, Problems, Reader, Value as Tree,
};
use bailiwick_policy::{AskWhen, GuestPath, HostPattern, Layer, NetworkMode, Profile, read};
use bailiwick_types::{
    LayerName, ProfileName, QuantityError, RiskLevel, Tier, did_you_mean, parse_count, parse_duration_ms,
    parse_size, shortened,
};

use crate::keys::{KEYS, Key, Kind};
use crate::value::Value;

/// What one document sets.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// What the document is called.
    pub(crate) document: Arc<str>,
    /// Key path, value, place.
    pub(crate) values: Vec<(&'static Key, Value, Option<Place>)>,
    /// The profiles it defines.
    pub(crate) profiles: Vec<(ProfileName, Profile, Place)>,
}

/// Reads a whole file.
pub(crate) fn sheet(document: &str, tree: &Node) -> Result<Sheet, Problems> {
    let mut reader = Reader::new(document);
    let mut sheet = Sheet { document: document.into(), values: Vec::new(), profiles: Vec::new() };
    let root = Entry { node: tree, path: DocPath::root() };
    // A stack of tables instead of recursion.
    let mut open = vec![root];
    while let Some(table) = open.pop() {
        let Some(record) = reader.record(&table) else { continue };
        for (name, entry) in record.entries() {
            let path = entry.path.as_str();
            if name.text.contains('.') {
                // `"policy.network"` in quotes would be a second way to write the same key.
                unknown(&mut reader, name, &entry.path);
            } else if path == "profiles" {
                read_profiles(&mut reader, &entry, &mut sheet);
            } else if let Some(key) = KEYS.iter().find(|key| key.path == path) {
                if let Some(value) = value(&mut reader, key, &entry, &sheet.document) {
                    sheet.values.push((key, value, Some(entry.node.place)));
                }
            } else if is_section(path) {
                open.push(entry);
            } else {
                unknown(&mut reader, name, &entry.path);
            }
        }
    }
    reader.finish(sheet)
}

/// Reads one key from a text, as an environment variable or a flag gives it. Lists are separated by commas.
pub(crate) fn single(document: &str, key: &'static Key, text: &str) -> Result<Value, Problems> {
    let is_list =
        matches!(key.kind, Kind::Modes | Kind::Patterns | Kind::Hosts(_) | Kind::Folders | Kind::Texts);
    let leaf = |text: &str| Node { place: Place::START, value: Tree::Text(text.trim().to_owned()) };
    let tree = if is_list {
        let items = text.split(',').filter(|item| !item.trim().is_empty()).map(leaf).collect();
        Node { place: Place::START, value: Tree::List(items) }
    } else {
        leaf(text)
    };
    let mut reader = Reader::new(document);
    let entry = Entry { node: &tree, path: DocPath::root().field(&key.path) };
    let name: Arc<str> = document.into();
    let value = value(&mut reader, key, &entry, &name);
    // There is no text in which a place could be shown.
    let value = reader.finish(value).map_err(|mut problems| {
        for problem in &mut problems.list {
            problem.place = None;
        }
        problems
    })?;
    value.ok_or_else(|| Problems::one(document, Problem::at(Place::START, "no value")))
}

fn is_section(path: &str) -> bool {
    KEYS.iter().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

fn unknown(reader: &mut Reader, name: &DocKey, path: &DocPath) {
    if reader.has_told_enough() {
        return reader.one_more();
    }
    let parent = path.as_str().rsplit_once('.').map_or("", |(parent, _)| parent);
    let below = |full: &'static str| -> Option<&'static str> {
        let rest = if parent.is_empty() { full } else { full.strip_prefix(parent)?.strip_prefix('.')? };
        rest.split('.').next()
    };
    let mut known: Vec<&'static str> = KEYS.iter().filter_map(|key| below(&key.path)).collect();
    if parent.is_empty() {
        known.push("profiles");
    }
    known.dedup();
    // A key in the wrong table is as common as a typo.
    let elsewhere = KEYS.iter().find(|key| key.path.rsplit('.').next() == Some(name.text.as_str()));
    let hint = did_you_mean(&name.text, known.iter().copied(), || match elsewhere {
        Some(key) => format!("did you mean `{}`?", key.path),
        None => format!("known here: {}", known.join(", ")),
    });
    let shown = shortened(path.as_str());
    reader.problem(Problem {
        place: Some(name.place),
        path: path.clone(),
        message: format!("unknown key `{shown}`"),
        hint: Some(hint),
    });
}

fn value(reader: &mut Reader, key: &Key, entry: &Entry<'_>, document: &Arc<str>) -> Option<Value> {
    let named = |reader: &mut Reader, message: String, hint: &str| {
        reader.wrong(entry, message, Some(hint.to_owned()));
    };
    Some(match key.kind {
        Kind::Listen => {
            let text = reader.text(entry)?;
            let address = text.parse::<SocketAddr>().ok().filter(|address| address.port() != 0);
            let Some(address) = address else {
                let message = format!("`{}` must be an address and a port", key.path);
                named(reader, message, "for example \"127.0.0.1:8282\"");
                return None;
            };
            Value::Listen(address)
        }
        Kind::Duration => {
            let text = reader.text(entry)?;
            match parse_duration_ms(text) {
                Ok(0) => {
                    named(reader, format!("`{}` must not be zero", key.path), "for example \"2m\"");
                    return None;
                }
                Ok(ms) => Value::Duration(ms),
                Err(error) => {
                    reader.wrong(entry, format!("`{}`: {error}", key.path), None);
                    return None;
                }
            }
        }
        Kind::Limit(kind) => Value::Limit(kind, read::limit(reader, entry, kind)?.value()),
        Kind::Level => {
            let text = reader.text(entry)?;
            match text.parse::<RiskLevel>() {
                Ok(level) => Value::Level(level),
                Err(error) => {
                    reader.wrong(entry, format!("`{}`: {error}", key.path), None);
                    return None;
                }
            }
        }
        Kind::Mode => Value::Mode(reader.word(entry, &NetworkMode::WORDS)?),
        Kind::Modes => {
            let items = reader.list(entry);
            Value::Modes(items.iter().filter_map(|item| reader.word(item, &NetworkMode::WORDS)).collect())
        }
        Kind::Patterns => {
            let patterns = read::patterns(reader, entry);
            Value::Patterns(patterns.into_iter().map(|pattern| pattern.in_document(document)).collect())
        }
        Kind::Hosts(purpose) => {
            let rules = read::hosts(reader, entry, purpose);
            if key.path == "policy.hosts.reserved" {
                // What is reserved are addresses; a name that was opened would still end at a closed one.
                for rule in &rules {
                    if !matches!(rule.value.pattern(), HostPattern::Address(_) | HostPattern::Block(_)) {
                        let message = format!("`{}` in `{}` is not an address", rule.value, key.path);
                        named(reader, message, "name the address, for example \"169.254.169.254:80\"");
                    }
                }
            }
            Value::Hosts(rules.into_iter().map(|rule| rule.in_document(document)).collect())
        }
        Kind::Folders => Value::Folders(folders(reader, entry)),
        Kind::Ask => {
            const WORDS: [(&str, Option<AskWhen>); 3] =
                [("never", None), ("first", Some(AskWhen::First)), ("always", Some(AskWhen::Always))];
            Value::Ask(reader.word(entry, &WORDS)?)
        }
        Kind::Texts => {
            let items = reader.list(entry);
            Value::Texts(items.iter().filter_map(|item| reader.text(item)).map(str::to_owned).collect())
        }
        Kind::Text => Value::Text(reader.text(entry)?.to_owned()),
        Kind::Switch => Value::Switch(match &entry.node.value {
            // A variable and a flag have texts only.
            Tree::Text(_) => reader.word(entry, &[("true", true), ("false", false)])?,
            _ => reader.flag(entry)?,
        }),
        Kind::Count => Value::Count(at_least_one(reader, key, entry, parse_count)?),
        Kind::CountOrNone => Value::Count(number(reader, key, entry, parse_count)?),
        Kind::Size => Value::Size(at_least_one(reader, key, entry, parse_size)?),
        Kind::SizeOrAuto => match &entry.node.value {
            Tree::Text(text) if text == "auto" => Value::SizeOrAuto(None),
            _ => Value::SizeOrAuto(Some(at_least_one(reader, key, entry, parse_size)?)),
        },
        Kind::Cores => Value::Cores(cores(reader, key, entry)?),
        Kind::Tier => {
            let text = reader.text(entry)?;
            match text.parse::<Tier>() {
                Ok(tier) => Value::Tier(tier),
                Err(error) => {
                    reader.wrong(entry, format!("`{}`: {error}", key.path), None);
                    return None;
                }
            }
        }
    })
}

/// Thousandths of a core, from a number or a text.
fn cores(reader: &mut Reader, key: &Key, entry: &Entry<'_>) -> Option<u32> {
    let said = match &entry.node.value {
        Tree::Text(text) | Tree::Number(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    let thousandths = said.map(|cores| (cores * 1000.0).round()).filter(|cores| (1.0..=1e9).contains(cores));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was bounded just above")]
    let thousandths = thousandths.map(|cores| cores as u32);
    if thousandths.is_none() {
        let message = format!("`{}` must be a number of cores above zero", key.path);
        reader.wrong(entry, message, Some("for example 0.5".to_owned()));
    }
    thousandths
}

/// A number, as a number or as a text.
fn number(
    reader: &mut Reader,
    key: &Key,
    entry: &Entry<'_>,
    parse: fn(&str) -> Result<u64, QuantityError>,
) -> Option<u64> {
    let Tree::Text(text) = &entry.node.value else { return reader.count(entry) };
    match parse(text) {
        Ok(value) => Some(value),
        Err(error) => {
            reader.wrong(entry, format!("`{}`: {error}", key.path), None);
            None
        }
    }
}

/// A number that is not zero.
fn at_least_one(
    reader: &mut Reader,
    key: &Key,
    entry: &Entry<'_>,
    parse: fn(&str) -> Result<u64, QuantityError>,
) -> Option<u64> {
    let value = number(reader, key, entry, parse)?;
    if value == 0 {
        let message = format!("`{}` must not be zero", key.path);
        reader.wrong(entry, message, Some("write at least 1".to_owned()));
        return None;
    }
    Some(value)
}

fn folders(reader: &mut Reader, entry: &Entry<'_>) -> Vec<GuestPath> {
    let mut folders = Vec::new();
    for item in reader.list(entry) {
        let Some(path) = read::path(reader, &item) else { continue };
        if path.is_absolute() {
            folders.push(path);
        } else {
            let hint = Some("write the whole path, from `/` on".to_owned());
            reader.wrong(&item, format!("`{}` must be an absolute folder", item.path), hint);
        }
    }
    folders
}

fn read_profiles(reader: &mut Reader, entry: &Entry<'_>, sheet: &mut Sheet) {
    let Some(profiles) = reader.record(entry) else { return };
    for (name, entry) in profiles.entries() {
        let place = name.place;
        let name = match ProfileName::parse(&name.text) {
            Ok(name) => name,
            Err(error) => {
                reader.problem(Problem {
                    place: Some(place),
                    path: entry.path.clone(),
                    message: error.to_string(),
                    hint: None,
                });
                continue;
            }
        };
        if let Some(profile) = read_profile(reader, &entry, &name, &sheet.document) {
            sheet.profiles.push((name, profile, place));
        }
    }
}

fn read_profile(
    reader: &mut Reader,
    entry: &Entry<'_>,
    name: &ProfileName,
    document: &Arc<str>,
) -> Option<Profile> {
    let mut record = reader.record(entry)?;
    let mut layer = Layer::empty(LayerName::Profile(name.clone()), document.clone());
    let extends = record.take("extends").and_then(|entry| read::profile_name(reader, &entry));
    layer.read_overrides(reader, &mut record);
    if let Some(limits) = record.take("limits") {
        layer.read_limits(reader, &limits);
    }
    record.close(reader);
    Some(Profile { extends, layer: Arc::new(layer) })
}
