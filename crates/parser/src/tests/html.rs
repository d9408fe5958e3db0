//! Text, tables, links and the main text of pages.

use super::{gives, refuses};
use crate::html::{self, TableRows};
use crate::{Reason, bounds};

#[track_caller]
fn reads(page: &str, text: &str) {
    let given = html::text(page, None).unwrap();
    assert_eq!(serde_json::from_str::<String>(&given).unwrap(), text, "{page}");
}

#[test]
fn text_is_what_a_reader_sees() {
    reads("", "");
    reads("a  b\n\tc", "a b c");
    reads("<p>a  b</p><p>c<script>x</script></p>", "a b\nc");
    reads("<div>a<div>b</div>c</div>", "a\nb\nc");
    reads("a<br>b<br/>c", "a\nb\nc");
    reads("<b>a</b><i>b</i> <u>c</u>", "ab c");
    reads("<b>a </b> <i> b</i>", "a b");
    reads("<pre>a\n  b\n</pre>c", "a\n  b\nc");
    reads("<style>x</style><title>t</title><p>v", "v");
    reads("<template>x</template>y", "y");
    reads("<p>x<noscript>no</noscript>y", "xy");
    reads("<ul><li>a<li>b</ul>", "a\nb");
    reads("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc");
    reads("&lt;&amp;&eacute;&#x41;&#66;&nbsp;x", "<&éAB\u{a0}x");
    reads("a<!-- x -->b", "ab");
    reads("a<p", "a");
    reads("</p>x</div>", "x");
    reads("<a href='>'>y</a>", "y");
    reads("\u{feff}a", "a");
    reads("a\0b", "ab");
    reads("<textarea>\n a  b</textarea>", " a  b");
}

