use bailiwick_types::ErrorCode;
use serde_json::{Value, json};

use super::tool;
use crate::{Expectations, Failed, Given, Miss, Test};

fn test_of(expected: Value) -> Test {
    let mut test = expected;
    test["name"] = json!("t");
    let document = json!({"name": "a", "code": "x", "tests": [test]});
    crate::Tool::from_json(&document).unwrap().tests()[0].clone()
}

fn expecting(expected: Value) -> Expectations {
    test_of(expected).expect
}

fn of_value(expected: &Value, value: &Value) -> Vec<Miss> {
    expecting(expected.clone()).check(Given { outcome: Ok(value), wall_ms: 5.0 })
}

/// Which expectations these results meet, and which they miss.
#[track_caller]
fn check(expected: &Value, good: &[Value], bad: &[Value]) {
    for value in good {
        assert_eq!(of_value(expected, value), [], "{value}");
    }
    for value in bad {
        let misses = of_value(expected, value);
        assert_eq!(misses.len(), 1, "{value}: {misses:?}");
        assert_eq!(misses[0].kind.word(), expected.as_object().unwrap().keys().next().unwrap().as_str());
    }
}

#[test]
fn equal_values_are_equal_whatever_way_numbers_are_written() {
    check(
        &json!({"equals": {"n": 7, "l": [1.0]}}),
        &[json!({"l": [1], "n": 7.0})],
        &[json!({"n": 7}), json!({"n": 7, "l": [1], "more": 1}), json!({"n": "7", "l": [1]}), json!([7])],
    );
    check(&json!({"equals": null}), &[json!(null)], &[json!(0), json!({})]);
}

#[test]
fn a_result_can_contain_what_is_expected() {
    check(
        &json!({"contains": "b"}),
        &[json!("abc"), json!(["a", "b"])],
        &[json!("x"), json!(["abc"]), json!({"b": 1}), json!(1)],
    );
    check(
        &json!({"contains": {"a": {"b": 1}}}),
        &[json!({"a": {"b": 1.0, "c": 2}, "d": 3}), json!([0, {"a": {"b": 1}, "x": 1}])],
        &[json!({"a": {"c": 1}}), json!({"a": 1}), json!([])],
    );
    check(&json!({"contains": [1, 2]}), &[json!([3, 2, 1]), json!([[1, 2]])], &[json!([1]), json!([1, 3])]);
    check(&json!({"contains": 7}), &[json!([7.0]), json!(7)], &[json!("7")]);
}

#[test]
fn a_result_can_match_a_pattern_or_a_schema() {
    check(&json!({"matches": "^a.c$"}), &[json!("abc")], &[json!("xabc")]);
    check(&json!({"matches": r#""n":\d+"#}), &[json!({"n": 12})], &[json!({"n": "x"})]);
    check(&json!({"schema": {"type": "integer"}}), &[json!(1)], &[json!("x")]);
}

#[test]
fn a_failure_is_expected_or_it_is_a_miss() {
    let failed =
        Given { outcome: Err(Failed { code: ErrorCode::NetDenied, message: "no way there" }), wall_ms: 1.0 };
    for (expected, met) in [
        (json!(true), true),
        (json!("way"), true),
        (json!("other"), false),
        (json!({"code": "NET_DENIED"}), true),
        (json!({"code": "TIMEOUT"}), false),
        (json!({"code": "NET_DENIED", "message": "no way"}), true),
        (json!({"code": "NET_DENIED", "message": "yes"}), false),
    ] {
        let misses = expecting(json!({"throws": expected})).check(failed);
        assert_eq!(misses.is_empty(), met, "{expected}: {misses:?}");
    }
    let misses = expecting(json!({"equals": 1})).check(failed);
    assert_eq!(misses[0].message, "it failed: NET_DENIED: no way there");
    let misses = of_value(&json!({"throws": true}), &json!(1));
    assert_eq!(misses[0].message, "a failure was expected, but it gave 1");
    assert_eq!(of_value(&json!({}), &json!(1)), []);
}

#[test]
fn a_call_that_takes_too_long_is_a_miss() {
    assert_eq!(of_value(&json!({"maxMs": 5}), &json!(1)), []);
    assert_eq!(
        of_value(&json!({"maxMs": 4}), &json!(1))[0].message,
        "at most 4 ms were expected, but it took 5.0 ms"
    );
}

#[test]
fn a_miss_shows_both_beside_each_other() {
    let miss = &of_value(&json!({"equals": {"a": 1, "b": 2, "c": 3}}), &json!({"a": 1, "b": 5, "c": 3}))[0];
    assert_eq!(
        miss.diff.as_deref(),
        Some("  {\n    \"a\": 1,\n-   \"b\": 2,\n+   \"b\": 5,\n    \"c\": 3\n  }")
    );
    let miss = &of_value(&json!({"equals": "one\ntwo\n"}), &json!("one\n2\n"))[0];
    assert_eq!(miss.diff.as_deref(), Some("  one\n- two\n+ 2\n  "));
}

#[test]
fn a_comparison_is_never_long() {
    let numbers: Vec<u32> = (0..10_000).collect();
    let others: Vec<u32> = (5..10_005).collect();
    let miss = &of_value(&json!({"equals": numbers}), &json!(others))[0];
    assert!(miss.diff.as_deref().unwrap().lines().count() <= 61);
    let miss = &of_value(&json!({"equals": "x"}), &json!("y".repeat(100_000)))[0];
    assert!(miss.diff.as_deref().unwrap().len() < 1_000 && miss.message.len() < 500);
    let mut deep = json!(1);
    for _ in 0..5_000 {
        deep = Value::Array(vec![deep]);
    }
    assert_eq!(of_value(&json!({"equals": [[1]]}), &deep)[0].diff, None);
}

#[test]
fn files_are_left_as_expected() {
    let test = test_of(json!({"leaves": {"a": "x\n", "gone": null}}));
    let check = |a: Option<&str>, gone: Option<&str>| -> Vec<String> {
        let found = |path: &str| if path == "a" { a } else { gone }.map(str::to_owned);
        test.check_files(found).into_iter().map(|miss| miss.message).collect()
    };
    assert_eq!(check(Some("x\n"), None), Vec::<String>::new());
    assert_eq!(
        check(None, Some("")),
        ["`a` must be there afterwards, but is not", "`gone` must not be there afterwards, but is"]
    );
    assert_eq!(check(Some("y\n"), None), ["`a` has another content"]);
    assert!(tool("name: a\ncode: x\ntests: [{}]").tests()[0].expects_nothing());
}
