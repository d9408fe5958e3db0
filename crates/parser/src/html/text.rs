//! The text of a part of a tree, as a reader sees it: spaces collapsed, blocks on lines of their own.

use super::tree::{Data, NodeId, Step, Tree};

/// Elements whose contents no reader sees.
const UNSEEN: &[&str] = &["script", "style", "noscript", "template", "head", "iframe", "object"];

/// Elements that begin and end a line.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
];

pub(super) fn is_unseen(tag: &str) -> bool {
    UNSEEN.contains(&tag)
}

pub(super) fn is_block(tag: &str) -> bool {
    BLOCKS.contains(&tag)
}

/// What stands between what was written and what comes next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Nothing,
    Space,
    Line,
}

/// The text of a node. What is asked for is given even if no reader sees it, such as the text of a `<title>`.
pub(super) fn text_of(tree: &Tree, root: NodeId) -> String {
    let mut out = String::new();
    let mut gap = Gap::Nothing;
    let mut preformatted = 0_usize;
    let mut walk = tree.walk(root);
    while let Some(step) = walk.next() {
        let (id, entered) = match step {
            Step::Enter(id) => (id, true),
            Step::Leave(id) => (id, false),
        };
        match tree.node(id).map(|node| &node.data) {
            Some(Data::Text(text)) if entered => {
                if preformatted > 0 {
                    write_as_it_is(&mut out, &mut gap, text);
                } else {
                    write_collapsed(&mut out, &mut gap, text);
                }
            }
            Some(Data::Element(element)) => {
                let tag = element.tag();
                if is_block(tag) {
                    gap = gap.max(Gap::Line);
                }
                match tag {
                    "br" if entered => {
                        if gap == Gap::Line && out.ends_with('\n') || out.is_empty() {
                            continue;
                        }
                        gap = Gap::Line;
                    }
                    "td" | "th" => gap = gap.max(Gap::Space),
                    "pre" | "textarea" if entered => preformatted += 1,
                    "pre" | "textarea" => preformatted = preformatted.saturating_sub(1),
                    _ if entered && id != root && is_unseen(tag) => walk.pass_over(id),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn bridge(out: &mut String, gap: &mut Gap) {
    if !out.is_empty() {
        match *gap {
            Gap::Nothing => {}
            Gap::Space if out.ends_with([' ', '\n']) => {}
            Gap::Space => out.push(' '),
            Gap::Line if out.ends_with('\n') => {}
            Gap::Line => out.push('\n'),
        }
    }
    *gap = Gap::Nothing;
}

fn write_collapsed(out: &mut String, gap: &mut Gap, text: &str) {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c');
    if text.starts_with(is_space) {
        *gap = (*gap).max(Gap::Space);
    }
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        bridge(out, gap);
        out.push_str(word);
        *gap = Gap::Space;
    }
    if !text.ends_with(is_space) && *gap == Gap::Space {
        *gap = Gap::Nothing;
    }
}

fn write_as_it_is(out: &mut String, gap: &mut Gap, text: &str) {
    if text.is_empty() {
        return;
    }
    bridge(out, gap);
    out.push_str(text);
}
