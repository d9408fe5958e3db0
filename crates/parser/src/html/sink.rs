//! From text to tree: `html5ever` reads, our tree takes what it makes of it, and a bound that is crossed ends both.
//!
//! The text is fed in small pieces and the bounds are looked at after each, so a piece's worth is all that can be
//! built past one of them.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, ParseOpts, QualName, parse_document};

use super::flood;
use super::tree::{Data, Element, NodeId, Step, Tree};
use crate::bounds::{ALL_ATTRIBUTES, ATTRIBUTES, COMPARED_ATTRIBUTES, DEPTH, NODES, check_size};
use crate::place::grouped;
use crate::{ParseError, Reason};

/// How much text is read before the bounds are looked at again. A paragraph of three bytes can open as many elements
/// again as the depth allows.
const PIECE: usize = 256;

/// Elements that the parser opens again in the next paragraph. A new one is compared with all of its name that are open,
/// attribute by attribute.
const FORMATTING: &[&str] =
    &["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Tree, ParseError> {
    check_size(text)?;
    flood::check(text)?;
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let mut parser = parse_document(Sink::new(), options);
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = PIECE.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, behind) = rest.split_at(end);
        parser.process(StrTendril::from_slice(piece));
        parser.tokenizer.sink.sink.check()?;
        rest = behind;
    }
    let sink = parser.finish();
    sink.check()?;
    let tree = sink.tree.into_inner();
    check_depth(&tree)?;
    Ok(tree)
}

/// Elements that were moved while the tree was built can be deeper than was seen.
fn check_depth(tree: &Tree) -> Result<(), ParseError> {
    let mut depth = 0_usize;
    for step in tree.walk(Tree::DOCUMENT) {
        match step {
            Step::Enter(_) => depth += 1,
            Step::Leave(_) => depth -= 1,
        }
        // The document and a text are no level.
        if depth > DEPTH + 2 {
            return Err(too_deep(None));
        }
    }
    Ok(())
}

fn too_deep(line: Option<u64>) -> ParseError {
    let place = line.map(|line| format!(" (line {line})")).unwrap_or_default();
    ParseError::new(Reason::TooDeep, format!("elements are nested deeper than the limit of {DEPTH}{place}"))
}

/// How deep a node is.
#[derive(Clone, Copy, Default)]
struct Depth {
    all: u16,
    /// Counting elements of formatting only.
    formatting: u16,
}

struct Sink {
    tree: RefCell<Tree>,
    /// How deep each node was when it was put in its place.
    depths: RefCell<Vec<Depth>>,
    attributes: Cell<usize>,
    /// Attributes that were compared because elements of formatting are nested.
    compared: Cell<usize>,
    line: Cell<u64>,
    over: RefCell<Option<ParseError>>,
}

impl Sink {
    fn new() -> Self {
        Self {
            tree: RefCell::new(Tree::new()),
            depths: RefCell::new(vec![Depth::default()]),
            attributes: Cell::new(0),
            compared: Cell::new(0),
            line: Cell::new(1),
            over: RefCell::new(None),
        }
    }

