//! Walks a tree, takes typed values out of it and collects every mistake on the way.
//!
//! A getter returns `None` both for "absent" and for "wrong" — but for "wrong" it has left a [`Problem`], and
//! [`Reader::finish`] gives a value only when there is no problem. So a parser reads straight on and reports
//! all mistakes of a document at once.

use bailiwick_types::{did_you_mean, shortened};

use crate::{DocPath, Key, Node, Problem, Problems, Value};

/// How many mistakes of one document are told; a thousand messages help nobody.
const MOST_TOLD: usize = 10;

/// Collects the problems of one document.
#[derive(Debug)]
pub struct Reader {
    document: String,
    problems: Vec<Problem>,
    untold: usize,
}

/// A value on its way into a type: the node and the path that leads to it.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The node.
    pub node: &'a Node,
    /// Where it is in the structure.
    pub path: DocPath,
}

/// A map whose known fields are taken out one by one; what is left at the end is unknown.
#[derive(Debug)]
pub struct Record<'a> {
    entries: &'a [(Key, Node)],
    path: DocPath,
    known: Vec<&'static str>,
    /// Older names, which no hint advertises.
    aliases: Vec<&'static str>,
}

impl Reader {
    /// A reader for the document of this name.
    pub fn new(document: impl Into<String>) -> Self {
        Self { document: document.into(), problems: Vec::new(), untold: 0 }
    }

    /// What the document is called.
    pub fn document(&self) -> &str {
        &self.document
    }

    /// Notes a mistake.
    pub fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MOST_TOLD {
            self.problems.push(problem);
        } else {
            self.untold += 1;
        }
    }

    /// Whether enough mistakes were told already; what is costly to explain can be left out then.
    pub const fn has_told_enough(&self) -> bool {
        self.problems.len() >= MOST_TOLD
    }

    /// Counts a mistake without telling it.
    pub fn one_more(&mut self) {
        self.untold += 1;
    }

    /// Notes a mistake at an entry.
    pub fn wrong(&mut self, entry: &Entry<'_>, message: impl Into<String>, hint: Option<String>) {
        self.problem(Problem {
            place: Some(entry.node.place),
            path: entry.path.clone(),
            message: message.into(),
            hint,
        });
    }

    /// The value if nothing was wrong, else everything that was.
    pub fn finish<T>(self, value: T) -> Result<T, Problems> {
        let Some(mut problems) = Problems::from_list(self.document, self.problems) else { return Ok(value) };
        if self.untold > 0 {
            let message = format!("and {} more mistakes like these", self.untold);
            problems.list.push(Problem { place: None, path: DocPath::root(), message, hint: None });
        }
        Err(problems)
    }

    fn mismatch(&mut self, entry: &Entry<'_>, expected: &str, hint: Option<String>) {
        let subject = match entry.path.as_str() {
            "" => "the document".to_owned(),
            path => format!("`{path}`"),
        };
        let message = format!("{subject} must be {expected}, but is {}", entry.node.value.kind());
        self.wrong(entry, message, hint);
    }

    /// A map. An empty document counts as an empty map.
    pub fn record<'a>(&mut self, entry: &Entry<'a>) -> Option<Record<'a>> {
        let entries: &'a [(Key, Node)] = match &entry.node.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            _ => {
                self.mismatch(entry, "a map of fields", None);
                return None;
            }
        };
        Some(Record { entries, path: entry.path.clone(), known: Vec::new(), aliases: Vec::new() })
    }

    /// A text.
    pub fn text<'a>(&mut self, entry: &Entry<'a>) -> Option<&'a str> {
        match &entry.node.value {
            Value::Text(text) => Some(text),
            Value::Number(raw) => {
                self.mismatch(entry, "a text", Some(format!("write it in quotes: \"{raw}\"")));
                None
            }
            Value::Bool(flag) => {
                self.mismatch(entry, "a text", Some(format!("write it in quotes: \"{flag}\"")));
                None
            }
            _ => {
                self.mismatch(entry, "a text", None);
                None
            }
        }
    }

    /// `true` or `false`.
    pub fn flag(&mut self, entry: &Entry<'_>) -> Option<bool> {
        match &entry.node.value {
            Value::Bool(flag) => Some(*flag),
            Value::Text(text) if matches!(text.as_str(), "yes" | "no" | "on" | "off") => {
                let meant = if matches!(text.as_str(), "yes" | "on") { "true" } else { "false" };
                self.mismatch(entry, "true or false", Some(format!("write {meant}")));
                None
            }
            _ => {
                self.mismatch(entry, "true or false", None);
                None
            }
        }
    }

    /// A whole number that is not negative.
    pub fn count(&mut self, entry: &Entry<'_>) -> Option<u64> {
        let Value::Number(raw) = &entry.node.value else {
            self.mismatch(entry, "a whole number", None);
            return None;
        };
        let plain = raw.replace('_', "");
        let radix = |radix: u32| u64::from_str_radix(plain.get(2..).unwrap_or(""), radix).ok();
        let parsed = match plain.get(..2) {
            Some("0x") => radix(16),
            Some("0o") => radix(8),
            Some("0b") => radix(2),
            _ => plain.parse().ok(),
        };
        if parsed.is_none() {
            let message =
                format!("`{}` must be a whole number that is not negative, but is {raw}", entry.path);
            self.wrong(entry, message, None);
        }
        parsed
    }

    /// The items of a list.
    pub fn list<'a>(&mut self, entry: &Entry<'a>) -> Vec<Entry<'a>> {
        match &entry.node.value {
            Value::List(items) => items
                .iter()
                .enumerate()
                .map(|(index, node)| Entry { node, path: entry.path.item(index) })
                .collect(),
            Value::Text(text) => {
                self.mismatch(entry, "a list", Some(format!("write [\"{}\"]", shortened(text))));
                Vec::new()
            }
            _ => {
                self.mismatch(entry, "a list", None);
                Vec::new()
            }
        }
    }

    /// The items of a list that may not be longer than `most`: what is checked against every item of another
    /// list must not be endless.
    pub fn list_up_to<'a>(&mut self, entry: &Entry<'a>, most: usize) -> Vec<Entry<'a>> {
        let items = self.list(entry);
        if items.len() > most {
            let message = format!("`{}` has {} entries; at most {most} are read", entry.path, items.len());
            self.wrong(entry, message, None);
            return Vec::new();
        }
        items
    }

    /// One of a closed set of words.
    pub fn word<T: Copy>(&mut self, entry: &Entry<'_>, words: &[(&'static str, T)]) -> Option<T> {
        let known = || words.iter().map(|(word, _)| *word);
        let one_of = || format!("one of {}", known().collect::<Vec<_>>().join(", "));
        let Value::Text(text) = &entry.node.value else {
            self.mismatch(entry, "a text", Some(one_of()));
            return None;
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| word == text) {
            return Some(*value);
        }
        let hint = did_you_mean(text, known(), one_of);
        self.wrong(entry, format!("`{}` cannot be `{}`", entry.path, shortened(text)), Some(hint));
        None
    }
}

