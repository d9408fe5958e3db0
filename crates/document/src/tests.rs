//! Documents good and bad: what is read, what is refused, and where the message points.

use proptest::prelude::*;

use super::*;

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 8, nodes: 1_000 };

#[track_caller]
fn check_refused(format: Format, text: &str, place: (u32, u32), message: &str) {
    let problems = parse("d", text, format, BOUNDS).expect_err("must be refused");
    let problem = &problems.list[0];
    assert!(problem.message.contains(message), "{problem:?}");
    assert_eq!(problem.place.map(|p| (p.line, p.column)), Some(place), "{problem:?}");
}

fn yaml(text: &str) -> Node {
    parse("d", text, Format::Yaml, BOUNDS).unwrap()
}

#[test]
fn yaml_scalars_follow_the_core_schema() {
    let text = |t: &str| Value::Text(t.into());
    let number = |t: &str| Value::Number(t.into());
    let table = [
        ("~", Value::Null),
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("no", text("no")),
        ("12", number("12")),
        ("-1.5e3", number("-1.5e3")),
        ("0x1F", number("0x1F")),
        ("1_000", number("1_000")),
        ("017700000001", number("017700000001")),
        ("0x7f.1", text("0x7f.1")),
        ("1.2.3.4", text("1.2.3.4")),
        ("\"12\"", text("12")),
        ("'true'", text("true")),
        ("nan", text("nan")),
        (".inf", text(".inf")),
        ("5s", text("5s")),
    ];
    for (written, expected) in table {
        assert_eq!(yaml(written).value, expected, "{written}");
    }
}

#[test]
fn json_is_read_as_yaml() {
    let tree = yaml("{\n\t\"a\": [1, {\"b\": \"x\\/y\"}],\n\t\"c\": null\n}");
    let Some(Node { value: Value::List(items), .. }) = tree.get("a") else { panic!("{tree:?}") };
    assert_eq!(items[1].get("b").unwrap().value, Value::Text("x/y".into()));
}

#[test]
fn places_count_from_one_in_both_formats() {
    let tree = yaml("a: 1\nb:\n  - x\n  - yy\n");
    let Value::List(items) = &tree.get("b").unwrap().value else { panic!() };
    assert_eq!(items[1].place, Place { line: 4, column: 5 });
    let tree = parse("d", "a = 1\n[b]\nc = \"ä\"\nd = [1, 2]\n", Format::Toml, BOUNDS).unwrap();
    assert_eq!(tree.get("b").unwrap().get("d").unwrap().place, Place { line: 4, column: 5 });
}

#[test]
fn places_on_one_endless_line_are_exact() {
    let items = (0..900).map(|n| format!("\"ä{n}\"")).collect::<Vec<_>>();
    let text = format!("a = [{}]", items.join(","));
    let tree = parse("d", &text, Format::Toml, BOUNDS).unwrap();
    let Value::List(nodes) = &tree.get("a").unwrap().value else { panic!() };
    let mut column = 6;
    for (node, item) in nodes.iter().zip(&items) {
        assert_eq!(node.place, Place { line: 1, column });
        column += u32::try_from(item.chars().count() + 1).unwrap();
    }
}

#[test]
fn an_empty_document_is_nothing() {
    assert_eq!(yaml("").value, Value::Null);
    assert_eq!(yaml("# only a comment\n").value, Value::Null);
    assert_eq!(yaml("\u{feff}a: 1").get("a").unwrap().value, Value::Number("1".into()));
}

#[test]
fn what_is_more_than_plain_data_is_refused() {
    check_refused(Format::Yaml, "a: &x 1\nb: *x", (1, 4), "anchors");
    check_refused(Format::Yaml, "hosts: [*.example.com]", (1, 9), "");
    check_refused(Format::Yaml, "a: !!python/object x", (1, 4), "tags");
    check_refused(Format::Yaml, "a: 1\n---\nb: 2", (2, 1), "second document");
    check_refused(Format::Yaml, "a: 1\nb: 2\na: 3", (3, 1), "twice");
    check_refused(Format::Yaml, "{[1]: 2}", (1, 2), "key must be a text");
    check_refused(Format::Yaml, "a: [1, 2", (2, 1), "not valid YAML");
    check_refused(Format::Toml, "a = 1\na = 2", (2, 1), "not valid TOML");
    check_refused(Format::Toml, "a = ", (1, 5), "not valid TOML");
}

