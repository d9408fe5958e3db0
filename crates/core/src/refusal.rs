//! Why an action was not done, as every door tells it.

use bailiwick_store::{StoreError, WriteError};
use bailiwick_tool::lifecycle;
use bailiwick_types::ErrorCode;
use serde::{Deserialize, Serialize};

/// Why an action was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct Refusal {
    /// What kind of refusal.
    pub code: ErrorCode,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Every mistake, where a document has some.
    pub faults: Vec<Fault>,
}

/// One mistake in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// The document.
    pub document: String,
    /// Where in its tree: `params[0].type`. Empty for the document as a whole.
    pub path: String,
    /// The line, counted from 1; 0 when there is no place.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub hint: Option<String>,
}

impl Refusal {
    /// A fault of ours, in this action.
    pub(crate) fn internal(what: &str) -> Self {
        Self::new(
            ErrorCode::Internal,
            format!("a fault of Bailiwick itself, in `{what}`; nothing else is touched by it"),
        )
        .with_hint("what ran is on the record: bailiwick audit tail")
    }

    /// A document or an answer that breaks a rule.
    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Validation, message)
    }

    /// A refusal with a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, faults: Vec::new() }
    }

    /// With what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With mistakes in documents.
    #[must_use]
    pub fn with_faults(mut self, faults: Vec<Fault>) -> Self {
        self.faults = faults;
        self
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let refusal = Self::new(error.code(), error.to_string());
        error.hint().into_iter().fold(refusal, Self::with_hint)
    }
}

impl<E: Into<Self>> From<WriteError<E>> for Refusal {
    fn from(error: WriteError<E>) -> Self {
        match error {
            WriteError::Job(error) => error.into(),
            WriteError::Store(error) => error.into(),
            WriteError::Panicked => Self::internal("a write"),
        }
    }
}

impl From<lifecycle::Refused> for Refusal {
    fn from(refused: lifecycle::Refused) -> Self {
        Self::new(ErrorCode::Conflict, refused.to_string()).with_hint(refused.hint)
    }
}