impl<'a> Record<'a> {
    /// A known field, if the document has it. A field that is there but empty counts as absent.
    pub fn take(&mut self, name: &'static str) -> Option<Entry<'a>> {
        self.known.push(name);
        self.find(name).filter(|entry| entry.node.value != Value::Null)
    }

    /// A known field under an older name. Using both names is a mistake.
    pub fn take_alias(
        &mut self,
        reader: &mut Reader,
        name: &'static str,
        alias: &'static str,
    ) -> Option<Entry<'a>> {
        let plain = self.take(name);
        let aliased = self.find(alias).filter(|entry| entry.node.value != Value::Null);
        self.aliases.push(alias);
        if let (Some(_), Some(second)) = (&plain, &aliased) {
            reader.wrong(second, format!("`{alias}` means the same as `{name}`, and both are given"), None);
        }
        plain.or(aliased)
    }

    /// All entries, for a map whose keys are the author's own.
    pub fn entries(self) -> impl Iterator<Item = (&'a Key, Entry<'a>)> {
        let path = self.path;
        self.entries.iter().map(move |(key, node)| (key, Entry { node, path: path.field(&key.text) }))
    }

    fn find(&self, name: &str) -> Option<Entry<'a>> {
        self.entries
            .iter()
            .find(|(key, _)| key.text == name)
            .map(|(key, node)| Entry { node, path: self.path.field(&key.text) })
    }

    /// Ends the record: every field that nobody asked for is a mistake.
    pub fn close(self, reader: &mut Reader) {
        self.close_with(reader, |_| None);
    }

    /// Ends the record; `elsewhere` may know better where an unknown field belongs.
    pub fn close_with(self, reader: &mut Reader, elsewhere: impl Fn(&str) -> Option<String>) {
        for (key, _) in self.entries {
            if self.known.contains(&key.text.as_str()) || self.aliases.contains(&key.text.as_str()) {
                continue;
            }
            if reader.has_told_enough() {
                reader.one_more();
                continue;
            }
            let hint = elsewhere(&key.text).unwrap_or_else(|| {
                did_you_mean(&key.text, self.known.iter().copied(), || {
                    format!("known here: {}", self.known.join(", "))
                })
            });
            reader.problem(Problem {
                place: Some(key.place),
                path: self.path.field(&key.text),
                message: format!("unknown field `{}`", shortened(&key.text)),
                hint: Some(hint),
            });
        }
    }
}
