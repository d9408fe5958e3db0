//! XML: a tree of `{tag, attrs, text, children}`.
//!
//! Names are given as written, with their prefix; a prefix must have been declared, and the declarations (`xmlns`)
//! are not among the attributes. `text` is what is directly in the element, without space around it; comments and
//! processing instructions are left out. A DOCTYPE is refused, and so is every entity but the five that XML has:
//! nothing is ever expanded or looked up.

mod guard;

use roxmltree::{Document, Error, Node, NodeType, ParsingOptions};

use crate::bounds::{NODES, check_size};
use crate::json_out::Json;
use crate::place::grouped;
use crate::{ParseError, Reason};

/// Reads a document.
pub fn parse(text: &str) -> Result<String, ParseError> {
    check_size(text)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    guard::check(text)?;
    let nodes_limit = u32::try_from(NODES).unwrap_or(u32::MAX);
    let options = ParsingOptions { allow_dtd: false, nodes_limit, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| refused(&error))?;
    let mut json = Json::default();
    let root = document.root_element();
    let mut node = root;
    'walk: loop {
        open(text, &node, &mut json)?;
        if let Some(child) = node.first_element_child() {
            node = child;
            continue;
        }
        loop {
            json.close(']');
            json.close('}');
            if node == root {
                break 'walk;
            }
            if let Some(next) = node.next_sibling_element() {
                node = next;
                break;
            }
            let Some(parent) = node.parent_element() else { break 'walk };
            node = parent;
        }
    }
    json.finish()
}

/// The beginning of an element, up to its children.
fn open(text: &str, node: &Node<'_, '_>, json: &mut Json) -> Result<(), ParseError> {
    json.open('{')?;
    json.key("tag")?;
    json.text(written_name(text, node))?;
    json.key("attrs")?;
    json.open('{')?;
    for attribute in node.attributes() {
        json.key(text.get(attribute.range_qname()).unwrap_or(attribute.name()))?;
        json.text(attribute.value())?;
    }
    json.close('}');
    let mut own = String::new();
    for child in node.children().filter(|child| child.node_type() == NodeType::Text) {
        own.push_str(child.text().unwrap_or_default());
    }
    json.key("text")?;
    json.text(own.trim())?;
    json.key("children")?;
    json.open('[')
}

/// The name with its prefix: what stands behind the bracket.
fn written_name<'a>(text: &'a str, node: &Node<'a, '_>) -> &'a str {
    let from = text.get(node.range().start + 1..).unwrap_or_default();
    let end = from.find(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/');
    from.get(..end.unwrap_or(from.len())).unwrap_or_default()
}

fn refused(error: &Error) -> ParseError {
    const LONGEST: usize = 200;
    let said = || error.to_string().chars().take(LONGEST).collect::<String>();
    match error {
        Error::DtdDetected => ParseError::new(Reason::Doctype, guard::DOCTYPE),
        Error::UnknownEntityReference(..) | Error::EntityReferenceLoop(_) => ParseError::new(
            Reason::Entity,
            format!("{}; only &amp; &lt; &gt; &quot; &apos; and numbers are read", said()),
        ),
        Error::NodesLimitReached => ParseError::new(
            Reason::TooManyNodes,
            format!("the document has more than {} nodes", grouped(NODES)),
        ),
        _ => ParseError::new(Reason::Malformed, format!("not well-formed XML: {}", said())),
    }
}
