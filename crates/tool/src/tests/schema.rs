use serde_json::{Map, Value, json};

use crate::json::is_within_depth;
use crate::schema::Schema;

/// The schema is refused with this in the message.
#[track_caller]
fn check_refused(schema: &Value, message: &str) {
    let fault = Schema::compile(schema).expect_err("it was accepted");
    assert!(fault.message.contains(message) && fault.hint.is_some(), "{fault:?}");
}

/// The schema tells these values apart.
#[track_caller]
fn check(schema: &Value, good: &[Value], bad: &[Value]) {
    let schema = Schema::compile(schema).unwrap();
    for value in good {
        assert_eq!(schema.breaches(value), [], "{value}");
    }
    for value in bad {
        assert!(!schema.breaches(value).is_empty(), "{value}");
    }
}

#[test]
fn schemas_of_the_current_draft_check_values() {
    check(
        &json!({"type": "integer", "minimum": 1}),
        &[json!(1), json!(7.0)],
        &[json!(0), json!("1"), json!(1.5)],
    );
    check(
        &json!({"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}),
        &[json!([1, 2.5])],
        &[json!(["x"])],
    );
    check(
        &json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"const": 1}]}),
        &[json!([1])],
        &[json!([2])],
    );
    check(&json!({"pattern": "^a+$"}), &[json!("aa")], &[json!("b")]);
    // A format says something to people, and is not held against a value.
    check(&json!({"format": "email"}), &[json!("no mail")], &[]);
}

#[test]
fn a_reference_stays_within_its_schema() {
    for target in
        ["https://example.com/a.json", "file:///etc/passwd", "other.json#/a", "#name", "//x", "#/a%20b"]
    {
        check_refused(&json!({"$ref": target}), "refers to");
    }
    check_refused(&json!({"properties": {"a": {"$ref": "#/$defs/none"}}}), "which it does not have");
    check_refused(&json!({"$id": "https://x.test/a"}), "`$id`");
    check_refused(&json!({"items": {"$dynamicRef": "#a"}}), "`$dynamicRef`");
    check_refused(&json!({"$schema": "http://json-schema.org/draft-07/schema#"}), "another `$schema`");
    // What only looks like a reference is data.
    assert!(Schema::compile(&json!({"enum": [{"$ref": "https://x.test"}], "const": {"$id": 1}})).is_ok());
    assert!(Schema::compile(&json!({"properties": {"$ref": {"type": "string"}, "$id": {}}})).is_ok());
}

#[test]
fn a_reference_that_leads_back_is_refused_wherever_it_hides() {
    let back = json!({"$ref": "#"});
    for keyword in [
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
    ] {
        check_refused(&json!({(keyword): back}), "leads back to itself");
    }
    for keyword in ["allOf", "anyOf", "oneOf", "prefixItems", "items"] {
        check_refused(&json!({(keyword): [back]}), "leads back to itself");
    }
    for keyword in ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"] {
        check_refused(&json!({(keyword): {"a": back}}), "leads back to itself");
    }
    // Words of older drafts, which the validator would follow.
    check_refused(&json!({"dependencies": {"a": back}}), "`dependencies`");
    check_refused(&json!({"additionalItems": back}), "`additionalItems`");
    check_refused(
        &json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
        "leads back to itself",
    );
    // A reference may also point where no keyword is.
    check_refused(&json!({"x": {"not": {"$ref": "#/x"}}, "$ref": "#/x"}), "leads back to itself");
}

