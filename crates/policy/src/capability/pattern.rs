//! Patterns over the registry: `timers`, `crypto.*` (direct children), `crypto.**` (everything below).

use bailiwick_types::{did_you_mean, shortened};

use super::{Capability, CapabilitySet};

/// A pattern of a document, with the capabilities it stands for. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityPattern {
    text: String,
    set: CapabilitySet,
}

/// Why a text is not a capability pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` names no capability")]
pub struct PatternError {
    /// What was written, shortened.
    pub text: String,
    /// What may have been meant.
    pub hint: String,
}

impl CapabilityPattern {
    /// Reads a name or a pattern; one that stands for nothing is a mistake.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let set: CapabilitySet =
            Capability::ALL.iter().copied().filter(|capability| matches(text, capability.name())).collect();
        if set.is_empty() {
            let known = Capability::ALL.iter().map(|capability| capability.name());
            let hint = did_you_mean(text, known, || "`bailiwick limits` lists the capabilities".to_owned());
            return Err(PatternError { text: shortened(text), hint });
        }
        Ok(Self { text: text.to_owned(), set })
    }

    /// A pattern for exactly one capability.
    pub fn exact(capability: Capability) -> Self {
        Self { text: capability.name().to_owned(), set: CapabilitySet::of(capability) }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it stands for.
    pub const fn set(&self) -> CapabilitySet {
        self.set
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern {
        "**" => true,
        "*" => !name.contains('.'),
        _ => {
            if let Some(parent) = pattern.strip_suffix(".**") {
                below(parent, name).is_some()
            } else if let Some(parent) = pattern.strip_suffix(".*") {
                below(parent, name).is_some_and(|rest| !rest.contains('.'))
            } else {
                pattern == name
            }
        }
    }
}

fn below<'a>(parent: &str, name: &'a str) -> Option<&'a str> {
    name.strip_prefix(parent)?.strip_prefix('.')
}
