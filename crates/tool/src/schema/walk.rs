//! What a schema holds: its subschemas, by keyword, and the texts that a model would read.
//!
//! Only where a keyword says so is a value a schema: `$ref` within an `enum` is data. A schema stands in a document,
//! whose depth is bounded, so the functions here may recurse.

use serde_json::{Map, Value};

/// Keywords whose value is a schema.
const ONE: &[&str] = &[
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a map of schemas.
const MAP: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The subschemas that apply to a value whenever the schema does, and whether each is only kept for references.
pub(super) fn parts(schema: &Map<String, Value>) -> impl Iterator<Item = (&Value, Kept)> {
    schema.iter().flat_map(|(keyword, value)| {
        let keyword = keyword.as_str();
        let kept = if matches!(keyword, "$defs" | "definitions") { Kept::ForReferences } else { Kept::InUse };
        let parts: Vec<&Value> = match value {
            // A list of `items` is of older drafts; the validator would still look into it.
            Value::Array(parts) if LIST.contains(&keyword) || ONE.contains(&keyword) => {
                parts.iter().collect()
            }
            part if ONE.contains(&keyword) => vec![part],
            Value::Object(parts) if MAP.contains(&keyword) => parts.values().collect(),
            _ => Vec::new(),
        };
        parts.into_iter().map(move |part| (part, kept))
    })
}

/// Whether what stands below a keyword is subschemas.
pub(super) fn is_applied(keyword: &str) -> bool {
    [ONE, LIST, MAP].iter().any(|words| words.contains(&keyword))
}

/// Whether a subschema is in use where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// It is.
    InUse,
    /// Only if something refers to it.
    ForReferences,
}

/// The schema as a part of another one, at `pointer`: its references point to where their targets are now, and it no
/// longer says what it is written in.
pub(crate) fn with_references_below(schema: &Value, pointer: &str) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let moved = |value: &Value| with_references_below(value, pointer);
    let mut out = Map::new();
    for (keyword, value) in fields {
        let value = match (keyword.as_str(), value) {
            ("$schema", _) => continue,
            ("$ref", Value::String(target)) => {
                let below = target.strip_prefix('#').unwrap_or(target);
                Value::String(format!("#{pointer}{below}"))
            }
            (keyword, value) if ONE.contains(&keyword) => moved(value),
            (keyword, Value::Array(list)) if LIST.contains(&keyword) => list.iter().map(moved).collect(),
            (keyword, Value::Object(map)) if MAP.contains(&keyword) => {
                Value::Object(map.iter().map(|(name, value)| (name.clone(), moved(value))).collect())
            }
            _ => value.clone(),
        };
        out.insert(keyword.clone(), value);
    }
    Value::Object(out)
}

/// Every text within a schema that a model would see, with its path: keys and values alike, data included.
pub(crate) fn texts<'a>(path: &str, schema: &'a Value, out: &mut Vec<(String, &'a str)>) {
    match schema {
        Value::String(text) => out.push((path.to_owned(), text)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                texts(&format!("{path}[{index}]"), item, out);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                let below = format!("{path}.{}", bailiwick_types::shortened(key));
                // A keyword is no text of the author's; any other key is.
                if !is_keyword(key) {
                    out.push((below.clone(), key));
                }
                texts(&below, value, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The words of JSON Schema, which say nothing to a model that it does not know.
fn is_keyword(key: &str) -> bool {
    const OTHERS: &[&str] = &[
        "$comment",
        "$ref",
        "$schema",
        "const",
        "contentEncoding",
        "contentMediaType",
        "default",
        "dependentRequired",
        "deprecated",
        "description",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "readOnly",
        "required",
        "title",
        "type",
        "uniqueItems",
        "writeOnly",
    ];
    [ONE, LIST, MAP, OTHERS].iter().any(|words| words.contains(&key))
}
