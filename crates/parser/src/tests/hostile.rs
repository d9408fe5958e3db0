//! Texts made to use up the stack, memory or time: each ends on a small stack, with what is said here.

use super::Given;
use crate::bounds::{ATTRIBUTES, COLUMNS, DEPTH, INPUT_BYTES, NODES};
use crate::csv::{self, Header, ReadOptions, WriteOptions};
use crate::html::{self, TableRows};
use crate::{Reason, xml, yaml};

/// Half of what a cell's engine has.
const STACK: usize = 256 * 1024;

fn on_a_small_stack(hostile: impl FnOnce() -> Given + Send + 'static) -> Result<usize, Reason> {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(hostile).unwrap();
    thread.join().unwrap().map(|given| given.len()).map_err(|error| error.reason())
}

#[track_caller]
fn refuses(reason: Reason, hostile: impl FnOnce() -> Given + Send + 'static) {
    assert_eq!(on_a_small_stack(hostile), Err(reason));
}

#[track_caller]
fn accepts(hostile: impl FnOnce() -> Given + Send + 'static) {
    on_a_small_stack(hostile).unwrap();
}

/// Every question about a page ends the same.
#[track_caller]
fn page_refuses(reason: Reason, page: &str) {
    let questions: [fn(&str) -> Given; 7] = [
        |page| html::select(page, "*", None),
        |page| html::text(page, None),
        |page| html::text(page, Some("p")),
        |page| html::attribute(page, "*", "a"),
        |page| html::tables(page, None, TableRows::Lists),
        html::main,
        |page| html::links(page, Some("http://h")),
    ];
    for question in questions {
        let page = page.to_owned();
        refuses(reason, move || question(&page));
    }
}

/// The same for one question: the others read a page the same way.
#[track_caller]
fn one_refuses(reason: Reason, page: &str) {
    let page = page.to_owned();
    refuses(reason, move || html::text(&page, None));
}

fn numbered(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect()
}

#[test]
fn deep_pages_are_refused() {
    page_refuses(Reason::TooDeep, &"<div>".repeat(100_000));
    page_refuses(Reason::TooDeep, &"<x>".repeat(100_000));
    page_refuses(Reason::TooDeep, &"<svg>".repeat(100_000));
    page_refuses(Reason::TooDeep, &"<template>".repeat(10_000));
    page_refuses(Reason::TooDeep, &"<table><tr><td>".repeat(1_000));
    page_refuses(Reason::TooDeep, &numbered(10_000, |at| format!("<b id={at}><p>x")));
    page_refuses(Reason::TooDeep, &"<a><div></a>".repeat(10_000));
    accepts(|| html::main(&"<div>".repeat(DEPTH - 3)));
}

#[test]
fn what_is_opened_again_and_again_is_counted() {
    let open = numbered(200, |at| format!("<b id={at}>"));
    let again = format!("{open}{}", "<p>x".repeat(100_000));
    one_refuses(Reason::TooManyNodes, &again);
    let wide = numbered(200, |at| format!(" a{at}"));
    let open = numbered(100, |at| format!("<b{wide} i={at}>"));
    one_refuses(Reason::TooDeep, &format!("{open}{}", format!("<b{wide}></b>").repeat(1_000)));
    one_refuses(Reason::TooManyNodes, &format!("<table>{}", "x<i></i>".repeat(NODES)));
    one_refuses(Reason::TooManyNodes, &"<table>x<b></table>".repeat(INPUT_BYTES / 19));
}

#[test]
fn floods_of_tags_and_attributes_are_refused() {
    one_refuses(Reason::TooManyAttributes, &format!("<a{}>", numbered(700_000, |at| format!(" a{at}"))));
    one_refuses(Reason::TooManyAttributes, &format!("<a{}", " b=\"".repeat(1_000_000)));
    one_refuses(Reason::TooManyAttributes, &numbered(1_000, |at| format!("<body a{at}>")));
    one_refuses(Reason::TooManyAttributes, &"<i b c></i>".repeat(NODES));
    let hidden =
        format!("<svg><style>{}", format!("<a{}>", numbered(8_000, |at| format!(" {at:x}"))).repeat(20));
    one_refuses(Reason::TooManyAttributes, &hidden);
    one_refuses(Reason::TooManyNodes, &"<i></i>".repeat(NODES));
    one_refuses(Reason::TooManyNodes, &format!("{}{}", "<x>".repeat(200), "</q>".repeat(1_000_000)));
    one_refuses(Reason::TooManyNodes, &"<".repeat(1_000_000));
    one_refuses(Reason::TooManyNodes, &"\0".repeat(1_000_000));
    one_refuses(Reason::TooManyNodes, &"& ".repeat(INPUT_BYTES / 2));
    one_refuses(Reason::TooLarge, &" ".repeat(INPUT_BYTES + 1));
    let most = numbered(ATTRIBUTES, |at| format!(" a{at}"));
    accepts(move || html::select(&format!("<a{most}>"), "a", None));
}

