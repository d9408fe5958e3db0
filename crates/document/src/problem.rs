//! What is wrong with a document: every mistake, each with its place and what to do about it.

use bailiwick_types::shortened;

use crate::Place;

/// Where in a document's structure something is: `hosts[2].port`. The empty path is the document itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct DocPath(String);

impl DocPath {
    /// The document itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path below a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        let shown = shortened(name);
        if self.0.is_empty() { Self(shown) } else { Self(format!("{}.{shown}", self.0)) }
    }

    /// A path below an item of a list, counted from 0.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for DocPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One mistake in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the text, when it has a place.
    pub place: Option<Place>,
    /// Where in the structure.
    pub path: DocPath,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with the text as a whole.
    pub fn at(place: Place, message: impl Into<String>) -> Self {
        Self { place: Some(place), path: DocPath::root(), message: message.into(), hint: None }
    }

    /// Adds what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// All mistakes of one document. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// What the document is called: a file name, `-e`, an environment variable.
    pub document: String,
    /// The mistakes, in the order of the text.
    pub list: Vec<Problem>,
}

impl Problems {
    /// One mistake.
    pub fn one(document: impl Into<String>, problem: Problem) -> Self {
        Self { document: document.into(), list: vec![problem] }
    }

    /// The mistakes of a document in the order of its text, or nothing if there are none.
    pub fn from_list(document: impl Into<String>, mut list: Vec<Problem>) -> Option<Self> {
        if list.is_empty() {
            return None;
        }
        list.sort_by_key(|problem| problem.place);
        Some(Self { document: document.into(), list })
    }
}

impl std::fmt::Display for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&self.document)?;
            if let Some(place) = problem.place {
                write!(f, ":{}:{}", place.line, place.column)?;
            }
            write!(f, ": {}", problem.message)?;
            if let Some(hint) = &problem.hint {
                write!(f, " ({hint})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
