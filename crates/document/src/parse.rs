//! Text to tree, within bounds.

use crate::{Node, Place, Problem, Problems, toml_tree, yaml_tree};

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2, which JSON is a part of.
    Yaml,
    /// TOML.
    Toml,
}

/// How much a document may ask of us. Checked before and while reading, so a bomb costs no more than a
/// document of the largest allowed size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of text.
    pub bytes: usize,
    /// Lists and maps within each other.
    pub depth: usize,
    /// Values in all.
    pub nodes: usize,
}

impl Bounds {
    /// For what people write by hand: policies, overrides, the operator's file.
    pub const WRITTEN_BY_HAND: Self = Self { bytes: 1 << 20, depth: 32, nodes: 50_000 };
}

/// Reads a text into a tree. `name` is what messages call the document.
///
/// ```
/// use bailiwick_document::{parse, Bounds, Format};
/// let tree = parse("o.yaml", "network: strict", Format::Yaml, Bounds::WRITTEN_BY_HAND)?;
/// assert_eq!(tree.get("network").unwrap().place.column, 10);
/// # Ok::<(), bailiwick_document::Problems>(())
/// ```
pub fn parse(name: &str, text: &str, format: Format, bounds: Bounds) -> Result<Node, Problems> {
    if text.len() > bounds.bytes {
        let problem = Problem::at(
            Place::START,
            format!("the document has {} bytes; at most {} are read", text.len(), bounds.bytes),
        )
        .with_hint("shorten it, or check that it is the document you mean");
        return Err(Problems::one(name, problem));
    }
    // A byte-order mark is not content.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tree = match format {
        Format::Yaml => yaml_tree::read(text, bounds),
        Format::Toml => toml_tree::read(text, bounds),
    };
    tree.map_err(|problem| Problems::one(name, problem))
}

/// Counts depth and nodes while a tree is built, and says which bound was crossed.
pub(crate) struct Meter {
    bounds: Bounds,
    nodes: usize,
}

impl Meter {
    pub(crate) const fn new(bounds: Bounds) -> Self {
        Self { bounds, nodes: 0 }
    }

    pub(crate) fn node(&mut self, place: Place) -> Result<(), Problem> {
        self.nodes += 1;
        if self.nodes > self.bounds.nodes {
            let message = format!("the document holds more than {} values", self.bounds.nodes);
            return Err(Problem::at(place, message).with_hint("keep what is used, or split it"));
        }
        Ok(())
    }

    pub(crate) fn depth(&self, depth: usize, place: Place) -> Result<(), Problem> {
        if depth > self.bounds.depth { Err(self.too_deep(place)) } else { Ok(()) }
    }

    pub(crate) fn too_deep(&self, place: Place) -> Problem {
        let message = format!("lists and maps are nested more than {} deep", self.bounds.depth);
        Problem::at(place, message).with_hint("no document needs this; is a bracket left open?")
    }
}