#[test]
fn odd_markup_is_no_danger() {
    for unit in
        ["<", "<a ", "</", "<!--", "<!", "<![CDATA[", "&#", "&notit;", "\0", "<a b='", "<p/", "\u{feff}"]
    {
        let page = unit.repeat(20_000);
        let _ = on_a_small_stack(move || html::select(&page, "a", None));
    }
    accepts(|| html::text(&format!("<a b=\"{}", "x ".repeat(1_000_000)), None));
    accepts(|| html::main(&format!("<script>{}", "<a b c>".repeat(30_000))));
}

#[test]
fn selectors_cannot_multiply_work() {
    let nested = || format!("{}{}", "<div>".repeat(200), "<!---->".repeat(100_000));
    refuses(Reason::TooManyNodes, move || html::select(&nested(), "div", None));
    accepts(move || html::select(&nested(), "div", Some(1)));
    refuses(Reason::TooLarge, || html::select(&format!("<p>{}", ">".repeat(5_000_000)), "p", None));
    let page = "<i b=x></i>".repeat(50_000);
    refuses(Reason::BadSelector, move || html::attribute(&page.repeat(4), &"[b*=x i]".repeat(300), "b"));
    accepts(|| html::attribute(&"<a><b>".repeat(100), &vec!["*"; 127].join(" "), "c"));
    accepts(|| html::attribute(&"<i></i>".repeat(50_000), &":not(a b)".repeat(60), "c"));
    refuses(Reason::BadSelector, || html::attribute("<a>", &"a,".repeat(2_000), "c"));
    refuses(Reason::BadSelector, || html::attribute("<a>", &":is(".repeat(1_000), "c"));
}

#[test]
fn spans_of_tables_are_counted() {
    let rows = |page: String| move || html::tables(&page, None, TableRows::Lists);
    refuses(Reason::TooManyCells, rows("<table><tr><td colspan=1000>x</table>".repeat(1_000)));
    let hanging = format!("<table><tr>{}{}", "<td rowspan=0 colspan=1000>x".repeat(9), "<tr>".repeat(10_000));
    refuses(Reason::TooManyCells, rows(hanging));
    let inside = format!("{}{}", "<table><tr><td>".repeat(60), " x".repeat(2_000_000));
    refuses(Reason::TooManyNodes, rows(inside));
    let large = format!("<table><tr><td colspan=1000>{}", "x".repeat(100_000));
    refuses(Reason::TooLarge, rows(large));
}

#[test]
fn hostile_documents_of_xml_are_refused() {
    let laughs = "<!DOCTYPE a [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]><a>&b;</a>";
    refuses(Reason::Doctype, move || xml::parse(laughs));
    refuses(Reason::Doctype, || {
        xml::parse("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>")
    });
    refuses(Reason::TooDeep, || xml::parse(&"<a>".repeat(100_000)));
    refuses(Reason::TooDeep, || xml::parse(&"<a><b/>".repeat(100_000)));
    refuses(Reason::TooManyAttributes, || {
        xml::parse(&format!("<a{}/>", numbered(100_000, |at| format!(" a{at}=''"))))
    });
    refuses(Reason::TooManyAttributes, || xml::parse(&format!("<a>{}</a>", "<b a='' b=''/>".repeat(NODES))));
    refuses(Reason::TooManyAttributes, || {
        xml::parse(&format!("<a{}/>", numbered(200, |at| format!(" xmlns:a{at}='{at}'"))))
    });
    refuses(Reason::TooManyNodes, || xml::parse(&format!("<a>{}</a>", "<b/>".repeat(NODES))));
    refuses(Reason::TooManyNodes, || xml::parse(&format!("<a>{}</a>", "<!---->x".repeat(NODES))));
    refuses(Reason::TooManyNodes, || xml::parse(&format!("<a>{}</a>", "<![CDATA[x]]>".repeat(300_000))));
    refuses(Reason::TooManyAttributes, || xml::parse(&format!("<a>{}</a>", "=".repeat(1_000_000))));
    refuses(Reason::TooLarge, || xml::parse(&" ".repeat(INPUT_BYTES + 1)));
    refuses(Reason::Malformed, || xml::parse(&"<".repeat(100_000)));
    accepts(|| xml::parse(&format!("<a>{}</a>", "<b xmlns='http://www.w3.org/1999/xhtml'/>".repeat(5_000))));
}

