//! Selectors: a row is a selector and the ids of what it selects.

use super::refuses;
use crate::{Reason, html};

const PAGE: &str = r#"<!doctype html><html id=root><head id=head><title id=title>T</title></head><body id=body class="Big page">
<div id=one class="a b" lang=en-GB data-x="Hello World"><p id=p1>1</p><p id=p2 class=b>2<em id=em1>x</em></p><span id=s1></span></div>
<div id=two class="a" lang=en title="foo bar"><p id=p3>3</p><!-- c --><span id=s2> </span><p id=p4>4</p><p id=p5></p></div>
<ul id=ul><li id=l1>1<li id=l2>2<li id=l3>3<li id=l4>4<li id=l5>5</ul>
<svg id=svg viewBox="0 0 1 1"><foreignObject id=fo></foreignObject></svg>
<p id="a.b" class="x:y é">q</p><input id=in1 type=TEXT disabled></body></html>"#;

#[track_caller]
fn check(css: &str, expected: &str) {
    let given = html::attribute(PAGE, css, "id").unwrap_or_else(|error| panic!("{css}: {error}"));
    let ids: Vec<String> = serde_json::from_str(&given).unwrap();
    assert_eq!(ids.join(" "), expected, "{css}");
}

#[track_caller]
fn is_bad(css: &str, says: &str) {
    refuses(html::select(PAGE, css, None), Reason::BadSelector, says);
}

#[test]
fn simple_selectors_select() {
    check("p", "p1 p2 p3 p4 p5 a.b");
    check("P", "p1 p2 p3 p4 p5 a.b");
    check("li#l2", "l2");
    check("#one", "one");
    check("#ONE", "");
    check(".b", "one p2");
    check(".a.b", "one");
    check(".B", "");
    check("div.a#two", "two");
    check("foreignObject", "fo");
    check("foreignobject", "");
    check(r"#a\.b", "a.b");
    check(r"#a\2e b", "a.b");
    check(r".x\:y", "a.b");
    check(".é", "a.b");
    check("nothing", "");
    check("em, #one ,\n.b", "one p2 em1");
    check("p,p", "p1 p2 p3 p4 p5 a.b");
    check("ul *", "l1 l2 l3 l4 l5");
}

#[test]
fn combinators_select() {
    check("div p", "p1 p2 p3 p4 p5");
    check("div > p", "p1 p2 p3 p4 p5");
    check("div>em", "");
    check("div em", "em1");
    check("body div p em", "em1");
    check("p + p", "p2 p5");
    check("p+span", "s1 s2");
    check("span ~ p", "p4 p5");
    check("#l2~li", "l3 l4 l5");
    check("div + div > span", "s2");
    check("html>body>div:first-child>p", "p1 p2");
    check("div ~ p", "a.b");
    check("div div", "");
    check("head + body", "body");
}

#[test]
fn attributes_are_compared() {
    check("[lang]", "one two");
    check("[LANG]", "one two");
    check("[lang=en]", "two");
    check("[lang|=en]", "one two");
    check("[title~=bar]", "two");
    check("[title~='foo bar']", "");
    check("[title^=foo]", "two");
    check("[title$=\"bar\"]", "two");
    check("[title*='o b']", "two");
    check("[title*='']", "");
    check("[title^='']", "");
    check("[title='FOO BAR']", "");
    check("[title='FOO BAR' i]", "two");
    check("[title='foo bar' s]", "two");
    check("[data-x*=WORLD i]", "one");
    check("[data-x~=hello i]", "one");
    check("[type=text i]", "in1");
    check("[ disabled ]", "in1");
    check("[disabled='']", "in1");
    check("div[lang][title]", "two");
    check("[title='foo\\20 bar']", "two");
    check("[viewbox]", "");
    check("[viewBox]", "svg");
}

#[test]
fn pseudo_classes_select() {
    check("li:first-child", "l1");
    check("li:last-child", "l5");
    check("em:only-child", "em1");
    check("span:only-of-type", "s1 s2");
    check("p:first-of-type", "p1 p3 a.b");
    check("p:last-of-type", "p2 p5 a.b");
    check("li:nth-child(2)", "l2");
    check("li:nth-child(odd)", "l1 l3 l5");
    check("li:nth-child(even)", "l2 l4");
    check("li:nth-child(2n + 1)", "l1 l3 l5");
    check("li:nth-child(-n+2)", "l1 l2");
    check("li:nth-child(n+4)", "l4 l5");
    check("li:nth-child( 3n )", "l3");
    check("li:nth-child(0)", "");
    check("li:nth-child(+3)", "l3");
    check("li:nth-last-child(1)", "l5");
    check("li:nth-last-child(-n+2)", "l4 l5");
    check("p:nth-of-type(2)", "p2 p4");
    check("p:nth-last-of-type(2)", "p1 p4");
    check("span:empty", "s1");
    check("p:empty", "p5");
    check(":root", "root");
    check("li:not(:first-child)", "l2 l3 l4 l5");
    check("p:not(.b):not(:empty)", "p1 p3 p4 a.b");
    check("p:not(div p)", "a.b");
    check("li:not(#l1, #l2 ,#l3)", "l4 l5");
    check(":is(#one, #two) > p:first-child", "p1 p3");
    check(":where(ul) > li:is(#l1, .none)", "l1");
    check("li:not(:not(#l1))", "l1");
    check("DIV:FIRST-CHILD", "one");
}

#[test]
fn what_is_no_selector_is_refused_with_its_place() {
    is_bad("", "its end");
    is_bad(" ", "its end");
    is_bad("p,", "its end");
    is_bad("p > ", "its end");
    is_bad("> p", "`> p`");
    is_bad("p >> a", "column 4");
    is_bad("p:has(a)", "`has(a)` is a pseudo-class that is not known here");
    is_bad("p:hover", "`hover`");
    is_bad("p::before", "name");
    is_bad("[a", "comparison");
    is_bad("[a=b c", "`]`");
    is_bad("[a=", "name");
    is_bad("[a='x]", "closing quote");
    is_bad("[a!=b]", "comparison");
    is_bad("p)", "`)`");
    is_bad(":not(p", "`)`");
    is_bad(":not()", "`)`");
    is_bad("li:nth-child(x)", "an+b");
    is_bad("li:nth-child(2", "closing bracket");
    is_bad("li:nth-child(99999999999)", "an+b");
    is_bad("a|b", "`|b`");
    is_bad("p{}", "`{}`");
    is_bad(&"a".repeat(5000), "5 000 bytes, the limit is 4 096");
    is_bad(&vec!["a"; 200].join(" "), "128 compounds");
    is_bad(&":not(".repeat(500), "limit of 8");
}

#[test]
fn what_is_selected_is_told_whole() {
    let given = html::select("<p class=x id=y>a<b>b</b><br>&lt;</p><p>2</p>", "p", Some(1));
    let expected = r#"[{"tag":"p","attrs":{"class":"x","id":"y"},"text":"ab\n<","html":"<p class=\"x\" id=\"y\">a<b>b</b><br>&lt;</p>"}]"#;
    super::gives(given, expected);
    super::gives(html::select("<p>", "p", Some(0)), "[]");
    super::gives(html::select("<p>", "a", None), "[]");
    super::gives(html::attribute("<a HREF=x>1</a><a>2</a>", "a", "HRef"), r#"["x",null]"#);
    super::gives(html::attribute("<svg viewBox=1></svg>", "svg", "viewBox"), r#"["1"]"#);
}
