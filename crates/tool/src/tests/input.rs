use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::tool;
use crate::{ArgumentFault, InputCheck, Misfit, OutputCheck};

const FILTER: &str = "name: a
description: Does a.
params:
  - {name: who, type: STRING, required: true, description: Whom.}
  - {name: times, type: INTEGER, default: 1}
  - {name: mode, type: STRING, enum: [fast, slow]}
  - name: filter
    type: OBJECT
    schema:
      $defs: {word: {type: string, maxLength: 5}}
      properties: {word: {$ref: '#/$defs/word'}, sub: {items: {$ref: '#/$defs/word'}}}
      required: [word]
      additionalProperties: false
  - {name: list, type: ARRAY}
  - {name: flag, type: BOOLEAN}
  - {name: ratio, type: NUMBER}
output: {type: object, required: [n], properties: {n: {type: integer}}}
code: return 1
";

fn arguments(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("no map") };
    map
}

/// The arguments are refused, with these messages.
#[track_caller]
fn check(given: Value, expected: &[(ArgumentFault, &str, &str)]) {
    let problems = InputCheck::new(&tool(FILTER)).check(arguments(given)).unwrap_err();
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for (problem, (kind, path, message)) in problems.iter().zip(expected) {
        assert_eq!((problem.kind, problem.path.as_str()), (*kind, *path), "{problem:?}");
        assert!(problem.to_string().contains(message), "{problem}");
    }
}

#[test]
fn defaults_stand_in_for_what_is_not_given() {
    let check = InputCheck::new(&tool(FILTER));
    let settled = check.check(arguments(json!({"flag": true, "who": "x"}))).unwrap();
    assert_eq!(Value::Object(settled).to_string(), r#"{"who":"x","times":1,"flag":true}"#);
    let given = json!({"who": "", "times": 7.0, "mode": "slow", "filter": {"word": "a", "sub": ["b"]}, "list": [], "ratio": 1});
    assert_eq!(check.check(arguments(given.clone())).unwrap(), arguments(given));
}

#[test]
fn every_mistake_is_told_with_what_was_given() {
    use ArgumentFault::{Missing, Unknown, Wrong};
    check(json!({}), &[(Missing, "who", "required arguments are missing: who")]);
    check(
        json!({"who": "x", "tmes": 2}),
        &[(Unknown, "tmes", "the tool has no parameter `tmes` (did you mean `times`?)")],
    );
    check(json!({"who": "x", "zzzzzzzz": 2}), &[(Unknown, "zzzzzzzz", "its parameters are: who, times")]);
    check(json!({"who": 7}), &[(Wrong, "who", "`who` must be a text, but is a number (7)")]);
    check(
        json!({"who": "x", "times": "2"}),
        &[(Wrong, "times", "must be a whole number, but is a text (\"2\")")],
    );
    check(json!({"who": "x", "times": null}), &[(Wrong, "times", "but is null (leave it out)")]);
    check(
        json!({"who": "x", "mode": "quick"}),
        &[(Wrong, "mode", "one of \"fast\", \"slow\", but is \"quick\"")],
    );
    check(json!({"who": "x", "filter": {}}), &[(Wrong, "filter", "\"word\" is a required property")]);
    check(
        json!({"who": "x", "filter": {"word": "longer", "sub": [1]}}),
        &[(Wrong, "filter/word", "longer than 5"), (Wrong, "filter/sub/0", "is not of type")],
    );
    check(
        json!({"flag": 1, "list": {}}),
        &[
            (Missing, "who", "who"),
            (Wrong, "flag", "true or false"),
            (Wrong, "list", "must be a list, but is a map"),
        ],
    );
}

#[test]
fn a_message_never_holds_the_whole_of_what_was_given() {
    let long = "secret ".repeat(10_000);
    for given in [
        json!({"who": "x", "times": long}),
        json!({"who": "x", "mode": long}),
        json!({"who": "x", "filter": {"word": long}}),
        json!({"who": "x", "filter": {"word": "a", (&long): 1}}),
        json!({"who": "x", (&long): 1}),
    ] {
        let problems = InputCheck::new(&tool(FILTER)).check(arguments(given)).unwrap_err();
        for problem in problems {
            assert!(problem.to_string().len() < 600 && problem.path.len() < 600, "{problem}");
        }
    }
}

#[test]
fn arguments_that_nest_too_deep_are_refused() {
    let mut deep = json!(1);
    for _ in 0..5_000 {
        deep = Value::Array(vec![deep]);
    }
    let mut given = arguments(json!({"who": "x"}));
    given.insert("list".to_owned(), deep);
    let problems = InputCheck::new(&tool(FILTER)).check(given).unwrap_err();
    assert!(problems[0].message.contains("nested more than 64 deep"), "{problems:?}");
}

#[test]
fn the_schema_for_clients_says_what_is_declared() {
    let schema = tool(FILTER).input_schema();
    assert_eq!(schema["required"], json!(["who"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["properties"]["who"], json!({"type": "string", "description": "Whom."}));
    assert_eq!(schema["properties"]["times"], json!({"type": "integer", "default": 1}));
    assert_eq!(schema["properties"]["mode"], json!({"type": "string", "enum": ["fast", "slow"]}));
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["who", "times", "mode", "filter", "list", "flag", "ratio"]);
    assert_eq!(
        schema["properties"]["filter"]["properties"]["word"],
        json!({"$ref": "#/properties/filter/$defs/word"})
    );
    let none = tool("name: a\ncode: x").input_schema();
    assert_eq!(none, json!({"type": "object", "properties": {}, "additionalProperties": false}));
}

#[test]
fn a_result_is_held_against_the_declared_output() {
    let check = OutputCheck::new(&tool(FILTER));
    assert_eq!(check.check(&json!({"n": 1, "more": 2})), Ok(()));
    let refused = |value: Value| match check.check(&value) {
        Err(Misfit::Schema(told)) => told,
        other => panic!("{other:?}"),
    };
    let told = refused(json!({"n": "x"}));
    assert!(told[0].starts_with("the result at /n: "), "{told:?}");
    let told = refused(json!([1]));
    assert!(told[0].starts_with("the result: "), "{told:?}");
    assert_eq!(OutputCheck::new(&tool("name: a\ncode: x")).check(&json!([1])), Ok(()));
}

fn argument() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!("fast")),
        Just(json!("x")),
        Just(json!(1)),
        Just(json!(1.0)),
        Just(json!(1.5)),
        Just(json!(true)),
        Just(json!([])),
        Just(json!({"word": "a"})),
        Just(json!({"word": "longer"})),
        Just(json!({"word": "a", "sub": ["b", 1]})),
        Just(json!({"word": "a", "other": 1})),
    ]
}

proptest! {
    #[test]
    fn what_clients_are_told_is_what_is_checked(
        names in prop::sample::subsequence(vec!["who", "times", "mode", "filter", "list", "flag", "ratio", "odd"], 0..8),
        values in prop::collection::vec(argument(), 8),
    ) {
        let given: Map<String, Value> = names.iter().map(|name| (*name).to_owned()).zip(values).collect();
        let one = tool(FILTER);
        let theirs = jsonschema::draft202012::is_valid(&one.input_schema(), &Value::Object(given.clone()));
        prop_assert_eq!(InputCheck::new(&one).check(given.clone()).is_ok(), theirs, "{:?}", given);
    }
}
