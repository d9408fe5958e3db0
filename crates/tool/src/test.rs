//! A test as a tool's document has it: an input, what the world answers, and what is expected.

use bailiwick_document::{Entry, Reader, Value as Node};
use bailiwick_gateway::net::Canned;
use bailiwick_policy::GuestPath;
use bailiwick_types::{ErrorCode, did_you_mean, shortened};
use regex::RegexBuilder;
use serde_json::{Map, Value, json};

use crate::diff;
use crate::expect::{ExpectationKind, Expectations, Miss, Throws};
use crate::json::json_of;
use crate::schema::{PATTERN_BYTES, Schema};

/// Tests of one tool.
pub(crate) const MOST_TESTS: usize = 100;

/// One test of a tool.
#[derive(Debug, Clone)]
pub struct Test {
    /// What it is called; `test N` if the document does not say.
    pub name: String,
    /// The arguments of the call.
    pub input: Map<String, Value>,
    /// What is expected.
    pub expect: Expectations,
    /// Canned answers for `fetch`, as [`Canned::parse`] reads them.
    pub http: Option<Value>,
    /// The files that the test's own workspace begins with: path and text.
    pub files: Vec<(String, String)>,
    /// What must be there afterwards: path and text, or no text for a file that must not be there.
    pub leaves: Vec<(String, Option<String>)>,
    /// A recorded call to replay: the recording, or the path of one.
    pub recording: Option<Value>,
}

impl Test {
    /// Reads the test at this place of the list, counted from 0.
    pub(crate) fn read(reader: &mut Reader, entry: &Entry<'_>, index: usize) -> Option<Self> {
        let mut record = reader.record(entry)?;
        let name = record.take("name").and_then(|entry| reader.text(&entry).map(str::to_owned));
        let input = record.take("input");
        let http = record.take("http").and_then(|entry| read_http(reader, &entry));
        let files = record.take("files").map_or_else(Vec::new, |entry| read_files(reader, &entry));
        let leaves = record.take("leaves").map_or_else(Vec::new, |entry| read_leaves(reader, &entry));
        let recording = record.take("recording").and_then(|entry| read_recording(reader, &entry));
        // A `null` is a value here, not an absence.
        for field in ["equals", "contains"] {
            let _ = record.take(field);
        }
        let written = |field: &str| entry.node.get(field).map(|node| json_of(&node.value));
        let expect = Expectations {
            equals: written("equals"),
            contains: written("contains"),
            matches: record.take("matches").and_then(|entry| read_pattern(reader, &entry)),
            schema: record.take("schema").and_then(|entry| read_schema(reader, &entry)),
            throws: record.take("throws").and_then(|entry| read_throws(reader, &entry)),
            max_ms: record.take("maxMs").and_then(|entry| reader.count(&entry)),
        };
        record.close(reader);
        let wants_value = expect.equals.is_some()
            || expect.contains.is_some()
            || expect.matches.is_some()
            || expect.schema.is_some();
        if expect.throws.is_some() && wants_value {
            let hint = "keep `throws`, or what the result must be; make two tests of it".to_owned();
            reader.wrong(entry, "a test expects a failure and a result at once", Some(hint));
        }
        let input = match input.as_ref().map(|entry| json_of(&entry.node.value)) {
            None => Map::new(),
            Some(Value::Object(input)) => input,
            Some(_) => {
                reader.wrong(entry, "the `input` of a test is a map of arguments", None);
                return None;
            }
        };
        let name = name.unwrap_or_else(|| format!("test {}", index + 1));
        Some(Self { name, input, expect, http, files, leaves, recording })
    }

    /// Whether the test would pass whatever the call gives.
    pub fn expects_nothing(&self) -> bool {
        self.expect.is_empty() && self.leaves.is_empty()
    }

    /// Every file that is not left as expected. `found` gives the text of a file, or nothing if there is none.
    pub fn check_files(&self, mut found: impl FnMut(&str) -> Option<String>) -> Vec<Miss> {
        let miss = |message: String, diff| Some(Miss { kind: ExpectationKind::Leaves, message, diff });
        let check = |(path, expected): &(String, Option<String>)| match (expected, found(path)) {
            (None, None) => None,
            (None, Some(_)) => miss(format!("`{path}` must not be there afterwards, but is"), None),
            (Some(_), None) => miss(format!("`{path}` must be there afterwards, but is not"), None),
            (Some(expected), Some(found)) if *expected == found => None,
            (Some(expected), Some(found)) => {
                miss(format!("`{path}` has another content"), Some(diff::of_texts(expected, &found)))
            }
        };
        self.leaves.iter().filter_map(check).collect()
    }

