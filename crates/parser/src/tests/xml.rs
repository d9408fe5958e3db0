//! Documents of XML and the trees they give. A row's tree is written short: `tag{attrs}(text)[children]`.

use super::refuses;
use crate::bounds::DEPTH;
use crate::{Reason, xml};

fn short(value: &serde_json::Value) -> String {
    let attrs: Vec<String> = value["attrs"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap()))
        .collect();
    let children: Vec<String> = value["children"].as_array().unwrap().iter().map(short).collect();
    format!(
        "{}{{{}}}({})[{}]",
        value["tag"].as_str().unwrap(),
        attrs.join(","),
        value["text"].as_str().unwrap(),
        children.join(" ")
    )
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let given = xml::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(short(&serde_json::from_str(&given).unwrap()), expected, "{text}");
}

#[test]
fn documents_are_read() {
    check("<a/>", "a{}()[]");
    check("\u{feff}<?xml version='1.0' encoding='UTF-8'?>\n<a></a>\n", "a{}()[]");
    check("<a b='1' c=\"2\"/>", "a{b=1,c=2}()[]");
    check("<a b='x\ny\tz'/>", "a{b=x y z}()[]");
    check("<a b='&lt;&#10;&quot;'/>", "a{b=<\n\"}()[]");
    check("<a> t </a>", "a{}(t)[]");
    check("<a>x<b>y</b>z<c/>w</a>", "a{}(xzw)[b{}(y)[] c{}()[]]");
    check("<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x1F600;</a>", "a{}(<&>\"'A😀)[]");
    check("<a><![CDATA[<b>&amp;]]></a>", "a{}(<b>&amp;)[]");
    check("<a>x<![CDATA[y]]>z</a>", "a{}(xyz)[]");
    check("<a>x<!-- c -->y<?pi z?>w</a>", "a{}(xyw)[]");
    check("<!-- c --><?pi?><a/><!-- d -->", "a{}()[]");
    check("<a xmlns='u'><b xmlns:p='v' p:c='1'><p:d/></b></a>", "a{}()[b{p:c=1}()[p:d{}()[]]]");
    check("<p:a xmlns:p='u' xml:lang='en'/>", "p:a{xml:lang=en}()[]");
    check("<a\n\tb = '1'\n/>", "a{b=1}()[]");
    check("<ä ö='ü'>ß</ä>", "ä{ö=ü}(ß)[]");
    check("<a b='>' c='/'>x</a>", "a{b=>,c=/}(x)[]");
    check("<a>1\r\n2</a>", "a{}(1\n2)[]");
    check("<a __proto__='1'><__proto__/></a>", "a{__proto__=1}()[__proto__{}()[]]");
    let deep = xml::parse(&format!("{}{}", "<a>".repeat(DEPTH), "</a>".repeat(DEPTH))).unwrap();
    assert_eq!(deep.matches("\"tag\":\"a\"").count(), DEPTH);
}

#[test]
fn what_is_not_well_formed_is_refused() {
    for (text, reason, says) in [
        ("", Reason::Malformed, "not well-formed XML"),
        ("text", Reason::Malformed, "1:1"),
        ("<a>", Reason::Malformed, "not well-formed"),
        ("<a></b>", Reason::Malformed, "1:4"),
        ("<a/><b/>", Reason::Malformed, "1:5"),
        ("<a b='1' b='2'/>", Reason::Malformed, "'b'"),
        ("<a b=1/>", Reason::Malformed, "1:6"),
        ("<p:a/>", Reason::Malformed, "'p'"),
        ("<a>&nbsp;</a>", Reason::Entity, "only &amp;"),
        ("<a>&#0;</a>", Reason::Malformed, "not well-formed"),
        ("<a>\u{1}</a>", Reason::Malformed, "1:4"),
        ("<a><![CDATA[x</a>", Reason::Malformed, "not well-formed"),
        ("<a><!-- x</a>", Reason::Malformed, "not well-formed"),
        ("<!DOCTYPE a><a/>", Reason::Doctype, "remove it (line 1, column 1)"),
        ("\n <!doctype html><a/>", Reason::Doctype, "line 2, column 2"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", Reason::Doctype, "DOCTYPE"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", Reason::Doctype, "DOCTYPE"),
        ("<a><!ENTITY b 'c'></a>", Reason::Doctype, "DOCTYPE"),
    ] {
        refuses(xml::parse(text), reason, says);
    }
}
