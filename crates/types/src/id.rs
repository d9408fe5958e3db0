//! Ids and names as types, so that a call id is never taken for a tool id.
//!
//! Making a fresh id needs a clock and random bytes; both are arguments here, because this crate has
//! neither.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::shortened;

/// Why a text is not an id or a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Not a UUID.
    #[error("`{text}` is not {} {kind}: it must be a UUID", article(kind))]
    NotUuid {
        /// What it should have been.
        kind: &'static str,
        /// What was given, shortened.
        text: String,
    },
    /// Not a slug.
    #[error(
        "`{text}` is not a {kind}: it must begin with a-z, go on with a-z, 0-9, `_` or `-`, and have at most 64 characters"
    )]
    NotSlug {
        /// What it should have been.
        kind: &'static str,
        /// What was given, shortened.
        text: String,
    },
    /// A correlation id with other characters or another length.
    #[error("a correlation id must have 1 to 128 characters of visible ASCII")]
    NotCorrelation,
}

/// `a` or `an`, as it is spoken before this word.
fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" }
}

macro_rules! uuid_ids {
    ($($(#[$doc:meta])* $name:ident $kind:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(uuid::Uuid);

        impl $name {
            /// A new id (UUID version 7) from the given time and random bytes.
            pub fn from_parts(unix_millis: u64, random: &[u8; 10]) -> Self {
                Self(uuid::Builder::from_unix_timestamp_millis(unix_millis, random).into_uuid())
            }

            /// Reads an id back.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                uuid::Uuid::try_parse(text)
                    .map(Self)
                    .map_err(|_| IdError::NotUuid { kind: $kind, text: shortened(text) })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    )+};
}

uuid_ids! {
    /// One execution of a tool or a snippet.
    CallId "call id";
    /// A tool, stable through a rename.
    ToolId "tool id";
    /// A command sandbox.
    SandboxId "sandbox id";
    /// The state of a sandbox's files, kept.
    SnapshotId "snapshot id";
    /// A question put to a person, and the yes to it that is remembered.
    ApprovalId "approval id";
    /// A key of the server.
    KeyId "key id";
}

macro_rules! slugs {
    ($($(#[$doc:meta])* $name:ident $kind:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "Cow<'_, str>", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks the form `[a-z][a-z0-9_-]{0,63}`.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                if is_slug(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError::NotSlug { kind: $kind, text: shortened(text) })
                }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<Cow<'_, str>> for $name {
            type Error = IdError;

            fn try_from(text: Cow<'_, str>) -> Result<Self, IdError> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

slugs! {
    /// The name under which a tool is published.
    ToolName "tool name";
    /// The name of a policy profile.
    ProfileName "profile name";
    /// The name of a key of the server.
    KeyName "key name";
}

fn is_slug(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 64
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}

/// What ties records of several systems together; chosen by the caller, so its form is checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Cow<'_, str>", into = "String")]
pub struct CorrelationId(String);

impl CorrelationId {
    /// Accepts 1 to 128 characters of visible ASCII, so that it can stand in a header and a log line.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        if (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(IdError::NotCorrelation)
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<CallId> for CorrelationId {
    /// A call that nobody tied to anything is tied to itself.
    fn from(call: CallId) -> Self {
        Self(call.to_string())
    }
}

impl From<SandboxId> for CorrelationId {
    /// What happens in a sandbox that nobody tied to anything is tied to the sandbox.
    fn from(sandbox: SandboxId) -> Self {
        Self(sandbox.to_string())
    }
}

impl TryFrom<Cow<'_, str>> for CorrelationId {
    type Error = IdError;

    fn try_from(text: Cow<'_, str>) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<CorrelationId> for String {
    fn from(id: CorrelationId) -> Self {
        id.0
    }
}

impl std::fmt::Display for CorrelationId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
