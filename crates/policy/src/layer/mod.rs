//! One parsed layer of policy: the operator's baseline, a profile, or a tool's overrides.
//!
//! A layer is what one document said, each statement with the place it was said at. It decides nothing:
//! [`crate::resolve`] puts layers together.

mod fit;
pub mod read;
mod write;

pub use fit::{Room, without};

use std::sync::Arc;

use bailiwick_document::{DocPath, Entry, Place};
use bailiwick_types::{LayerName, LimitError, LimitKind, Limits};

use crate::capability::{CapabilityPattern, Shipped};
use crate::host::HostRule;
use crate::{AskWhen, Capability, GuestPath, NetworkMode};

/// A statement and where it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// What was said.
    pub value: T,
    /// The line and column, when it stands in a text.
    pub place: Option<Place>,
    /// Where in the document's structure.
    pub path: DocPath,
    /// The document, where a layer is put together from several; else the layer's own.
    pub document: Option<Arc<str>>,
}

impl<T> Sourced<T> {
    /// A statement that stands in no text: made by the program.
    pub fn built_in(value: T, path: &str) -> Self {
        Self { value, place: None, path: DocPath::root().field(path), document: None }
    }

    /// A statement read from an entry of a document.
    pub fn read(entry: &Entry<'_>, value: T) -> Self {
        Self { value, place: Some(entry.node.place), path: entry.path.clone(), document: None }
    }

    /// Says which document it stands in.
    #[must_use]
    pub fn in_document(mut self, document: &Arc<str>) -> Self {
        self.document = Some(document.clone());
        self
    }
}

/// Whose statement, in which document, where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The layer.
    pub layer: LayerName,
    /// What the document is called.
    pub document: Arc<str>,
    /// The line and column.
    pub place: Option<Place>,
    /// Where in the structure.
    pub path: DocPath,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.document)?;
        if let Some(place) = self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        if !self.path.as_str().is_empty() {
            write!(f, " {}", self.path)?;
        }
        write!(f, " [{}]", self.layer)
    }
}

/// One limit that a layer asks for: never zero, never beyond the hard maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitRequest {
    kind: LimitKind,
    value: u64,
}

impl LimitRequest {
    /// Checks a value against the limit's own bounds.
    pub fn new(kind: LimitKind, value: u64) -> Result<Self, LimitError> {
        Limits::shipped_defaults().set(kind, value).map(|()| Self { kind, value })
    }

    /// Which limit.
    pub const fn kind(self) -> LimitKind {
        self.kind
    }

    /// Its value.
    pub const fn value(self) -> u64 {
        self.value
    }
}

/// What one document says about policy. Every field is "says nothing" by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub(crate) name: LayerName,
    pub(crate) document: Arc<str>,
    pub(crate) add_allow: Vec<Sourced<CapabilityPattern>>,
    pub(crate) remove_allow: Vec<Sourced<CapabilityPattern>>,
    pub(crate) add_deny: Vec<Sourced<CapabilityPattern>>,
    pub(crate) remove_deny: Vec<Sourced<CapabilityPattern>>,
    pub(crate) network: Option<Sourced<NetworkMode>>,
    pub(crate) hosts: Vec<Sourced<Arc<HostRule>>>,
    pub(crate) file_read: Option<Sourced<bool>>,
    pub(crate) file_write: Option<Sourced<bool>>,
    pub(crate) destructive: Option<Sourced<bool>>,
    pub(crate) base_path: Option<Sourced<GuestPath>>,
    pub(crate) ask_net: Option<Sourced<AskWhen>>,
    pub(crate) ask_fs: Option<Sourced<AskWhen>>,
    pub(crate) limits: Vec<Sourced<LimitRequest>>,
}

impl Layer {
    /// A layer that says nothing, which is the same as no layer.
    pub fn empty(name: LayerName, document: impl Into<Arc<str>>) -> Self {
        Self {
            name,
            document: document.into(),
            add_allow: Vec::new(),
            remove_allow: Vec::new(),
            add_deny: Vec::new(),
            remove_deny: Vec::new(),
            network: None,
            hosts: Vec::new(),
            file_read: None,
            file_write: None,
            destructive: None,
            base_path: None,
            ask_net: None,
            ask_fs: None,
            limits: Vec::new(),
        }
    }

    /// The same layer with its limits alone.
    #[must_use]
    pub fn only_limits(&self) -> Self {
        Self { limits: self.limits.clone(), ..Self::empty(self.name.clone(), self.document.clone()) }
    }

    /// The baseline the program ships: what the registry says, no network, no files.
    pub fn shipped_baseline() -> Self {
        let listed = |wanted: Shipped, path: &str| {
            Capability::ALL
                .iter()
                .filter(|capability| capability.shipped() == wanted)
                .map(|capability| Sourced::built_in(CapabilityPattern::exact(*capability), path))
                .collect()
        };
        let mut layer = Self::empty(LayerName::Baseline, "built-in");
        layer.add_allow = listed(Shipped::Allowed, "policy.allow");
        layer.add_deny = listed(Shipped::DenyEntry, "policy.deny");
        layer.network = Some(Sourced::built_in(NetworkMode::Blocked, "policy.network"));
        layer
    }

    /// Which layer it is.
    pub const fn name(&self) -> &LayerName {
        &self.name
    }

    /// What its document is called.
    pub fn document(&self) -> &str {
        &self.document
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        let nothing = Self::empty(self.name.clone(), self.document.clone());
        *self == nothing
    }

    /// The full source of one of its statements.
    pub(crate) fn source<T>(&self, statement: &Sourced<T>) -> Source {
        Source {
            layer: self.name.clone(),
            document: statement.document.as_ref().unwrap_or(&self.document).clone(),
            place: statement.place,
            path: statement.path.clone(),
        }
    }

    /// This layer with another's statements added: lists are appended to, other statements replaced.
    #[must_use]
    pub(crate) fn merged_with(&self, more: &Self) -> Self {
        fn joined<T: Clone>(mine: &[T], more: &[T]) -> Vec<T> {
            mine.iter().chain(more).cloned().collect()
        }
        let Self {
            name,
            document,
            add_allow,
            remove_allow,
            add_deny,
            remove_deny,
            network,
            hosts,
            file_read,
            file_write,
            destructive,
            base_path,
            ask_net,
            ask_fs,
            limits,
        } = self;
        Self {
            name: name.clone(),
            document: document.clone(),
            add_allow: joined(add_allow, &more.add_allow),
            remove_allow: joined(remove_allow, &more.remove_allow),
            add_deny: joined(add_deny, &more.add_deny),
            remove_deny: joined(remove_deny, &more.remove_deny),
            network: more.network.clone().or_else(|| network.clone()),
            hosts: joined(hosts, &more.hosts),
            file_read: more.file_read.clone().or_else(|| file_read.clone()),
            file_write: more.file_write.clone().or_else(|| file_write.clone()),
            destructive: more.destructive.clone().or_else(|| destructive.clone()),
            base_path: more.base_path.clone().or_else(|| base_path.clone()),
            ask_net: more.ask_net.clone().or_else(|| ask_net.clone()),
            ask_fs: more.ask_fs.clone().or_else(|| ask_fs.clone()),
            limits: joined(limits, &more.limits),
        }
    }
}
