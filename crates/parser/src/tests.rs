//! Texts and what they give, and hostile ones that must end in a clear error on a small stack.

use crate::csv::{self, ReadOptions, WriteOptions};
use crate::{ParseError, Reason, html, xml, yaml};

type Given = Result<String, ParseError>;

#[track_caller]
fn gives(given: Given, expected: &str) {
    assert_eq!(given.unwrap(), expected);
}

/// Runs on a stack that is half of what a cell's engine has.
#[track_caller]
fn refuses(reason: Reason, hostile: impl FnOnce() -> Given + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(hostile).unwrap();
    assert_eq!(thread.join().unwrap().map_err(|error| error.reason()), Err(reason));
}

#[test]
fn plain_texts_are_read() {
    gives(html::attribute("<a href=x>1</a><a>2</a>", "a", "href"), r#"["x",null]"#);
    gives(html::text("<p>a  b</p><p>c<script>x</script></p>", None), r#""a b\nc""#);
    gives(
        xml::parse("<a:b xmlns:a='u' c='1'>t<d/></a:b>"),
        r#"{"tag":"a:b","attrs":{"c":"1"},"text":"t","children":[{"tag":"d","attrs":{},"text":"","children":[]}]}"#,
    );
    gives(csv::parse("a,b\n1,\"2,\"\"3\"\n", &ReadOptions::default()), r#"[{"a":"1","b":"2,\"3"}]"#);
    gives(csv::stringify(r#"[{"a":1,"b":"x,y"}]"#, &WriteOptions::default()), "a,b\n1,\"x,y\"\n");
    gives(yaml::parse("a: &x [1, no, true]\nb: *x"), r#"{"a":[1,"no",true],"b":[1,"no",true]}"#);
    gives(yaml::stringify(r#"{"a":[1,{"b":"no"}],"c":{}}"#), "a:\n  - 1\n  - b: \"no\"\nc: {}\n");
}

#[test]
fn hostile_texts_end_in_a_clear_error() {
    refuses(Reason::TooDeep, || html::text(&"<div>".repeat(100_000), None));
    refuses(Reason::TooManyAttributes, || html::text(&format!("<a {}>", "b ".repeat(100_000)), None));
    refuses(Reason::BadSelector, || html::select("<a>", &":not(".repeat(500), None));
    refuses(Reason::TooDeep, || xml::parse(&"<a>".repeat(100_000)));
    refuses(Reason::Doctype, || xml::parse("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"));
    refuses(Reason::Entity, || xml::parse("<a>&b;</a>"));
    refuses(Reason::TooManyColumns, || csv::parse(&",".repeat(1_000_000), &ReadOptions::default()));
    refuses(Reason::Malformed, || csv::parse("\"a", &ReadOptions::default()));
    refuses(Reason::TooDeep, || yaml::parse(&"[".repeat(100_000)));
    refuses(Reason::Cycle, || yaml::parse("&a [*a]"));
    refuses(Reason::CustomTag, || yaml::parse("!x 1"));
}
