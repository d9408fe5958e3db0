use serde_json::{Value, json};

use crate::read::FIELDS;
use crate::{COVERED, MANAGED, TEXTS, Tool};

/// A document with every field there is.
fn full() -> Value {
    json!({
        "id": "0198c0de-0000-7000-8000-000000000001",
        "name": "a",
        "title": "A",
        "description": "Does a.",
        "category": "TEXT",
        "tags": ["words"],
        "params": [{"name": "p", "type": "STRING", "description": "one", "testValue": "v"}],
        "output": {"type": "object"},
        "statics": [{"name": "s", "value": 1}],
        "entry": "execute",
        "language": "javascript",
        "profile": "web",
        "overrides": {"network": "strict"},
        "limits": {"wall": "3s"},
        "approval": {"mode": "REQUIRED"},
        "tests": [{"name": "t", "equals": 1}],
        "code": "return 1",
        "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-01T00:00:00Z",
        "version": 1,
        "x-vendor": 1,
    })
}

/// Another value for each field; where there is none, the field is taken out.
fn others() -> Vec<(&'static str, Value)> {
    vec![
        ("id", json!("0198c0de-0000-7000-8000-000000000002")),
        ("name", json!("b")),
        ("title", json!("B")),
        ("description", json!("Does b.")),
        ("category", json!("DATA")),
        ("tags", json!(["numbers"])),
        ("params", json!([{"name": "p", "type": "STRING", "description": "two", "testValue": "v"}])),
        ("output", json!({"type": "array"})),
        ("statics", json!([{"name": "s", "value": 2}])),
        ("entry", json!("body")),
        ("language", json!("typescript")),
        ("profile", json!("other")),
        ("overrides", json!({"network": "blocked"})),
        ("limits", json!({"wall": "2s"})),
        ("approval", json!({"mode": "AUTO"})),
        ("tests", json!([{"name": "t", "equals": 2}])),
        ("code", json!("return 2")),
        ("createdAt", json!("2026-01-02T00:00:00Z")),
        ("updatedAt", json!("2026-01-02T00:00:00Z")),
        ("version", json!(2)),
        ("x-vendor", json!(2)),
        ("x-other", json!(1)),
    ]
}

/// Which of the two hashes a change moves: covered, texts.
#[track_caller]
fn check(field: &str, value: Option<Value>, expected: (bool, bool)) {
    let before = Tool::from_json(&full()).unwrap();
    let mut document = full();
    match value {
        Some(value) => document[field] = value,
        None => drop(document.as_object_mut().unwrap().shift_remove(field)),
    }
    let after = Tool::from_json(&document).unwrap();
    let moved = (before.covered_hash() != after.covered_hash(), before.texts_hash() != after.texts_hash());
    assert_eq!(moved, expected, "{field}");
}

#[test]
fn each_field_moves_exactly_the_hash_it_belongs_to() {
    for (field, value) in others() {
        let expected = (COVERED.contains(&field), TEXTS.contains(&field));
        check(field, Some(value), expected);
        if !matches!(field, "name" | "code") {
            check(field, None, expected);
        }
    }
}

#[test]
fn a_command_in_place_of_code_moves_the_covered_hash() {
    let mut document = full();
    let map = document.as_object_mut().unwrap();
    for field in ["code", "entry", "language", "profile", "overrides", "limits"] {
        map.shift_remove(field);
    }
    map.insert("command".to_owned(), json!({"argv": ["ls"]}));
    let one = Tool::from_json(&document).unwrap();
    document["command"] = json!({"argv": ["cat"]});
    let other = Tool::from_json(&document).unwrap();
    assert_ne!(one.covered_hash(), other.covered_hash());
    assert_eq!(one.texts_hash(), other.texts_hash());
}

#[test]
fn every_field_belongs_to_exactly_one_group() {
    for field in FIELDS.iter().filter(|field| **field != "safety") {
        let groups = [COVERED, TEXTS, MANAGED].iter().filter(|group| group.contains(field)).count();
        assert_eq!(groups, 1, "{field}");
        let is_tried = others().iter().any(|(tried, _)| tried == field);
        assert!(is_tried || *field == "command", "{field} is not tried");
    }
}

#[test]
fn what_says_the_same_in_other_words_has_the_same_hash() {
    let hash = |document: Value| Tool::from_json(&document).unwrap().covered_hash();
    let base =
        hash(json!({"name": "a", "code": "x", "params": [{"name": "p", "type": "INTEGER", "testValue": 7}]}));
    for same in [
        json!({"code": "x", "name": "b", "params": [{"testValue": "7", "type": "integer", "name": "p", "required": false}]}),
        json!({"name": "a", "code": "x", "entry": "body", "approval": {"mode": "AUTO"}, "overrides": {}, "tests": [],
            "params": [{"name": "p", "type": "Integer", "testValue": 7.0}]}),
    ] {
        assert_eq!(hash(same.clone()), base, "{same}");
    }
}

#[test]
fn the_hashes_of_a_known_document_stay_what_they_are() {
    let one = super::tool(super::STARS);
    insta::assert_snapshot!(format!("{}\n{}", one.covered_hash(), one.texts_hash()), @r"
    5d5aed1f69973d60b640a36c518d9a74507d1e078ba34db61743b30da374d098
    61a170f3419f0976fb6a2c9ef79677b4e849c8fcc23db6944721974bbb5eae16
    ");
}
