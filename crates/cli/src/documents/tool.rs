//! A tool document, as far as one run needs it: its code, parameters, statics and policy.
//!
//! The catalogue reads the rest: texts for models, tests, approval. Unknown top-level fields are no business of a run.

use std::path::Path;

use bailiwick::Entry;
use bailiwick::gateway::net::Seal;
use bailiwick::policy::{Layer, ToolPolicy, read::profile_name};
use bailiwick_config::files;
use bailiwick_document::{self as document, Bounds, DocPath, Entry as Place, Format, Reader, parse};
use bailiwick_secrets::SecretName;
use bailiwick_types::{LayerName, did_you_mean};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// What a run needs of a tool.
pub(crate) struct ToolFile {
    pub(crate) code: String,
    pub(crate) entry: Entry,
    pub(crate) params: Vec<Param>,
    pub(crate) statics: Map<String, Value>,
    /// Statics that refer to secrets.
    pub(crate) secrets: Vec<SecretStatic>,
    pub(crate) policy: ToolPolicy,
    pub(crate) tests: Vec<Test>,
}

/// A static whose value is a secret's.
pub(crate) struct SecretStatic {
    pub(crate) variable: String,
    pub(crate) name: SecretName,
    pub(crate) seal: Option<Seal>,
}

/// A test of a tool, as far as a run of it needs it.
pub(crate) struct Test {
    pub(crate) name: String,
    pub(crate) input: Map<String, Value>,
    pub(crate) http: Option<Value>,
}

/// A declared parameter.
pub(crate) struct Param {
    pub(crate) name: String,
    /// Declared as text, so that what is typed is never taken for a number.
    pub(crate) is_text: bool,
    pub(crate) required: bool,
}

/// The entries a document can name.
const ENTRIES: &[(&str, Entry)] =
    &[("body", Entry::Body), ("execute", Entry::Execute), ("emit", Entry::Emit)];

/// The types of parameters, and whether each is text.
const TYPES: &[(&str, bool)] = &[
    ("string", true),
    ("integer", false),
    ("number", false),
    ("boolean", false),
    ("object", false),
    ("array", false),
];

/// Whether a file is a tool document by its name.
pub(crate) fn is_tool(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| matches!(extension, "yaml" | "yml" | "json"))
}

/// Reads a tool document.
pub(crate) fn read(path: &Path) -> Result<ToolFile, Failure> {
    let text = files::read_document(path)?;
    let name = super::name_of(path);
    let tree = parse(&name, &text, Format::Yaml, Bounds::WRITTEN_BY_HAND)?;
    let mut reader = Reader::new(name.as_str());
    let root = Place { node: &tree, path: DocPath::root() };
    let mut tool = ToolFile {
        code: String::new(),
        entry: Entry::Body,
        params: Vec::new(),
        statics: Map::new(),
        secrets: Vec::new(),
        tests: Vec::new(),
        policy: ToolPolicy { profile: None, layer: Layer::empty(LayerName::Tool, name.as_str()) },
    };
    let mut has_command = false;
    if let Some(mut record) = reader.record(&root) {
        has_command = record.take("command").is_some();
        match record.take("code") {
            Some(entry) => reader.text(&entry).unwrap_or_default().clone_into(&mut tool.code),
            None if has_command => {}
            None => reader.wrong(&root, "the document has no `code`", Some("add `code: |`".to_owned())),
        }
        if let Some(entry) = record.take("entry") {
            tool.entry = reader.word(&entry, ENTRIES).unwrap_or(Entry::Body);
        }
        if let Some(entry) = record.take("params") {
            tool.params = reader.list(&entry).iter().filter_map(|one| param(&mut reader, one)).collect();
        }
        if let Some(entry) = record.take("statics") {
            for one in reader.list(&entry) {
                match fixed(&mut reader, &one) {
                    Some(Fixed::Plain(name, value)) => {
                        tool.secrets.retain(|secret| secret.variable != name);
                        tool.statics.insert(name, value);
                    }
                    Some(Fixed::Secret(secret)) => {
                        tool.statics.remove(&secret.variable);
                        tool.secrets.retain(|before| before.variable != secret.variable);
                        tool.secrets.push(secret);
                    }
                    None => {}
                }
            }
        }
        if let Some(entry) = record.take("tests") {
            tool.tests = reader.list(&entry).iter().filter_map(|one| test(&mut reader, one)).collect();
        }
        if let Some(entry) = record.take("profile") {
            tool.policy.profile = profile_name(&mut reader, &entry);
        }
        if let Some(entry) = record.take("overrides")
            && let Some(mut overrides) = reader.record(&entry)
        {
            tool.policy.layer.read_overrides(&mut reader, &mut overrides);
            overrides.close(&mut reader);
        }
        if let Some(entry) = record.take("limits") {
            tool.policy.layer.read_limits(&mut reader, &entry);
        }
    }
    let tool = reader.finish(tool)?;
    if has_command {
        return Err(Failure::Waits {
            message: "a command tool needs a command sandbox, which this version does not have".to_owned(),
            hint: "write it in JavaScript".to_owned(),
        });
    }
    Ok(tool)
}

