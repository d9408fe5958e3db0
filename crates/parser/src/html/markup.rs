//! A part of a tree as HTML again.

use html5ever::{QualName, ns};

use super::tree::{Data, NodeId, Step, Tree};

/// Elements that have no contents and no end tag.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "param",
];

/// Elements whose text is written as it is.
const RAW: &[&str] = &["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"];

/// The markup of an element. Comments are left out, and so are the contents of templates.
pub(super) fn markup_of(tree: &Tree, root: NodeId, most: usize) -> Option<String> {
    let mut out = String::new();
    for step in tree.walk(root) {
        if out.len() > most {
            return None;
        }
        match step {
            Step::Enter(id) => match tree.node(id).map(|node| &node.data) {
                Some(Data::Text(text)) => {
                    let parent = tree.parent(id).map(|parent| tree.name(parent));
                    if parent.is_some_and(|parent| is_one_of(parent, RAW)) {
                        out.push_str(text);
                    } else {
                        escape(text, false, most, &mut out);
                    }
                }
                Some(Data::Element(element)) => {
                    out.push('<');
                    out.push_str(element.tag());
                    for attribute in &element.attributes {
                        out.push(' ');
                        if let Some(prefix) = &attribute.name.prefix {
                            out.push_str(prefix);
                            out.push(':');
                        }
                        out.push_str(&attribute.name.local);
                        out.push_str("=\"");
                        escape(&attribute.value, true, most, &mut out);
                        out.push('"');
                    }
                    out.push('>');
                }
                _ => {}
            },
            Step::Leave(id) => {
                if let Some(element) = tree.element(id).filter(|element| !is_one_of(&element.name, VOID)) {
                    out.push_str("</");
                    out.push_str(element.tag());
                    out.push('>');
                }
            }
        }
    }
    (out.len() <= most).then_some(out)
}

fn is_one_of(name: &QualName, tags: &[&str]) -> bool {
    name.ns == ns!(html) && tags.contains(&&*name.local)
}

/// Stops when there is more than enough: what is escaped can be several times as long.
fn escape(text: &str, in_attribute: bool, most: usize, out: &mut String) {
    for c in text.chars() {
        if out.len() > most {
            return;
        }
        match c {
            '&' => out.push_str("&amp;"),
            '\u{a0}' => out.push_str("&nbsp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if in_attribute => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
}