    fn check(&self) -> Result<(), ParseError> {
        let nodes = self.tree.borrow().len();
        if nodes > NODES {
            self.note(Reason::TooManyNodes, &format!("the document has more than {} nodes", grouped(NODES)));
        }
        if self.attributes.get() > ALL_ATTRIBUTES {
            let message = format!("the document has more than {} attributes", grouped(ALL_ATTRIBUTES));
            self.note(Reason::TooManyAttributes, &message);
        }
        if self.compared.get() > COMPARED_ATTRIBUTES {
            self.note(Reason::TooDeep, "elements of formatting with many attributes are nested too deep");
        }
        self.over.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn note(&self, reason: Reason, message: &str) {
        let line = self.line.get();
        self.over
            .borrow_mut()
            .get_or_insert_with(|| ParseError::new(reason, format!("{message} (line {line})")));
    }

    fn add(&self, data: Data) -> NodeId {
        self.depths.borrow_mut().push(Depth::default());
        self.tree.borrow_mut().add(data)
    }

    fn depth(&self, id: NodeId) -> Depth {
        self.depths.borrow().get(id.place()).copied().unwrap_or_default()
    }

    /// A node was put into another.
    fn put_into(&self, id: NodeId, parent: Depth) {
        let mut depth = Depth { all: parent.all.saturating_add(1), ..parent };
        if let Some(element) = self.tree.borrow().element(id)
            && FORMATTING.contains(&element.tag())
        {
            let compared = usize::from(depth.formatting) * element.attributes.len();
            self.compared.set(self.compared.get() + compared);
            depth.formatting = depth.formatting.saturating_add(1);
        }
        if let Some(place) = self.depths.borrow_mut().get_mut(id.place()) {
            *place = depth;
        }
        if usize::from(depth.all) > DEPTH + 1 {
            self.over.borrow_mut().get_or_insert_with(|| too_deep(Some(self.line.get())));
        }
    }

    /// Adds to the text that is there, if one is.
    fn merged(&self, neighbour: Option<NodeId>, text: &StrTendril) -> bool {
        let mut tree = self.tree.borrow_mut();
        let Some(before) = neighbour.and_then(|id| tree.text_mut(id)) else { return false };
        before.push_tendril(text);
        true
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Self;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        Tree::DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        Ref::map(self.tree.borrow(), |tree| tree.name(*target))
    }

    fn create_element(&self, name: QualName, mut attributes: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.attributes.set(self.attributes.get() + attributes.len());
        // Past the bound the document is refused anyway; until that is looked at, what is opened again costs nothing.
        if self.attributes.get() > ALL_ATTRIBUTES {
            attributes = Vec::new();
        }
        attributes.shrink_to_fit();
        let contents = flags.template.then(|| self.add(Data::Root));
        let holds_html = flags.mathml_annotation_xml_integration_point;
        self.add(Data::Element(Element { name, attributes, contents, holds_html }))
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.add(Data::Comment)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.add(Data::Comment)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        let child = match child {
            NodeOrText::AppendNode(node) => node,
            NodeOrText::AppendText(text) => {
                let last = self.tree.borrow().last(*parent);
                if self.merged(last, &text) {
                    return;
                }
                self.add(Data::Text(text))
            }
        };
        self.tree.borrow_mut().append(*parent, child);
        self.put_into(child, self.depth(*parent));
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let child = match child {
            NodeOrText::AppendNode(node) => node,
            NodeOrText::AppendText(text) => {
                let previous = self.tree.borrow().previous(*sibling);
                if self.merged(previous, &text) {
                    return;
                }
                self.add(Data::Text(text))
            }
        };
        self.tree.borrow_mut().insert_before(*sibling, child);
        let parent = self.tree.borrow().parent(*sibling);
        self.put_into(child, parent.map(|parent| self.depth(parent)).unwrap_or_default());
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        let has_parent = self.tree.borrow().parent(*element).is_some();
        if has_parent { self.append_before_sibling(element, child) } else { self.append(previous, child) }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        let contents = self.tree.borrow().element(*target).and_then(|element| element.contents);
        let Some(contents) = contents else { return *target };
        self.put_into(contents, self.depth(*target));
        contents
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        let mut tree = self.tree.borrow_mut();
        let Some(element) = tree.element_mut(*target) else { return };
        for attribute in attributes {
            if element.attributes.len() >= ATTRIBUTES {
                let message = format!("an element has more than {ATTRIBUTES} attributes");
                self.note(Reason::TooManyAttributes, &message);
                return;
            }
            if element.attributes.iter().all(|there| there.name != attribute.name) {
                element.attributes.push(attribute);
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.tree.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let depth = self.depth(*new_parent);
        loop {
            let Some(child) = self.tree.borrow().node(*node).and_then(|node| node.first) else { return };
            self.tree.borrow_mut().append(*new_parent, child);
            self.put_into(child, depth);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &NodeId) -> bool {
        self.tree.borrow().element(*handle).is_some_and(|element| element.holds_html)
    }

    fn set_current_line(&self, line: u64) {
        self.line.set(line);
    }
}