#[test]
fn bombs_cost_no_more_than_their_bounds() {
    check_refused(Format::Yaml, &"[".repeat(100_000), (1, 256), "nested more than 8 deep");
    check_refused(Format::Yaml, &"- ".repeat(100_000), (1, 17), "nested more than 8 deep");
    check_refused(Format::Yaml, &"{a: ".repeat(100_000), (1, 1021), "nested more than 8 deep");
    check_refused(Format::Yaml, &"a: 1\n".repeat(1_000_000), (1, 1), "bytes; at most");
    check_refused(Format::Yaml, &format!("[{}]", "1,".repeat(2_000)), (1, 2002), "more than 1000 values");
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(parse("d", &deep, Format::Toml, BOUNDS).is_err());
    check_refused(Format::Toml, &format!("a = {}{}", "[".repeat(20), "]".repeat(20)), (1, 12), "nested more");
}

#[test]
fn every_mistake_is_told_with_its_path_and_a_hint() {
    let tree = yaml("netwrok: blocked\nname: 7\nmode: opne\nlist: one\nflag: yes\ncount: -1\n");
    let mut reader = Reader::new("d");
    let root = Entry { node: &tree, path: DocPath::root() };
    let mut record = reader.record(&root).unwrap();
    let _ = record.take("network");
    let name = record.take("name").unwrap();
    assert_eq!(reader.text(&name), None);
    let mode = record.take("mode").unwrap();
    assert_eq!(reader.word(&mode, &[("open", 1), ("shut", 2)]), None);
    let list = record.take("list").unwrap();
    assert!(reader.list(&list).is_empty());
    let flag = record.take("flag").unwrap();
    assert_eq!(reader.flag(&flag), None);
    let count = record.take("count").unwrap();
    assert_eq!(reader.count(&count), None);
    record.close(&mut reader);
    let problems = reader.finish(()).unwrap_err();
    let told: Vec<_> = problems
        .list
        .iter()
        .map(|p| format!("{}|{}|{}", p.path, p.message, p.hint.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(
        told,
        [
            "netwrok|unknown field `netwrok`|did you mean `network`?",
            "name|`name` must be a text, but is a number|write it in quotes: \"7\"",
            "mode|`mode` cannot be `opne`|did you mean `open`?",
            "list|`list` must be a list, but is a text|write [\"one\"]",
            "flag|`flag` must be true or false, but is a text|write true",
            "count|`count` must be a whole number that is not negative, but is -1|-",
        ]
    );
}

#[test]
fn two_hundred_mistakes_are_told_in_a_few_lines() {
    let text = (0..200).map(|i| format!("k{i}: 1")).collect::<Vec<_>>().join("\n");
    let tree = yaml(&text);
    let mut reader = Reader::new("d");
    reader.record(&Entry { node: &tree, path: DocPath::root() }).unwrap().close(&mut reader);
    let problems = reader.finish(()).unwrap_err();
    assert_eq!(problems.list.len(), 11);
    assert_eq!(problems.list[10].message, "and 190 more mistakes like these");
}

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(text in "[\\[\\]{}:,&*!|>'\"%@`#\\-? \\n\\ta-c0-9.=\\\\u{feff}]{0,200}") {
        let _ = parse("d", &text, Format::Yaml, BOUNDS);
        let _ = parse("d", &text, Format::Toml, BOUNDS);
    }

    #[test]
    fn no_bytes_make_the_parsers_panic(text in any::<String>()) {
        let _ = parse("d", &text, Format::Yaml, BOUNDS);
        let _ = parse("d", &text, Format::Toml, BOUNDS);
    }
}
