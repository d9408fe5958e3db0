//! Holds answers to the OpenAPI document: every answer has to be one that the document has, to the last field.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::stage::Answer;

/// The document as it is served, with every shape closed: a field that it does not name is a mistake.
static CLOSED: LazyLock<Value> = LazyLock::new(|| {
    let mut document = document();
    let mut parts = BTreeSet::new();
    find_parts(&document, &mut parts);
    let shapes = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    for (name, shape) in shapes.expect("shapes") {
        // A part of another shape knows only its own fields.
        if !parts.contains(name) {
            close(shape);
        }
    }
    document
});

/// The document as it is served.
pub(crate) fn document() -> Value {
    serde_json::from_str(&bailiwick_http::routes::openapi()).expect("a document")
}

/// Every operation: `GET /v1/tools`.
pub(crate) fn operations() -> BTreeSet<String> {
    let document = document();
    let paths = document["paths"].as_object().expect("paths");
    let of_path = |(path, item): (&String, &Value)| {
        let methods = item.as_object().expect("an item").keys();
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

/// What the document says of an operation.
#[track_caller]
pub(crate) fn operation(name: &str) -> Value {
    let (method, path) = name.split_once(' ').expect("a method and a path");
    let found = CLOSED["paths"].get(path).and_then(|item| item.get(method.to_lowercase()));
    found.unwrap_or_else(|| panic!("{name} is not in the document")).clone()
}

/// Whether an answer is one that the document has for an operation.
#[track_caller]
pub(crate) fn holds(name: &str, answer: &Answer) {
    let status = answer.status.as_str();
    let response = &operation(name)["responses"][status];
    assert!(response.is_object(), "{name} has no {status}: {}", answer.text);
    let Some(content) = response.get("content").and_then(Value::as_object) else {
        assert_eq!(answer.text, "", "{name}: {status} has no body");
        return;
    };
    let kind = answer.kind().unwrap_or_default();
    let media = content.get(kind).unwrap_or_else(|| panic!("{name}: {status} is no {kind}"));
    if kind == "application/json" || kind.ends_with("+json") {
        is_of(&media["schema"], &answer.json(), name);
    }
}

/// Whether a value is of a shape of the document, by name.
#[track_caller]
pub(crate) fn is_a(shape: &str, value: &Value) {
    is_of(&json!({"$ref": format!("#/components/schemas/{shape}")}), value, shape);
}

#[track_caller]
fn is_of(schema: &Value, value: &Value, what: &str) {
    let mut whole = schema.as_object().cloned().unwrap_or_default();
    whole.insert("components".to_owned(), CLOSED["components"].clone());
    let validator = jsonschema::draft202012::new(&Value::Object(whole)).expect("a schema");
    let wrong: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(wrong.is_empty(), "{what}: {wrong:#?}\n{value:#}");
}

fn close(shape: &mut Value) {
    let is_closed = |map: &Map<String, Value>| map.contains_key("properties") || map.contains_key("allOf");
    if let Value::Object(map) = shape
        && is_closed(map)
    {
        map.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// The shapes that stand in others as a part.
fn find_parts(value: &Value, parts: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for item in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = item["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
                    parts.insert(name.to_owned());
                }
            }
            map.values().for_each(|inner| find_parts(inner, parts));
        }
        Value::Array(list) => list.iter().for_each(|inner| find_parts(inner, parts)),
        _ => {}
    }
}
