//! A tree of HTML, flat: nodes in one list that know each other by number. To walk or drop it takes no recursion.

use std::num::NonZeroU32;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName};

/// The number of a node in its tree, counted from 1: small, so that a node with five neighbours is small too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(NonZeroU32);

impl NodeId {
    /// Its place in a list that has one item for each node.
    pub(crate) fn place(self) -> usize {
        usize::try_from(self.0.get()).unwrap_or(usize::MAX) - 1
    }
}

/// What a node is.
pub(crate) enum Data {
    /// The document, or the contents of a template.
    Root,
    Text(StrTendril),
    Comment,
    Element(Element),
}

/// An element.
pub(crate) struct Element {
    pub(crate) name: QualName,
    pub(crate) attributes: Vec<Attribute>,
    /// Where the contents of a template are: they are no part of the document.
    pub(crate) contents: Option<NodeId>,
    /// Markup inside is HTML again.
    pub(crate) holds_html: bool,
}

impl Element {
    /// Its name as written in HTML.
    pub(crate) fn tag(&self) -> &str {
        &self.name.local
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| &*attribute.name.local == name).map(|found| &*found.value)
    }
}

/// A node and its neighbours.
pub(crate) struct Node {
    pub(crate) parent: Option<NodeId>,
    pub(crate) previous: Option<NodeId>,
    pub(crate) next: Option<NodeId>,
    pub(crate) first: Option<NodeId>,
    pub(crate) last: Option<NodeId>,
    pub(crate) data: Data,
}

/// All nodes; the first is the document.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// What a node that is no element is called.
    pub(crate) nameless: QualName,
}

/// A step of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Enter(NodeId),
    Leave(NodeId),
}

impl Tree {
    /// The number of the document.
    pub(crate) const DOCUMENT: NodeId = NodeId(NonZeroU32::MIN);

