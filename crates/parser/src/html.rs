//! HTML: what a guest asks of a page. Each question reads the page anew; what is given back is JSON text.
//!
//! Pages are read as browsers do, so nothing about one is malformed; only the bounds and a selector can be refused.

mod flood;
mod main_text;
mod markup;
mod matching;
mod selector;
mod sink;
mod tables;
mod text;
mod tree;

use url::Url;

use self::markup::markup_of;
use self::selector::Selector;
use self::tables::Table;
use self::text::text_of;
use self::tree::{NodeId, Step, Tree};
use crate::bounds::{OUTPUT_BYTES, SELECTOR_WORK, VISITS};
use crate::json_out::{Json, output_too_large};
use crate::place::{grouped, shortened};
use crate::{ParseError, Reason};

/// How the rows of a table are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableRows {
    /// Each as a list of texts.
    Lists,
    /// Each but the first as an object with the texts of the first as keys.
    Objects,
}

/// The elements that a selector selects: `[{tag, attrs, text, html}]`, at most `limit`.
pub fn select(html: &str, css: &str, limit: Option<usize>) -> Result<String, ParseError> {
    let (tree, found) = matches(html, css, limit)?;
    check_visits(&tree, &found)?;
    let mut json = Json::default();
    json.open('[')?;
    for id in found {
        let Some(element) = tree.element(id) else { continue };
        json.open('{')?;
        json.key("tag")?;
        json.text(element.tag())?;
        json.key("attrs")?;
        json.open('{')?;
        for attribute in &element.attributes {
            let local = &*attribute.name.local;
            match &attribute.name.prefix {
                Some(prefix) => json.key(&format!("{prefix}:{local}"))?,
                None => json.key(local)?,
            }
            json.text(&attribute.value)?;
        }
        json.close('}');
        json.key("text")?;
        json.text(&text_of(&tree, id))?;
        json.key("html")?;
        json.text(&markup(&tree, id)?)?;
        json.close('}');
    }
    json.close(']');
    json.finish()
}

/// The text of a page, or of what a selector selects in it, one below the other: a JSON text. What is inside of what
/// was selected is not given twice.
pub fn text(html: &str, css: Option<&str>) -> Result<String, ParseError> {
    let Some(css) = css else {
        let tree = sink::parse(html)?;
        let mut json = Json::default();
        json.text(&text_of(&tree, Tree::DOCUMENT))?;
        return json.finish();
    };
    let (tree, found) = matches(html, css, None)?;
    let mut texts = String::new();
    let mut found = found.into_iter().peekable();
    let mut walk = tree.walk(Tree::DOCUMENT);
    // Both are in the order of the document, so what is next of the one is met by the other.
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if found.next_if_eq(&id).is_none() {
            continue;
        }
        let text = text_of(&tree, id);
        if !texts.is_empty() && !text.is_empty() {
            texts.push('\n');
        }
        texts.push_str(&text);
        walk.pass_over(id);
        for inside in tree.elements(id).skip(1) {
            let _ = found.next_if_eq(&inside.0);
        }
    }
    let mut json = Json::default();
    json.text(&texts)?;
    json.finish()
}

/// An attribute of each element that a selector selects: texts, and null where there is none.
pub fn attribute(html: &str, css: &str, name: &str) -> Result<String, ParseError> {
    let (tree, found) = matches(html, css, None)?;
    let lower = name.to_ascii_lowercase();
    let mut json = Json::default();
    json.open('[')?;
    for element in found.into_iter().filter_map(|id| tree.element(id)) {
        // Only names in SVG and MathML have capital letters.
        json.text_or_null(element.attribute(&lower).or_else(|| element.attribute(name)))?;
    }
    json.close(']');
    json.finish()
}

/// The tables of a page, or of those elements that a selector selects: for each its rows. Of an element that is no
/// table, the tables in it are not looked for.
pub fn tables(html: &str, css: Option<&str>, rows: TableRows) -> Result<String, ParseError> {
    let (tree, found) = matches(html, css.unwrap_or("table"), None)?;
    check_visits(&tree, &found)?;
    let mut json = Json::default();
    let mut cells = 0_usize;
    json.open('[')?;
    for id in found {
        if tree.element(id).is_none_or(|element| element.tag() != "table") {
            continue;
        }
        let table = Table::read(&tree, id, &mut cells)?;
        match rows {
            TableRows::Lists => table.write_rows(&mut json)?,
            TableRows::Objects => table.write_objects(&mut json)?,
        }
    }
    json.close(']');
    json.finish()
}

