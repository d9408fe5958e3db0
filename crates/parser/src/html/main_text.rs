//! Where the main text of a page is: the element around the paragraphs that hold most text and least links.
//!
//! One pass adds up, from the leaves, how much text and how much of it in links each element holds; paragraphs then
//! give points to what is around them. No attempt is made to be right about every page.

use super::text::{is_unseen, text_of};
use super::tree::{Data, Element, NodeId, Step, Tree};

/// Elements that hold the text of a paragraph.
const PARAGRAPHS: &[&str] = &["p", "pre", "blockquote", "li", "td", "dd"];

/// Elements that are beside the main text.
const BESIDE: &[&str] = &["nav", "header", "footer", "aside", "form", "menu", "button", "select", "dialog"];

/// Words in a class or an id that speak for the main text, and against it.
const FOR: &[&str] = &["article", "content", "entry", "main", "post", "story", "text", "body"];
const AGAINST: &[&str] = &[
    "ad-", "banner", "comment", "cookie", "footer", "menu", "meta", "nav", "promo", "related", "share",
    "sidebar", "social", "sponsor", "widget",
];

/// A paragraph this short says nothing about where it is.
const SHORTEST: usize = 25;

#[derive(Clone, Copy, Default)]
struct Weight {
    text: usize,
    links: usize,
    commas: usize,
}

/// The page's main text.
pub(super) struct Found {
    pub(super) title: Option<String>,
    pub(super) byline: Option<String>,
    /// The element that holds it.
    pub(super) element: NodeId,
}

/// Finds the main text. A page without paragraphs is its own main text.
pub(super) fn find(tree: &Tree) -> Found {
    let weights = weigh(tree);
    let mut points: Vec<f64> = vec![0.0; tree.len()];
    let give = |points: &mut Vec<f64>, id: Option<NodeId>, more: f64| {
        if let Some(place) = id.and_then(|id| points.get_mut(id.place())) {
            *place += more;
        }
    };
    let mut beside = 0_usize;
    for step in tree.walk(Tree::DOCUMENT) {
        match step {
            Step::Enter(id) => {
                let Some(element) = tree.element(id) else { continue };
                if BESIDE.contains(&element.tag()) {
                    beside += 1;
                }
                let weight = weights.get(id.place()).copied().unwrap_or_default();
                if beside == 0 && PARAGRAPHS.contains(&element.tag()) && weight.text >= SHORTEST {
                    let more = 1.0 + number(weight.commas) + (number(weight.text) / 100.0).min(3.0);
                    let parent = tree.parent(id);
                    give(&mut points, parent, more);
                    give(&mut points, parent.and_then(|parent| tree.parent(parent)), more / 2.0);
                }
            }
            Step::Leave(id) => {
                if tree.element(id).is_some_and(|element| BESIDE.contains(&element.tag())) {
                    beside = beside.saturating_sub(1);
                }
            }
        }
    }
    let mut best: Option<(f64, NodeId)> = None;
    for (id, element) in tree.elements(Tree::DOCUMENT) {
        let own = points.get(id.place()).copied().unwrap_or(0.0);
        if own <= 0.0 {
            continue;
        }
        let weight = weights.get(id.place()).copied().unwrap_or_default();
        let links = number(weight.links) / number(weight.text.max(1));
        let score = (own + bias(element)) * (1.0 - links);
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, id));
        }
    }
    let body =
        || tree.elements(Tree::DOCUMENT).find(|(_, element)| element.tag() == "body").map(|(id, _)| id);
    let element = best.map(|(_, id)| id).or_else(body).unwrap_or(Tree::DOCUMENT);
    Found { title: title(tree), byline: byline(tree), element }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn bias(element: &Element) -> f64 {
    let mut points = match element.tag() {
        "article" | "main" => 25.0,
        "section" | "div" => 5.0,
        "ul" | "ol" | "dl" | "form" | "td" => -3.0,
        _ => 0.0,
    };
    if element.attribute("role") == Some("main") {
        points += 25.0;
    }
    for name in ["class", "id"] {
        let words = element.attribute(name).unwrap_or_default().to_ascii_lowercase();
        if FOR.iter().any(|word| words.contains(word)) {
            points += 10.0;
        }
        if AGAINST.iter().any(|word| words.contains(word)) {
            points -= 25.0;
        }
    }
    points
}

/// How much each node holds.
fn weigh(tree: &Tree) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); tree.len()];
    let mut walk = tree.walk(Tree::DOCUMENT);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) => {
                if tree.element(id).is_some_and(|element| is_unseen(element.tag())) {
                    walk.pass_over(id);
                }
            }
            Step::Leave(id) => {
                let mut own = weights.get(id.place()).copied().unwrap_or_default();
                match tree.node(id).map(|node| &node.data) {
                    Some(Data::Text(text)) => {
                        own.text = text.split_whitespace().map(|word| word.chars().count() + 1).sum();
                        own.commas = text.matches([',', '、', '，']).count();
                    }
                    Some(Data::Element(element)) if element.tag() == "a" => own.links = own.text,
                    _ => {}
                }
                if let Some(place) = weights.get_mut(id.place()) {
                    *place = own;
                }
                if let Some(above) = tree.parent(id).and_then(|parent| weights.get_mut(parent.place())) {
                    above.text += own.text;
                    above.links += own.links;
                    above.commas += own.commas;
                }
            }
        }
    }
    weights
}

fn filled(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn meta(tree: &Tree, key: &str, name: &str) -> Option<String> {
    tree.elements(Tree::DOCUMENT)
        .find(|(_, element)| element.tag() == "meta" && element.attribute(key) == Some(name))
        .and_then(|(_, element)| filled(element.attribute("content")?.trim().to_owned()))
}

fn first(tree: &Tree, fits: impl Fn(&Element) -> bool) -> Option<String> {
    let found = tree.elements(Tree::DOCUMENT).find(|(_, element)| fits(element));
    found.and_then(|(id, _)| filled(text_of(tree, id)))
}

fn title(tree: &Tree) -> Option<String> {
    meta(tree, "property", "og:title")
        .or_else(|| first(tree, |element| element.tag() == "title"))
        .or_else(|| first(tree, |element| element.tag() == "h1"))
}

fn byline(tree: &Tree) -> Option<String> {
    let says = |element: &Element| {
        element.attribute("rel") == Some("author")
            || element.attribute("itemprop") == Some("author")
            || element
                .attribute("class")
                .unwrap_or_default()
                .split_ascii_whitespace()
                .any(|word| word == "byline")
    };
    meta(tree, "name", "author").or_else(|| first(tree, says))
}