    /// A document and nothing in it.
    pub(crate) fn new() -> Self {
        let nameless = QualName::new(None, html5ever::ns!(), LocalName::from(""));
        let mut tree = Self { nodes: Vec::new(), nameless };
        tree.add(Data::Root);
        tree
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.place())
    }

    pub(crate) fn element(&self, id: NodeId) -> Option<&Element> {
        match self.nodes.get(id.place()).map(|node| &node.data) {
            Some(Data::Element(element)) => Some(element),
            _ => None,
        }
    }

    pub(crate) fn element_mut(&mut self, id: NodeId) -> Option<&mut Element> {
        match self.nodes.get_mut(id.place()).map(|node| &mut node.data) {
            Some(Data::Element(element)) => Some(element),
            _ => None,
        }
    }

    pub(crate) fn text_mut(&mut self, id: NodeId) -> Option<&mut StrTendril> {
        match self.nodes.get_mut(id.place()).map(|node| &mut node.data) {
            Some(Data::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The name of an element, or none of its own.
    pub(crate) fn name(&self, id: NodeId) -> &QualName {
        self.element(id).map_or(&self.nameless, |element| &element.name)
    }

    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(id.place())?.parent
    }

    pub(crate) fn last(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(id.place())?.last
    }

    pub(crate) fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(id.place())?.previous
    }

    /// A new node that is nowhere yet.
    pub(crate) fn add(&mut self, data: Data) -> NodeId {
        let node = Node { parent: None, previous: None, next: None, first: None, last: None, data };
        self.nodes.push(node);
        // The bound on nodes is far below what the number can hold.
        let number = u32::try_from(self.nodes.len()).ok().and_then(NonZeroU32::new);
        number.map_or(Self::DOCUMENT, NodeId)
    }

    /// Takes a node from where it is.
    pub(crate) fn detach(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(id.place()) else { return };
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        match previous.and_then(|id| self.nodes.get_mut(id.place())) {
            Some(before) => before.next = next,
            None => {
                if let Some(parent) = parent.and_then(|id| self.nodes.get_mut(id.place())) {
                    parent.first = next;
                }
            }
        }
        match next.and_then(|id| self.nodes.get_mut(id.place())) {
            Some(behind) => behind.previous = previous,
            None => {
                if let Some(parent) = parent.and_then(|id| self.nodes.get_mut(id.place())) {
                    parent.last = previous;
                }
            }
        }
    }

    /// Makes a node the last child of another.
    pub(crate) fn append(&mut self, parent: NodeId, child: NodeId) {
        self.detach(child);
        let last = self.last(parent);
        self.link(child, Some(parent), last, None);
    }

    /// Puts a node before another.
    pub(crate) fn insert_before(&mut self, sibling: NodeId, child: NodeId) {
        self.detach(child);
        let (parent, previous) = (self.parent(sibling), self.previous(sibling));
        self.link(child, parent, previous, Some(sibling));
    }

    fn link(&mut self, id: NodeId, parent: Option<NodeId>, previous: Option<NodeId>, next: Option<NodeId>) {
        if let Some(node) = self.nodes.get_mut(id.place()) {
            (node.parent, node.previous, node.next) = (parent, previous, next);
        }
        match previous.and_then(|id| self.nodes.get_mut(id.place())) {
            Some(before) => before.next = Some(id),
            None => {
                if let Some(parent) = parent.and_then(|id| self.nodes.get_mut(id.place())) {
                    parent.first = Some(id);
                }
            }
        }
        match next.and_then(|id| self.nodes.get_mut(id.place())) {
            Some(behind) => behind.previous = Some(id),
            None => {
                if let Some(parent) = parent.and_then(|id| self.nodes.get_mut(id.place())) {
                    parent.last = Some(id);
                }
            }
        }
    }

    /// The children of a node, in order.
    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut next = self.node(id).and_then(|node| node.first);
        std::iter::from_fn(move || {
            let id = next?;
            next = self.node(id).and_then(|node| node.next);
            Some(id)
        })
    }

    /// How much it is to look at each node: itself and all in it; long texts count as many.
    pub(crate) fn sizes(&self) -> Vec<u32> {
        let own = |node: &Node| match &node.data {
            Data::Text(text) => 1 + text.len32() / 64,
            _ => 1,
        };
        let mut sizes: Vec<u32> = self.nodes.iter().map(own).collect();
        for step in self.walk(Self::DOCUMENT) {
            let Step::Leave(id) = step else { continue };
            let own = sizes.get(id.place()).copied().unwrap_or(1);
            if let Some(above) = self.parent(id).and_then(|parent| sizes.get_mut(parent.place())) {
                *above = above.saturating_add(own);
            }
        }
        sizes
    }

    /// A node and all in it, in order: into each and out of it again.
    pub(crate) fn walk(&self, root: NodeId) -> Walk<'_> {
        Walk { tree: self, root, next: Some(Step::Enter(root)) }
    }

    /// The elements in a node and itself, in order.
    pub(crate) fn elements(&self, root: NodeId) -> impl Iterator<Item = (NodeId, &Element)> {
        self.walk(root).filter_map(|step| match step {
            Step::Enter(id) => Some((id, self.element(id)?)),
            Step::Leave(_) => None,
        })
    }
}

/// A walk over a part of a tree.
pub(crate) struct Walk<'a> {
    tree: &'a Tree,
    root: NodeId,
    next: Option<Step>,
}

impl Walk<'_> {
    /// After a node was entered: leaves it without looking at what is in it.
    pub(crate) fn pass_over(&mut self, entered: NodeId) {
        self.next = Some(Step::Leave(entered));
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.next?;
        self.next = match step {
            Step::Enter(id) => match self.tree.node(id).and_then(|node| node.first) {
                Some(first) => Some(Step::Enter(first)),
                None => Some(Step::Leave(id)),
            },
            Step::Leave(id) if id == self.root => None,
            Step::Leave(id) => self.tree.node(id).and_then(|node| match node.next {
                Some(next) => Some(Step::Enter(next)),
                None => node.parent.map(Step::Leave),
            }),
        };
        Some(step)
    }
}