/// The main text of a page: `{title, byline, text, html}`, with null for what the page does not say.
pub fn main(html: &str) -> Result<String, ParseError> {
    let tree = sink::parse(html)?;
    let found = main_text::find(&tree);
    let mut json = Json::default();
    json.open('{')?;
    json.key("title")?;
    json.text_or_null(found.title.as_deref())?;
    json.key("byline")?;
    json.text_or_null(found.byline.as_deref())?;
    json.key("text")?;
    json.text(&text_of(&tree, found.element))?;
    json.key("html")?;
    json.text(&markup(&tree, found.element)?)?;
    json.close('}');
    json.finish()
}

/// The links of a page: `[{href, text}]`. With the address of the page they are made whole, by the page's own `<base>`
/// too; what cannot be, and all without it, is given as it is written.
pub fn links(html: &str, base: Option<&str>) -> Result<String, ParseError> {
    let address = base.map(|base| Url::parse(base).map_err(|_| bad_base(base))).transpose()?;
    let (tree, found) = matches(html, "a[href], area[href]", None)?;
    check_visits(&tree, &found)?;
    let base = address.map(|address| {
        let own = tree.elements(Tree::DOCUMENT).find(|(_, element)| element.tag() == "base");
        let own = own.and_then(|(_, element)| address.join(element.attribute("href")?).ok());
        own.unwrap_or(address)
    });
    let mut json = Json::default();
    json.open('[')?;
    for id in found {
        let Some(href) = tree.element(id).and_then(|element| element.attribute("href")) else { continue };
        let whole = base.as_ref().and_then(|base| base.join(href).ok());
        json.open('{')?;
        json.key("href")?;
        json.text(whole.as_ref().map_or(href.trim(), Url::as_str))?;
        json.key("text")?;
        json.text(&text_of(&tree, id))?;
        json.close('}');
    }
    json.close(']');
    json.finish()
}

fn bad_base(base: &str) -> ParseError {
    ParseError::new(Reason::BadOption, format!("the base `{}` is no whole URL", shortened(base)))
}

/// The selector is read first: it costs nothing to refuse.
fn matches(html: &str, css: &str, limit: Option<usize>) -> Result<(Tree, Vec<NodeId>), ParseError> {
    let selector = Selector::parse(css)?;
    let conditions: usize = selector.steps.iter().map(|step| step.conditions.len()).sum();
    if conditions.saturating_mul(html.len()) > SELECTOR_WORK {
        let message = format!(
            "the selector has {conditions} conditions; {} is the most for a page of {} bytes",
            SELECTOR_WORK / html.len().max(1),
            grouped(html.len())
        );
        return Err(ParseError::new(Reason::BadSelector, message));
    }
    let tree = sink::parse(html)?;
    let found = match limit {
        Some(0) => Vec::new(),
        limit => matching::select(&tree, &selector, limit.unwrap_or(usize::MAX)),
    };
    Ok((tree, found))
}

/// Refuses to look at what is in many elements that are inside each other: each node would be looked at many times.
fn check_visits(tree: &Tree, found: &[NodeId]) -> Result<(), ParseError> {
    let sizes = tree.sizes();
    let visits: usize = found.iter().filter_map(|id| sizes.get(id.place())).copied().map(to_usize).sum();
    if visits <= VISITS {
        return Ok(());
    }
    let message = format!(
        "what is selected is inside each other and is {} nodes in all, the limit is {}; select less",
        grouped(visits),
        grouped(VISITS)
    );
    Err(ParseError::new(Reason::TooManyNodes, message))
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn markup(tree: &Tree, id: NodeId) -> Result<String, ParseError> {
    markup_of(tree, id, OUTPUT_BYTES).ok_or_else(output_too_large)
}
