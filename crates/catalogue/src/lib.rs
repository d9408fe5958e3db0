//! The tools that ship with Bailiwick, inside of the program, and which of them a preset names.
//!
//! Texts and names, nothing more: what a document means is for whoever takes it in, and that by the same way as any other.

use std::collections::BTreeMap;

use bailiwick_document::{Bounds, Format, Problems, Value, parse};

const PRESETS: &str = "presets.yaml";
const SUFFIX: &str = ".tool.yaml";

/// The folder `catalogue`, as it was when the program was built.
#[derive(rust_embed::Embed)]
#[folder = "../../catalogue"]
#[include = "*.yaml"]
struct Shipped;

/// A document that ships.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The name of its file.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Why a preset cannot be given.
#[derive(Debug, thiserror::Error)]
pub enum PresetError {
    /// There is none of that name.
    #[error("there is no preset `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The list of presets is damaged.
    #[error("the list of presets cannot be read: {0}")]
    Damaged(Problems),
    /// A preset names what does not ship.
    #[error("the preset names `{0}`, which does not ship")]
    Missing(String),
}

/// The tools of a preset, in the order that it names them.
pub fn preset(name: &str) -> Result<Vec<Document>, PresetError> {
    let mut presets = presets()?;
    match presets.remove(name) {
        Some(tools) => tools.iter().map(|tool| document(tool)).collect(),
        None => Err(PresetError::Unknown { name: name.to_owned(), known: presets.into_keys().collect() }),
    }
}

/// Every preset with the names of its tools.
pub fn presets() -> Result<BTreeMap<String, Vec<String>>, PresetError> {
    let text = text(PRESETS).ok_or_else(|| PresetError::Missing(PRESETS.to_owned()))?;
    let tree = parse(PRESETS, &text, Format::Yaml, Bounds::WRITTEN_BY_HAND).map_err(PresetError::Damaged)?;
    let Value::Map(presets) = tree.value else { return Ok(BTreeMap::new()) };
    let names = |value: &Value| match value {
        Value::List(list) => list
            .iter()
            .filter_map(|node| match &node.value {
                Value::Text(name) => Some(name.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    Ok(presets.iter().map(|(key, node)| (key.text.clone(), names(&node.value))).collect())
}

/// The document of one tool.
fn document(tool: &str) -> Result<Document, PresetError> {
    let file = format!("{tool}{SUFFIX}");
    let is_meant = |path: &str| path.rsplit('/').next() == Some(&file);
    let missing = || PresetError::Missing(tool.to_owned());
    let path = Shipped::iter().find(|path| is_meant(path)).ok_or_else(missing)?;
    let text = text(&path).ok_or_else(missing)?;
    Ok(Document { name: file, text })
}

fn text(path: &str) -> Option<String> {
    let file = Shipped::get(path)?;
    String::from_utf8(file.data.into_owned()).ok()
}

#[cfg(test)]
mod tests;