    pub(crate) fn to_json(&self) -> Value {
        let Self { name, input, expect, http, files, leaves, recording } = self;
        let mut map = Map::new();
        map.insert("name".to_owned(), json!(name));
        if !input.is_empty() {
            map.insert("input".to_owned(), json!(input));
        }
        if let Some(http) = http {
            map.insert("http".to_owned(), http.clone());
        }
        if !files.is_empty() {
            let files: Map<String, Value> =
                files.iter().map(|(path, text)| (path.clone(), json!(text))).collect();
            map.insert("files".to_owned(), Value::Object(files));
        }
        expect.write(&mut map);
        if !leaves.is_empty() {
            let leaves: Map<String, Value> =
                leaves.iter().map(|(path, text)| (path.clone(), json!(text))).collect();
            map.insert("leaves".to_owned(), Value::Object(leaves));
        }
        if let Some(recording) = recording {
            map.insert("recording".to_owned(), recording.clone());
        }
        Value::Object(map)
    }
}

fn read_http(reader: &mut Reader, entry: &Entry<'_>) -> Option<Value> {
    let http = json_of(&entry.node.value);
    match Canned::parse(&http) {
        Ok(_) => Some(http),
        Err(error) => {
            let hint =
                "an entry is {request: {method: GET, url: \"https://…\"}, response: {status: 200, json: {}}}";
            reader.wrong(entry, format!("`{}`: {error}", entry.path), Some(hint.to_owned()));
            None
        }
    }
}

fn read_files(reader: &mut Reader, entry: &Entry<'_>) -> Vec<(String, String)> {
    let Some(record) = reader.record(entry) else { return Vec::new() };
    let mut files = Vec::new();
    for (key, entry) in record.entries() {
        check_path(reader, &entry, &key.text);
        if let Some(text) = reader.text(&entry) {
            files.push((key.text.clone(), text.to_owned()));
        }
    }
    files
}

fn read_leaves(reader: &mut Reader, entry: &Entry<'_>) -> Vec<(String, Option<String>)> {
    let Some(record) = reader.record(entry) else { return Vec::new() };
    let mut leaves = Vec::new();
    for (key, entry) in record.entries() {
        check_path(reader, &entry, &key.text);
        if entry.node.value == Node::Null {
            leaves.push((key.text.clone(), None));
        } else if let Some(text) = reader.text(&entry) {
            leaves.push((key.text.clone(), Some(text.to_owned())));
        }
    }
    leaves
}

fn check_path(reader: &mut Reader, entry: &Entry<'_>, path: &str) {
    let message = match GuestPath::parse(path) {
        Ok(guest) if guest.is_absolute() => {
            format!("`{}` is not within the test's own workspace", shortened(path))
        }
        Ok(guest) if guest.is_start() => format!("`{}` names no file", shortened(path)),
        Ok(_) => return,
        Err(error) => format!("`{}`: {error}", shortened(path)),
    };
    reader.wrong(entry, message, Some("write it like notes/a.txt".to_owned()));
}

fn read_recording(reader: &mut Reader, entry: &Entry<'_>) -> Option<Value> {
    let recording = json_of(&entry.node.value);
    if recording.is_object() || recording.is_string() {
        return Some(recording);
    }
    let hint = "write what `bailiwick run --record` wrote, or the path of it".to_owned();
    reader.wrong(entry, format!("`{}` is no recording", entry.path), Some(hint));
    None
}

fn read_pattern(reader: &mut Reader, entry: &Entry<'_>) -> Option<regex::Regex> {
    let text = reader.text(entry)?;
    match RegexBuilder::new(text).size_limit(PATTERN_BYTES).build() {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let error = error.to_string();
            let what = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let hint = "there are no look-around and no back-references".to_owned();
            reader.wrong(entry, format!("`{}` is no regular expression: {what}", entry.path), Some(hint));
            None
        }
    }
}

fn read_schema(reader: &mut Reader, entry: &Entry<'_>) -> Option<(Value, Schema)> {
    let schema = json_of(&entry.node.value);
    match Schema::compile(&schema) {
        Ok(compiled) => Some((schema, compiled)),
        Err(fault) => {
            reader.wrong(entry, format!("`{}` {}", entry.path, fault.message), fault.hint);
            None
        }
    }
}

fn read_throws(reader: &mut Reader, entry: &Entry<'_>) -> Option<Throws> {
    match &entry.node.value {
        Node::Bool(true) => return Some(Throws::default()),
        Node::Text(text) => return Some(Throws { code: None, message: Some(text.clone()) }),
        Node::Map(_) => {}
        _ => {
            let hint = "write true, a part of the message, or {code: NET_DENIED, message: …}".to_owned();
            reader.wrong(entry, format!("`{}` says no failure", entry.path), Some(hint));
            return None;
        }
    }
    let mut record = reader.record(entry)?;
    let code = record.take("code").and_then(|entry| read_code(reader, &entry));
    let message = record.take("message").and_then(|entry| reader.text(&entry).map(str::to_owned));
    record.close(reader);
    Some(Throws { code, message })
}

fn read_code(reader: &mut Reader, entry: &Entry<'_>) -> Option<ErrorCode> {
    let text = reader.text(entry)?;
    let known = text.parse().ok();
    if known.is_none() {
        let names = || ErrorCode::ALL.iter().map(|code| code.name());
        let hint =
            did_you_mean(text, names(), || "see the error codes in docs/policy-reference.md".to_owned());
        reader.wrong(entry, format!("`{}` is no error code", shortened(text)), Some(hint));
    }
    known
}
