//! Walks a tree, takes typed values out of it and collects every mistake on the way.
//!
//! A getter returns `None` both for "absent" and for "wrong" — but for "wrong" it has left a [`Problem`], and
//! [`Reader::finish`] gives a value only when there is no problem. So a parser reads straight on and reports
//! all mistakes of a document at once.

use bailiwick_types::closest;

use crate::{DocPath, Key, Node, Place, Problem, Problems, Value};

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
    asked: Vec<&'static str>,
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
    pub fn finish<T>(mut self, value: T) -> Result<T, Problems> {
        if self.untold > 0 {
            let message = format!("and {} more mistakes like these", self.untold);
            self.problems.push(Problem { place: None, path: DocPath::root(), message, hint: None });
            // Without a place it would be sorted to the front.
            let rest = self.problems.pop();
            return match Problems::from_list(self.document, self.problems) {
                Some(mut problems) => {
                    problems.list.extend(rest);
                    Err(problems)
                }
                None => Ok(value),
            };
        }
        match Problems::from_list(self.document, self.problems) {
            Some(problems) => Err(problems),
            None => Ok(value),
        }
    }

    fn mismatch(&mut self, entry: &Entry<'_>, expected: &str, hint: Option<String>) {
        let subject = if entry.path.as_str().is_empty() { "the document" } else { entry.path.as_str() };
        let message = format!("`{subject}` must be {expected}, but is {}", entry.node.value.kind());
        let message = if subject == "the document" { message.replace('`', "") } else { message };
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
        Some(Record { entries, path: entry.path.clone(), asked: Vec::new() })
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
                self.mismatch(entry, "true or false", Some(format!("`{text}` is a text here")));
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
        let parsed = raw.replace('_', "").parse().ok();
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
                let shown: String = text.chars().take(80).collect();
                self.mismatch(entry, "a list", Some(format!("write [\"{shown}\"]")));
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
        let text = self.text(entry)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known: Vec<&'static str> = words.iter().map(|(word, _)| *word).collect();
        let shown: String = text.chars().take(80).collect();
        let hint = closest(text, known.iter().copied())
            .map_or_else(|| format!("one of {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
        self.wrong(entry, format!("`{}` cannot be `{shown}`", entry.path), Some(hint));
        None
    }
}

impl<'a> Record<'a> {
    /// A known field, if the document has it. A field that is there but empty counts as absent.
    pub fn take(&mut self, name: &'static str) -> Option<Entry<'a>> {
        self.asked.push(name);
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
        self.asked.push(alias);
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

    /// Whether the record has no fields at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&self, name: &str) -> Option<Entry<'a>> {
        self.entries
            .iter()
            .find(|(key, _)| key.text == name)
            .map(|(key, node)| Entry { node, path: self.path.field(&key.text) })
    }

    /// Ends the record: every field that nobody asked for is a mistake.
    pub fn close(self, reader: &mut Reader) {
        for (key, _) in self.entries {
            if self.asked.contains(&key.text.as_str()) {
                continue;
            }
            let shown: String = key.text.chars().take(80).collect();
            let hint = closest(&key.text, self.asked.iter().copied()).map_or_else(
                || format!("known here: {}", self.asked.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            reader.problem(unknown(key.place, self.path.field(&key.text), &shown, hint));
        }
    }
}

fn unknown(place: Place, path: DocPath, shown: &str, hint: String) -> Problem {
    Problem { place: Some(place), path, message: format!("unknown field `{shown}`"), hint: Some(hint) }
}
