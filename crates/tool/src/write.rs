//! A tool as a document again: every field in one order, what has its default left out, `metadata` and `x-…` at the end.

use bailiwick_wire::{Entry, Language};
use serde_json::{Map, Value, json};

use crate::hash::Hash;
use crate::param::Param;
use crate::statics::Static;
use crate::test::Test;
use crate::tool::{Body, Managed, Tool};
use crate::yaml;

/// The fields that Local Pass covers: a change of one takes the pass away. Approval is one of them, so that turning it
/// off never rides along as a change of words.
pub const COVERED: &[&str] = &[
    "params",
    "output",
    "statics",
    "entry",
    "language",
    "profile",
    "overrides",
    "limits",
    "approval",
    "tests",
    "code",
    "command",
];

/// The fields that are words about the tool: a change of one keeps the pass.
pub const TEXTS: &[&str] = &["name", "title", "description", "category", "tags"];

/// The fields that the catalogue keeps by itself.
pub const MANAGED: &[&str] = &["id", "createdAt", "updatedAt", "version"];

impl Tool {
    /// The whole document. Fields stand in one order whatever order they were written in.
    pub fn to_json(&self) -> Value {
        let Self {
            id,
            name,
            title,
            description,
            category,
            tags,
            params,
            output,
            statics,
            entry,
            language,
            body,
            policy,
            overrides,
            limits,
            approval,
            tests,
            managed: Managed { created_at, updated_at, version },
            kept,
        } = self;
        let mut map = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        let list = |items: Vec<Value>| (!items.is_empty()).then_some(Value::Array(items));
        put("id", id.map(|id| json!(id.to_string())));
        put("name", Some(json!(name.as_str())));
        put("title", title.as_ref().map(|text| json!(text)));
        put("description", description.as_ref().map(|text| json!(text)));
        put("category", category.as_ref().map(|category| json!(category.as_str())));
        put("tags", list(tags.iter().map(|tag| json!(tag)).collect()));
        put("params", list(params.iter().map(Param::to_json).collect()));
        put("output", output.as_ref().map(|(written, _)| written.clone()));
        put("statics", list(statics.iter().map(Static::to_json).collect()));
        put("entry", entry_word(*entry).map(|word| json!(word)));
        put("language", language_word(*language).map(|word| json!(word)));
        put("profile", policy.profile.as_ref().map(|name| json!(name.value.as_str())));
        put("overrides", overrides.clone());
        put("limits", limits.clone());
        put("approval", approval.to_json());
        put("tests", list(tests.iter().map(Test::to_json).collect()));
        match body {
            Body::Code(code) => put("code", Some(json!(code))),
            Body::Command(command) => put("command", Some(command.to_json())),
        }
        put("createdAt", created_at.as_ref().map(|time| json!(time)));
        put("updatedAt", updated_at.as_ref().map(|time| json!(time)));
        put("version", version.map(|version| json!(version)));
        map.extend(kept.iter().map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(map)
    }

    /// The whole document in YAML, for people and for version control: the code as a block, the same order always.
    pub fn to_yaml(&self) -> String {
        yaml::document(&self.to_json())
    }

    /// The hash of what Local Pass covers.
    pub fn covered_hash(&self) -> Hash {
        self.hash_of(COVERED)
    }

    /// The hash of the words about the tool.
    pub fn texts_hash(&self) -> Hash {
        self.hash_of(TEXTS)
    }

    fn hash_of(&self, fields: &[&str]) -> Hash {
        let Value::Object(mut document) = self.to_json() else { return Hash::of(&Value::Null) };
        document.retain(|key, _| fields.contains(&key.as_str()));
        Hash::of(&Value::Object(document))
    }
}

/// The word of an entry that is not the default. The shapes that a document cannot name are not read from one.
const fn entry_word(entry: Entry) -> Option<&'static str> {
    match entry {
        Entry::Execute => Some("execute"),
        Entry::Emit => Some("emit"),
        Entry::Body | Entry::Expression | Entry::Script => None,
    }
}

const fn language_word(language: Language) -> Option<&'static str> {
    match language {
        Language::JavaScript => Some("javascript"),
        Language::TypeScript => Some("typescript"),
        Language::Either => None,
    }
}
