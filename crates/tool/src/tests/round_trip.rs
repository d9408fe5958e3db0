use proptest::prelude::*;
use serde_json::{Value, json};

use super::{STARS, tool};
use crate::{Syntax, Tool};

/// Texts that a careless writer of YAML would spoil.
const NASTY: &[&str] = &[
    "",
    " ",
    "yes",
    "No",
    "null",
    "~",
    "1e3",
    "0x10",
    "017",
    ".5",
    ": ",
    "a: b",
    "a #b",
    "# a",
    "- a",
    "---",
    "...",
    "trailing  ",
    "  leading",
    "\ttab",
    "a\tb",
    "é 😀",
    "*x",
    "&x",
    "!x",
    "%x",
    "@x",
    "`x`",
    "{a}",
    "[a]",
    "'",
    "\"",
    "\\",
    "a\nb",
    "a\nb\n",
    "a\n\n",
    "\n",
    "\n\na\n",
    "  a\n b\n",
    "\ta\nb",
    "a\r\nb\r\n",
    "a\rb",
    "a  \n  \nb",
    "---\na\n...\n",
    "# a\nb",
    "a\u{0}b",
    "a\u{85}b\u{2028}c\nd",
    "\u{feff}a",
    "a\nb\n ",
    "${NAME",
];

#[track_caller]
fn check(one: &Tool) {
    let yaml = one.to_yaml();
    let again = match Tool::read("again", &yaml, Syntax::Yaml) {
        Ok(read) => read.tool,
        Err(problems) => panic!("{problems}\nin\n{yaml}"),
    };
    assert_eq!(again.to_json(), one.to_json(), "{yaml}");
    assert_eq!(again.to_yaml(), yaml);
    let json = Tool::from_json(&one.to_json()).unwrap();
    assert_eq!(json.to_json().to_string(), one.to_json().to_string());
    let text = serde_json::to_string_pretty(&one.to_json()).unwrap();
    let text = Tool::read("again", &text, Syntax::Json).unwrap().tool;
    for again in [again, json, text] {
        assert_eq!(again, *one);
        assert_eq!((again.covered_hash(), again.texts_hash()), (one.covered_hash(), one.texts_hash()));
    }
}

fn with(field: &str, value: Value) -> Result<Tool, bailiwick_document::Problems> {
    let mut document = json!({"name": "a", "code": "return 1"});
    document[field] = value;
    Tool::from_json(&document)
}

#[test]
fn the_tool_of_the_specification_reads_back_as_it_was() {
    check(&tool(STARS));
}

#[test]
fn texts_that_look_like_something_else_read_back_as_they_were() {
    for text in NASTY {
        for field in ["title", "description", "code", "x-vendor"] {
            check(&with(field, json!(text)).unwrap());
        }
        check(&with("x-nested", json!({"a": [text, {"b": text, (*text): [[text]]}]})).unwrap());
        check(
            &with("tests", json!([{"name": text, "equals": {"k": [text]}, "files": {"a/b": text}}])).unwrap(),
        );
        if !text.contains("${") {
            check(&with("statics", json!([{"name": "s", "value": text}])).unwrap());
        }
    }
}

#[test]
fn a_block_of_code_is_written_as_people_write_it() {
    let yaml = tool("name: a\ncode: \"const a = 1;\\n\\n  return a;\\n\"\nx-b: 1\n").to_yaml();
    assert_eq!(yaml, "name: a\ncode: |\n  const a = 1;\n\n    return a;\nx-b: 1\n");
}

#[test]
fn fields_that_are_only_kept_come_back_in_their_order_at_the_end() {
    let one = tool("x-b: {z: 1, a: [~, 2.50]}\nname: a\nmetadata: ~\ncode: 'return 1'\nx-a: 0x10\n");
    check(&one);
    assert_eq!(
        one.to_json().to_string(),
        r#"{"name":"a","code":"return 1","x-b":{"z":1,"a":[null,2.5]},"metadata":null,"x-a":16}"#
    );
}

#[test]
fn characters_escaped_as_two_halves_are_read_from_json() {
    let text = r#"{"name": "a", "title": "\ud83d\ude00 \\ud83d\ude00 \u00e9\/\"", "code": "return 1"}"#;
    let lone = r#"{"name": "a", "title": "\ud83d", "code": "return 1"}"#;
    assert!(Tool::read("a.json", lone, Syntax::Json).is_err());
    let one =
        Tool::read("a.json", &text.replace("\\\\ud83d\\ude00", "\\\\ud83d"), Syntax::Json).unwrap().tool;
    assert_eq!(one.title(), Some("😀 \\ud83d é/\""));
}

#[test]
fn json_is_read_however_it_is_laid_out() {
    let document = json!({
        "name": "a",
        "code": format!("return `{}`;\n", "x: y, [z] # \t\"".repeat(1_000)),
        "tests": [{"name": "t".repeat(3_000), "equals": {"k".repeat(2_000): [[], {}, ""]}}],
        "x-url": "https://a.test/\u{7f}\u{2028}",
    });
    let pretty = serde_json::to_string_pretty(&document).unwrap();
    let tabs = pretty.replace("  ", "\t").replace("\": ", "\" :\t");
    let loose = pretty.replace("\": ", "\":\n\n").replace(",\n", "\n,\r\n");
    for text in [document.to_string(), pretty, tabs, loose] {
        match Tool::read("a.json", &text, Syntax::Json) {
            Ok(read) => assert_eq!(read.tool.to_json(), document, "{text}"),
            Err(problems) => panic!("{problems}\nin\n{}", text.get(..400).unwrap()),
        }
    }
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|double| json!(double)),
        any::<String>().prop_map(Value::from),
        "[a-c:#\\-? \\n\\t|>'\"%@&*!0-9.]{0,30}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-zA-Z: #\\-\\n]{0,8}", inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_reads_back_as_it_was(value in anything(), code in "[a-c{}\\n\\t #:|\\-\\r\\u{a0}\\u{2028}]{0,60}") {
        check(&with("x-any", value).unwrap());
        check(&with("code", json!(code)).unwrap());
    }
}
