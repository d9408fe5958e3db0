//! YAML to plain data and back.

use proptest::prelude::*;
use serde_json::Value;

use super::{gives, refuses};
use crate::{Reason, yaml};

#[track_caller]
fn check(text: &str, expected: &str) {
    gives(yaml::parse(text), expected);
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    for (text, json) in [
        ("", "null"),
        ("~", "null"),
        ("null", "null"),
        ("NULL", "null"),
        ("nULL", r#""nULL""#),
        ("true", "true"),
        ("False", "false"),
        ("tRue", r#""tRue""#),
        ("no", r#""no""#),
        ("on", r#""on""#),
        ("0", "0"),
        ("-0", "-0"),
        ("+12", "12"),
        ("017", "17"),
        ("0o17", "15"),
        ("0x1F", "31"),
        ("-0x1F", r#""-0x1F""#),
        ("0b1", r#""0b1""#),
        ("1_000", r#""1_000""#),
        ("1.5", "1.5"),
        ("1.", "1"),
        (".5", "0.5"),
        ("-.5e-3", "-0.0005"),
        ("1e3", "1000"),
        ("1e400", "1e999"),
        ("1e", r#""1e""#),
        (".", r#"".""#),
        ("-", "[null]"),
        ("+", r#""+""#),
        (".inf", "1e999"),
        ("-.INF", "-1e999"),
        ("9007199254740993", "9007199254740993"),
        ("1:30", r#""1:30""#),
        ("2001-12-14", r#""2001-12-14""#),
        ("a b", r#""a b""#),
        ("'1'", r#""1""#),
        ("\"\\u00e9\\n\"", r#""é\n""#),
        ("'it''s'", r#""it's""#),
        ("!!str 1", r#""1""#),
        ("!!int '1'", "1"),
        ("!!float 1", "1"),
        ("!!null ''", "null"),
        ("!!bool true", "true"),
        ("!!map {}", "{}"),
        ("!!seq []", "[]"),
        ("! 1", r#""1""#),
    ] {
        check(text, json);
    }
}

#[test]
fn lists_maps_and_blocks_are_read() {
    check("- 1\n- [a, {b: c}]\n-\n  - x", r#"[1,["a",{"b":"c"}],["x"]]"#);
    check("a: 1\nb:\n  c: 2\nd:\n- 3", r#"{"a":1,"b":{"c":2},"d":[3]}"#);
    check("a: |\n  x\n   y\n\n  z\n", r#"{"a":"x\n y\n\nz\n"}"#);
    check("a: |-\n  x\n", r#"{"a":"x"}"#);
    check("a: |+\n  x\n\n", r#"{"a":"x\n\n"}"#);
    check("a: >\n  x\n  y\n\n  z\n", r#"{"a":"x y\nz\n"}"#);
    check("|2\n    x\n", r#""  x\n""#);
    check("a: x\n  y", r#"{"a":"x y"}"#);
    check("# c\na: 1 # d\n", r#"{"a":1}"#);
    check("{a, b: , 'c'}", r#"{"a":null,"b":null,"c":null}"#);
    check("? a\n: b", r#"{"a":"b"}"#);
    check("1: a\ntrue: b\n~: c\n", r#"{"1":"a","true":"b","null":"c"}"#);
    check("__proto__: 1", r#"{"__proto__":1}"#);
    check("a: &x [1, no, true]\nb: *x", r#"{"a":[1,"no",true],"b":[1,"no",true]}"#);
    check("- &a x\n- &a y\n- *a", r#"["x","y","y"]"#);
    check("- &a {b: &c 1}\n- [*a, *c]", r#"[{"b":1},[{"b":1},1]]"#);
    check("- &a\n- *a", "[null,null]");
    check("%YAML 1.2\n---\na", r#""a""#);
    check("--- a\n...\n", r#""a""#);
    check("\u{feff}a: 1", r#"{"a":1}"#);
    check("{\"a\": [1, 2.5, null, \"x\"]}", r#"{"a":[1,2.5,null,"x"]}"#);
    check("'<<': 1", r#"{"<<":1}"#);
}

#[test]
fn many_documents_are_a_list() {
    gives(yaml::parse_all(""), "[]");
    gives(yaml::parse_all("a"), r#"["a"]"#);
    gives(yaml::parse_all("---\na: 1\n---\n- 2\n...\n---\n"), r#"[{"a":1},[2],null]"#);
    refuses(yaml::parse("a\n---\nb"), Reason::ManyDocuments, "second document");
    // An anchor is of its document.
    assert!(yaml::parse_all("&a 1\n---\n*a").is_err());
}

#[test]
fn what_is_not_plain_data_is_refused() {
    for (text, reason, says) in [
        ("!x 1", Reason::CustomTag, "the tag `!x` is not accepted"),
        ("!!python/object:os.system x", Reason::CustomTag, "python"),
        ("!!binary aGk=", Reason::CustomTag, "binary"),
        ("a: !!set {b}", Reason::CustomTag, "line 1, column"),
        ("!!int x", Reason::Malformed, "not what its tag says"),
        ("!!map []", Reason::Malformed, "not what its tag says"),
        (".nan", Reason::BadNumber, ".nan"),
        ("a: 1\na: 2", Reason::DuplicateKey, "`a` is given twice (line 2, column 1)"),
        ("{a: 1, 'a': 2}", Reason::DuplicateKey, "`a`"),
        ("1: a\n'1': b", Reason::DuplicateKey, "`1`"),
        ("[a]: 1", Reason::BadKey, "not a list or a map"),
        ("? {a: b}\n: 1", Reason::BadKey, "not a list or a map"),
        ("a: &x 1\n*x : 2", Reason::BadKey, "not an alias"),
        ("<<: {a: 1}", Reason::MergeKey, "write the values out"),
        ("&a [*a]", Reason::Cycle, "inside the value"),
        ("a: [1", Reason::Malformed, "not valid YAML"),
        ("a: b: c", Reason::Malformed, "line 1"),
        ("\"a", Reason::Malformed, "not valid YAML"),
        ("*x", Reason::Malformed, "not valid YAML"),
        ("a:\n\t- b", Reason::Malformed, "not valid YAML"),
    ] {
        refuses(yaml::parse(text), reason, says);
    }
}

#[test]
fn values_are_written_in_blocks() {
    for (json, text) in [
        ("1", "1\n"),
        ("null", "null\n"),
        ("[]", "[]\n"),
        ("{}", "{}\n"),
        (r#""x""#, "x\n"),
        (r#""no""#, "\"no\"\n"),
        (r#""1""#, "\"1\"\n"),
        (r#""""#, "\"\"\n"),
        (r#""a\nb""#, "\"a\\nb\"\n"),
        (r##""# x""##, "\"# x\"\n"),
        (r#""http://h/p""#, "http://h/p\n"),
        (r#"{"a":[1,{"b":"no"}],"c":{}}"#, "a:\n  - 1\n  - b: \"no\"\nc: {}\n"),
        (r#"[[1,[2]],{"a":{"b":[]}}]"#, "- - 1\n  - - 2\n- a:\n    b: []\n"),
        (r#"["\u0000.inf","\u0000-.inf"]"#, "- .inf\n- -.inf\n"),
        (r#""\u0000\u0000.inf""#, "\"\\u0000.inf\"\n"),
    ] {
        gives(yaml::stringify(json), text);
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<i16>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
        any::<String>()
            .prop_filter("begins with the mark", |text| !text.starts_with('\0'))
            .prop_map(Value::from),
        "[a-z:#,&*!|>'\"%@`{}\\[\\] \n\t?~<=.0-9+-]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z:# \n\"'.0-9-]{0,5}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(value in values()) {
        let written = yaml::stringify(&value.to_string()).unwrap();
        let read = yaml::parse(&written);
        prop_assert!(read.is_ok(), "{:?} of {}", read, written);
        let read: Value = serde_json::from_str(&read.unwrap()).unwrap();
        prop_assert_eq!(as_floats(&read), as_floats(&value), "{}", written);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[ab:#,&*!|>'\"%{}\\[\\] \n\t?~<=.0-9é-]{0,40}") {
        let _ = yaml::parse_all(&text);
    }
}

/// A number is one number however it is written.
fn as_floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::from(number.as_f64()),
        Value::Array(items) => items.iter().map(as_floats).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), as_floats(value))).collect())
        }
        other => other.clone(),
    }
}