#[test]
fn a_schema_that_unfolds_without_end_is_refused_before_it_costs_anything() {
    let doubling = |steps: usize| {
        let mut parts = Map::new();
        for step in 0..steps {
            let next = json!({"$ref": format!("#/$defs/d{}", step + 1)});
            parts.insert(format!("d{step}"), json!({"allOf": [next, next]}));
        }
        parts.insert(format!("d{steps}"), json!({"type": "integer"}));
        json!({"$defs": parts, "$ref": "#/$defs/d0"})
    };
    assert!(Schema::compile(&doubling(4)).is_ok());
    check_refused(&doubling(16), "unfolds to more than 5000 parts");
    let chain = |steps: usize| {
        let mut parts = Map::new();
        for step in 0..steps {
            parts.insert(format!("d{step}"), json!({"$ref": format!("#/$defs/d{}", step + 1)}));
        }
        parts.insert(format!("d{steps}"), json!({}));
        json!({"$ref": "#/$defs/d0", "$defs": parts})
    };
    assert!(Schema::compile(&chain(50)).is_ok());
    check_refused(&chain(5_000), "nested more than 64 deep");
    let many: Map<String, Value> = (0..200).map(|at| (format!("p{at}"), json!({"pattern": "a"}))).collect();
    check_refused(&json!({"properties": many}), "more than 100 patterns");
    check_refused(&json!({"pattern": "(a{1000}){1000}"}), "no valid JSON Schema");
    check_refused(&json!({"pattern": "(?=a)b"}), "no valid JSON Schema");
    check_refused(&json!(true), "is not a map");
}

#[test]
fn hostile_values_are_refused_without_recursion() {
    let schema = Schema::compile(&json!({"items": {"type": "integer"}})).unwrap();
    let mut deep = json!(1);
    for _ in 0..5_000 {
        deep = Value::Array(vec![deep]);
    }
    assert!(!is_within_depth(&deep, 64));
    let breaches = schema.breaches(&deep);
    assert!(breaches[0].message.contains("nested more than 64 deep"));
    let long = "x".repeat(100_000);
    let breaches = schema.breaches(&json!([long, long]));
    assert_eq!(breaches[0].pointer, "/0");
    assert!(breaches.iter().all(|breach| breach.message.len() < 500), "{breaches:?}");
    let many: Vec<Value> = (0..1_000).map(|_| json!("x")).collect();
    assert_eq!(schema.breaches(&json!(many)).len(), 10);
}

#[test]
fn a_check_costs_no_more_than_its_bound() {
    let branch = json!({"items": {"type": "string", "minLength": 1}});
    let schema = json!({"anyOf": vec![branch; 600]});
    let schema = Schema::compile(&schema).unwrap();
    // Each of these would be a breach of each branch.
    let many: Vec<Value> = (0..100_000).map(|_| json!(1)).collect();
    let breaches = schema.breaches(&json!(many));
    assert_eq!(breaches[0].message, "it is too large to be held against this schema");
    let breaches = schema.breaches(&json!(many[..1_000]));
    assert_eq!(breaches[0].message, "it does not fit the schema, and is too large to say where");
    assert!(schema.breaches(&json!(vec!["x"; 1_000])).is_empty());
    assert!(schema.breaches(&json!([1]))[0].message.contains("not valid under any"));
    let choices: Vec<usize> = (0..6_000).collect();
    check_refused(&json!({"enum": choices}), "more than 5000 parts");
    assert!(Schema::compile(&json!({"enum": choices[..4_000]})).is_ok());
}

#[test]
fn all_schemas_of_a_document_together_are_bounded() {
    let told = |document: &Value| crate::Tool::from_json(document).unwrap_err().to_string();
    let tests =
        |test: &Value, count: usize| json!({"name": "a", "code": "x", "tests": vec![test.clone(); count]});
    let large = json!({"schema": {"enum": (0..4_000).collect::<Vec<_>>()}});
    assert!(crate::Tool::from_json(&tests(&large, 4)).is_ok());
    assert!(told(&tests(&large, 6)).contains("parts of schemas, references followed; at most 20000"));
    let parts: Map<String, Value> =
        (0..50).map(|at| (format!("p{at}"), json!({"pattern": "(a{20}){20}"}))).collect();
    let patterns = json!({"matches": "a", "schema": {"properties": parts}});
    assert!(crate::Tool::from_json(&tests(&patterns, 3)).is_ok());
    assert!(told(&tests(&patterns, 4)).contains("204 regular expressions; at most 200"));
}