#[test]
fn text_of_a_selection_is_not_given_twice() {
    let page = "<div>a<div>b<p>c</p></div></div><div>d</div><title>t</title>";
    gives(html::text(page, Some("div")), r#""a\nb\nc\nd""#);
    gives(html::text(page, Some("p, div > div")), r#""b\nc""#);
    gives(html::text(page, Some("title")), r#""t""#);
    gives(html::text(page, Some("h1")), r#""""#);
}

#[track_caller]
fn has_rows(page: &str, expected: &str) {
    gives(html::tables(page, None, TableRows::Lists), expected);
}

#[test]
fn tables_are_rows_of_texts() {
    has_rows("<p>none", "[]");
    has_rows("<table></table>", "[[]]");
    has_rows("<table><tr><th>a<th>b<tr><td>1<td>2</table>", r#"[[["a","b"],["1","2"]]]"#);
    has_rows(
        "<table><caption>c</caption><thead><tr><td>a</thead><tbody><tr><td>b</tbody></table>",
        r#"[[["a"],["b"]]]"#,
    );
    has_rows("<table><tr><td colspan=2>a<td>b</table>", r#"[[["a","a","b"]]]"#);
    has_rows("<table><tr><td rowspan=2>a<td>b<tr><td>c</table>", r#"[[["a","b"],["a","c"]]]"#);
    has_rows("<table><tr><td>x<td rowspan=2>a<tr><td>b<tr><td>c</table>", r#"[[["x","a"],["b","a"],["c"]]]"#);
    has_rows(
        "<table><tr><td rowspan=0>a<td>b<tr><td>c<tr><td>d</table>",
        r#"[[["a","b"],["a","c"],["a","d"]]]"#,
    );
    has_rows(
        "<table><tr><td rowspan=2 colspan=2>a<td>b<tr><td>c</table>",
        r#"[[["a","a","b"],["a","a","c"]]]"#,
    );
    has_rows("<table><tr><td colspan=0>a<td colspan=-1>b<td colspan=x>c</table>", r#"[[["a","b","c"]]]"#);
    has_rows("<table><tr><td rowspan=99999999999999999999>a<tr><tr></table>", r#"[[["a"],["a"],["a"]]]"#);
    has_rows("<table><tr><td>a<table><tr><td>b</table></table>", r#"[[["a\nb"]],[["b"]]]"#);
    has_rows("<table><tr><td> a <b>b</b>\n c</table>", r#"[[["a b c"]]]"#);
    let wide = html::tables("<table><tr><td colspan=99999>a</table>", None, TableRows::Lists).unwrap();
    assert_eq!(wide.matches("\"a\"").count(), bounds::SPAN);
}

#[test]
fn tables_with_a_header_are_objects() {
    let page = "<table id=x><tr><th>a<th>a<th><tr><td>1<td>2<td>3<td>4<tr><td>5</table><table></table>";
    gives(
        html::tables(page, Some("#x"), TableRows::Objects),
        r#"[[{"a":"1","a_2":"2","column_3":"3"},{"a":"5","a_2":"","column_3":""}]]"#,
    );
    gives(html::tables(page, Some("tr, th"), TableRows::Objects), "[]");
    refuses(html::tables(page, Some("("), TableRows::Lists), Reason::BadSelector, "`(`");
}

#[test]
fn links_are_given_as_written_or_made_whole() {
    let page =
        "<a href=' /x '>a <b>b</b></a><a name=n>no</a><map><area href=y></map><a href='http://['>z</a>";
    gives(
        html::links(page, None),
        r#"[{"href":"/x","text":"a b"},{"href":"y","text":""},{"href":"http://[","text":"z"}]"#,
    );
    gives(
        html::links(page, Some("https://h.example/p/q")),
        r#"[{"href":"https://h.example/x","text":"a b"},{"href":"https://h.example/p/y","text":""},{"href":"http://[","text":"z"}]"#,
    );
    gives(
        html::links("<base href=/d/><a href=y#z>t</a>", Some("http://h/p")),
        r#"[{"href":"http://h/d/y#z","text":"t"}]"#,
    );
    gives(
        html::links("<a href='mailto:a@b'>t</a>", Some("http://h")),
        r#"[{"href":"mailto:a@b","text":"t"}]"#,
    );
    refuses(html::links("", Some("/p")), Reason::BadOption, "`/p` is no whole URL");
}

/// A page of news: what is around the story is longer than it.
const NEWS: &str = r#"<!doctype html><html><head><title>Storm closes harbour | The Daily</title>
<meta name=author content="Ann Writer"><meta property="og:title" content="Storm closes harbour"></head><body>
<header><nav><ul><li><a href=/>Home and a lot of other words that say nothing, at all, ever</a><li><a href=/w>World</a></ul></nav></header>
<div class=sidebar><p>Subscribe to our letter, it is free, it is short, it comes every day, and you can leave at any time.</p></div>
<div id=wrap><article class=story><h1>Storm closes harbour</h1><p class=byline>By Ann Writer</p>
<p>The harbour was closed on Monday, after waves of nine metres, the highest in ten years, broke over its wall.</p>
<p>Ships had to wait, some for two days, while crews cleared the entrance, said the harbour master on Tuesday.</p>
<p>It will open again, he said, when divers have looked at the wall, which may take until the end of the week.</p></article></div>
<div class=comments><p>First, said a reader, who had nothing else to say, but said it anyway, and at some length too.</p></div>
<footer><p>Copyright, all rights reserved, no part of this may be copied, shown, lent, or read aloud.</p></footer></body></html>"#;

#[derive(Debug)]
struct Main {
    title: Option<String>,
    byline: Option<String>,
    text: String,
}

fn main_of(page: &str) -> Main {
    let given: serde_json::Value = serde_json::from_str(&html::main(page).unwrap()).unwrap();
    let text = |key: &str| given[key].as_str().map(str::to_owned);
    Main { title: text("title"), byline: text("byline"), text: text("text").unwrap() }
}

#[test]
fn the_main_text_of_a_page_of_news_is_its_story() {
    let main = main_of(NEWS);
    assert_eq!(main.title.as_deref(), Some("Storm closes harbour"));
    assert_eq!(main.byline.as_deref(), Some("Ann Writer"));
    for part in ["The harbour was closed", "Ships had to wait", "It will open again"] {
        assert!(main.text.contains(part), "{main:?}");
    }
    for part in ["Subscribe", "Home", "First, said", "Copyright"] {
        assert!(!main.text.contains(part), "{main:?}");
    }
}

#[test]
fn the_main_text_of_a_blog_without_semantics_is_its_post() {
    let post =
        "<p>A paragraph about gardens, with commas, and flowers, long enough to be counted as one.</p>";
    let page = format!(
        "<title> My  blog </title><div class=menu><p><a href=1>A link, with commas, that is long enough to be a paragraph, too</a></p></div><div class=post-body>{}</div><div class=related>{post}</div><address rel=author>Bo</address>",
        post.repeat(4)
    );
    let main = main_of(&page);
    assert_eq!(main.title.as_deref(), Some("My blog"));
    assert_eq!(main.byline.as_deref(), Some("Bo"));
    assert_eq!(main.text.matches("gardens").count(), 4, "{main:?}");
    assert!(!main.text.contains("A link"), "{main:?}");
}

#[test]
fn a_page_without_paragraphs_is_its_own_main_text() {
    let main = main_of("<h1>Hi</h1><div>short</div>");
    assert_eq!((main.title.as_deref(), main.byline.as_deref()), (Some("Hi"), None));
    assert_eq!(main.text, "Hi\nshort");
    assert_eq!(main_of("").text, "");
}