fn param(reader: &mut Reader, entry: &Place<'_>) -> Option<Param> {
    let mut record = reader.record(entry)?;
    let name = record.take("name").and_then(|entry| reader.text(&entry).map(str::to_owned));
    let lower = record.take("type").and_then(|entry| {
        let text = reader.text(&entry)?.to_lowercase();
        let known = TYPES.iter().find(|(word, _)| *word == text).map(|(_, is_text)| *is_text);
        if known.is_none() {
            let words: Vec<&str> = TYPES.iter().map(|(word, _)| *word).collect();
            let hint =
                did_you_mean(&text, words.iter().copied(), || format!("types are {}", words.join(", ")));
            reader.wrong(&entry, format!("`{text}` is no type of a parameter"), Some(hint));
        }
        known
    });
    let required = record.take("required").and_then(|entry| reader.flag(&entry)).unwrap_or(false);
    if name.is_none() {
        reader.wrong(entry, "a parameter has no `name`", None);
    }
    Some(Param { name: name?, is_text: lower.unwrap_or(false), required })
}

/// A static: its value, or the name of a secret.
enum Fixed {
    Plain(String, Value),
    Secret(SecretStatic),
}

fn fixed(reader: &mut Reader, entry: &Place<'_>) -> Option<Fixed> {
    let mut record = reader.record(entry)?;
    let name = record.take("name").and_then(|entry| reader.text(&entry).map(str::to_owned));
    let value = record.take("value").map(|entry| json_of(&entry.node.value));
    let seal = record.take("sealed");
    record.close(reader);
    let (Some(variable), Some(value)) = (name, value) else {
        reader.wrong(entry, "a static needs `name` and `value`", None);
        return None;
    };
    let Some(name) = value.as_str().and_then(|text| text.strip_prefix("${")?.strip_suffix('}')) else {
        if let Some(name) = value.as_str().and_then(reference_within) {
            let hint = format!("write `value: ${{{name}}}`, and put the rest to it in the code");
            reader.wrong(entry, "a secret is the whole value of a static, or no part of it", Some(hint));
        }
        if seal.is_some() {
            let hint = "write `value: ${NAME}`, and `bailiwick secret set NAME`".to_owned();
            reader.wrong(entry, "only a secret can be sealed", Some(hint));
        }
        return Some(Fixed::Plain(variable, value));
    };
    let name = match SecretName::parse(name) {
        Ok(name) => name,
        Err(error) => {
            reader.wrong(entry, error.to_string(), Some("for example ${GITHUB_TOKEN}".to_owned()));
            return None;
        }
    };
    let seal = match seal.map(|entry| (Seal::parse(&json_of(&entry.node.value)), entry)) {
        None => None,
        Some((Ok(seal), _)) => Some(seal),
        Some((Err(error), entry)) => {
            let hint =
                "for example sealed: {hosts: [api.github.com], in: \"header:Authorization\"}".to_owned();
            reader.wrong(&entry, format!("`sealed`: {error}"), Some(hint));
            return None;
        }
    };
    Some(Fixed::Secret(SecretStatic { variable, name, seal }))
}

/// The name of a secret that stands within a longer text.
fn reference_within(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("${")?;
    let (name, _) = rest.split_once('}')?;
    SecretName::parse(name).ok().map(|_| name)
}

/// A test's input and canned answers; what it expects is the catalogue's business.
fn test(reader: &mut Reader, entry: &Place<'_>) -> Option<Test> {
    let mut record = reader.record(entry)?;
    let name = record.take("name").and_then(|entry| reader.text(&entry).map(str::to_owned));
    let input = record.take("input").map(|entry| json_of(&entry.node.value));
    let http = record.take("http").map(|entry| json_of(&entry.node.value));
    let input = match input {
        None => Map::new(),
        Some(Value::Object(input)) => input,
        Some(_) => {
            reader.wrong(entry, "the `input` of a test is a map of arguments", None);
            return None;
        }
    };
    Some(Test { name: name.unwrap_or_else(|| "a test".to_owned()), input, http })
}

/// A value of a document as JSON; a document's depth is bounded.
pub(crate) fn json_of(value: &document::Value) -> Value {
    match value {
        document::Value::Null => Value::Null,
        document::Value::Bool(flag) => Value::Bool(*flag),
        // A number that JSON cannot hold stays the text it was written as.
        document::Value::Number(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        document::Value::Text(text) => Value::String(text.clone()),
        document::Value::List(list) => list.iter().map(|node| json_of(&node.value)).collect(),
        document::Value::Map(map) => {
            let fields = map.iter().map(|(key, node)| (key.text.clone(), json_of(&node.value)));
            Value::Object(fields.collect())
        }
    }
}

/// Whether arguments fit the declared parameters: none missing, none unknown.
pub(crate) fn check_arguments(params: &[Param], arguments: &Map<String, Value>) -> Result<(), Failure> {
    let missing: Vec<&str> = params
        .iter()
        .filter(|param| param.required && !arguments.contains_key(&param.name))
        .map(|param| param.name.as_str())
        .collect();
    if !missing.is_empty() {
        return Err(Failure::Argument {
            message: format!("required arguments are missing: {}", missing.join(", ")),
            hint: format!("add --arg {}=…", missing.first().copied().unwrap_or_default()),
        });
    }
    let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
    for given in arguments.keys() {
        if !names.contains(&given.as_str()) {
            let all = || format!("its parameters are: {}", names.join(", "));
            return Err(Failure::Argument {
                message: format!("the tool has no parameter `{given}`"),
                hint: did_you_mean(given, names.iter().copied(), all),
            });
        }
    }
    Ok(())
}