#[test]
fn hostile_rows_are_refused() {
    refuses(Reason::TooManyColumns, || csv::parse(&",".repeat(1_000_000), &ReadOptions::default()));
    refuses(Reason::Malformed, || {
        csv::parse(&format!("\"{}", "x".repeat(INPUT_BYTES - 1)), &ReadOptions::default())
    });
    refuses(Reason::TooLarge, || csv::parse(&"x".repeat(8 * 1024 * 1024), &ReadOptions::default()));
    let lists = ReadOptions { header: Header::None, ..ReadOptions::default() };
    let many = lists.clone();
    refuses(Reason::TooManyRows, move || csv::parse(&"a\n".repeat(INPUT_BYTES / 2), &many));
    refuses(Reason::TooLarge, move || csv::parse(&",,,,,,,\n".repeat(INPUT_BYTES / 8), &lists));
    let wide = format!("{}\n{}", ",".repeat(COLUMNS - 1), "1\n".repeat(10_000));
    refuses(Reason::TooLarge, move || csv::parse(&wide, &ReadOptions::default()));
    let sparse = numbered(COLUMNS, |at| format!(",{{\"k{at}\":1}}"));
    refuses(Reason::TooLarge, move || csv::stringify(&format!("[[]{sparse}]"), &WriteOptions::default()));
    let all = numbered(COLUMNS - 1, |at| format!(",\"k{at}\":1"));
    let few = ",{\"k16000\":1}".repeat(100_000);
    refuses(Reason::TooLarge, move || {
        csv::stringify(&format!("[{{\"a\":1{all}}}{few}]"), &WriteOptions::default())
    });
    let wide = numbered(COLUMNS + 1, |at| format!(",\"k{at}\":1"));
    refuses(Reason::TooManyColumns, move || {
        csv::stringify(&format!("[{{\"a\":1{wide}}}]"), &WriteOptions::default())
    });
    refuses(Reason::TooLarge, || csv::stringify(&" ".repeat(INPUT_BYTES + 1), &WriteOptions::default()));
}

#[test]
fn hostile_yaml_is_refused() {
    let laughs = format!(
        "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n{}",
        numbered(12, |at| format!("a{}: &a{} [{}]\n", at + 1, at + 1, vec![format!("*a{at}"); 10].join(",")))
    );
    refuses(Reason::TooManyNodes, move || yaml::parse(&laughs));
    refuses(Reason::TooLarge, || {
        yaml::parse(&format!("- &a {}\n{}", "x".repeat(1_000_000), "- *a\n".repeat(100)))
    });
    refuses(Reason::TooManyAliases, || yaml::parse(&format!("- &a x\n{}", "- *a\n".repeat(20_000))));
    let deeper = format!("{}&a {}{}\n", "- ".repeat(100), "[".repeat(100), "]".repeat(100));
    refuses(Reason::TooDeep, move || {
        yaml::parse(&format!("{deeper}- {}*a{}", "[".repeat(200), "]".repeat(200)))
    });
    for unit in ["[", "{a: ", "{", "- ", "- - ", "[{", "? "] {
        let text = unit.repeat(100_000);
        let given = on_a_small_stack(move || yaml::parse(&text));
        assert!(
            matches!(given, Err(Reason::TooDeep | Reason::Malformed | Reason::BadKey)),
            "{unit}: {given:?}"
        );
    }
    for unit in [": ", "? a\n", "- ? ", "&a ", "!!str ", "%", "#", "\t", "|", "'", "a:\n "] {
        let text = unit.repeat(20_000);
        let _ = on_a_small_stack(move || yaml::parse(&text));
    }
    refuses(Reason::Malformed, || yaml::parse(&format!("{}: 1", "x".repeat(1_000_000))));
    refuses(Reason::BadKey, || yaml::parse(&format!("? {}\n: 1", "x".repeat(1_000_000))));
    refuses(Reason::TooManyNodes, || yaml::parse(&numbered(NODES, |at| format!("k{at}: 1\n"))));
    refuses(Reason::TooManyNodes, || yaml::parse(&format!("[{}]", "a, ".repeat(1_000_000))));
    for unit in ["a,\n", "? ", "&a ", "!a ", ": ", "a: b, ", "{}, ", "[],\n"] {
        let text = format!("[{}]", unit.repeat(100_000));
        refuses(Reason::TooManyNodes, move || yaml::parse(&text));
    }
    accepts(|| yaml::parse(&format!("a:\n{}", "- [a, {b: c}]\n".repeat(10_000))));
    accepts(|| yaml::parse(&format!("a: |\n  {}", "a, b: 'c' ".repeat(100_000))));
    refuses(Reason::TooManyNodes, || yaml::parse_all(&"---\n".repeat(1_000_000)));
    refuses(Reason::TooLarge, || yaml::parse(&" ".repeat(INPUT_BYTES + 1)));
    refuses(Reason::TooDeep, || yaml::stringify(&"[".repeat(100_000)));
    refuses(Reason::TooLarge, || {
        yaml::stringify(&format!("{}{}{}", "[".repeat(250), vec!["1"; 1_000_000].join(","), "]".repeat(250)))
    });
}
