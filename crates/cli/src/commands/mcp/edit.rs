//! A client's file with one entry more, or less. Whatever else is in it stays as it is, byte by byte, and what came out
//! is read again and compared before anybody writes it.

use serde_json::Value;

use super::clients::Format;
use super::{json, toml};

/// What is to become of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    /// It is to be there.
    Put {
        /// The entry.
        entry: &'a Value,
        /// What VS Code asks for, if it refers to that.
        input: Option<&'a Value>,
        /// Whether another entry of the name may go.
        replace: bool,
    },
    /// It is to be gone, with what VS Code asked for under this id.
    Take {
        /// The id.
        input: &'a str,
    },
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edited {
    /// It is so already.
    Same,
    /// The new text.
    Text(String),
}

/// Why a file is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    /// It cannot be read in one way only.
    #[error("it is not plain {format}, so it is left alone: {message}")]
    NotPlain {
        /// JSON or TOML.
        format: &'static str,
        /// What the reader said.
        message: String,
    },
    /// Something is not what the client would take.
    #[error("{place} is not {wanted} there, so it is left alone")]
    Shape {
        /// Where.
        place: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// A name twice: programs differ in which they take.
    #[error("`{key}` is there twice, so it is left alone")]
    Twice {
        /// The name.
        key: String,
    },
    /// There is an entry of this name that is another one.
    #[error("there is another entry `{name}`")]
    Different {
        /// The name.
        name: String,
    },
    /// The rest would not stay as it is.
    #[error("it cannot be changed without changing something else in it, so it is left alone")]
    NotKept,
}

impl EditError {
    /// Whether a person has to change the file by hand.
    pub(super) fn is_for_people(&self) -> bool {
        !matches!(self, Self::Different { .. })
    }

    /// What to do.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Different { .. } => "--replace writes over it; --name NAME adds ours under another name",
            Self::NotPlain { .. } | Self::Shape { .. } | Self::Twice { .. } | Self::NotKept => {
                "change it by hand: `bailiwick mcp config` with the same words prints the entry"
            }
        }
        .to_owned()
    }
}

/// The file with the change; none is as good as empty.
pub(super) fn edit(
    text: Option<&str>,
    format: Format,
    name: &str,
    change: Change<'_>,
) -> Result<Edited, EditError> {
    match format {
        Format::Json(servers) => json::edit(text.unwrap_or_default(), servers, name, change),
        Format::Toml(servers) => toml::edit(text.unwrap_or_default(), servers, name, change),
    }
}

#[cfg(test)]
mod tests;
