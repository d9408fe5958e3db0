//! Keys, and the names of secrets. A key itself is told once, when it is made; a secret never.

use bailiwick_types::{KeyId, Scopes};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schema;
use crate::shape::{across_by_from, shape};

shape! {
    /// A key, without what opens anything.
    #[derive(Eq)]
    KeyLine of bailiwick_core::KeyLine {
        /// Its id, which is also a part of the key.
        #[schema(value_type = schema::Uuid)]
        id: KeyId,
        /// Its name.
        name: String,
        /// What it covers.
        #[schema(value_type = Vec<schema::Scope>)]
        scopes: Scopes,
        /// When it was made, RFC 3339.
        created_at: String,
        /// Until when it holds.
        expires_at: Option<String>,
        /// Since when it is worthless.
        revoked_at: Option<String>,
        /// When it was last shown, to the minute.
        last_used_at: Option<String>,
        /// Requests a second that it may make, where that is its own.
        per_second: Option<u32>,
        /// Requests that it may have under way, where that is its own.
        at_once: Option<u32>,
        /// Whether a yes in the dialogue of its MCP client counts as a person's answer, up to `approvals.elicitation`.
        dialogue: bool,
    }
}

/// A key that was made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyMade {
    /// As in a list.
    #[serde(flatten)]
    pub line: KeyLine,
    /// The key itself. It is told this once.
    pub key: String,
}

impl std::fmt::Debug for KeyMade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyMade").field("line", &self.line).finish_non_exhaustive()
    }
}

impl From<bailiwick_core::KeyMade> for KeyMade {
    fn from(made: bailiwick_core::KeyMade) -> Self {
        let bailiwick_core::KeyMade { line, key } = made;
        Self { line: line.into(), key }
    }
}

impl From<KeyMade> for bailiwick_core::KeyMade {
    fn from(made: KeyMade) -> Self {
        let KeyMade { line, key } = made;
        Self { line: line.into(), key }
    }
}

across_by_from!(KeyMade, bailiwick_core::KeyMade);

shape! {
    /// A key that somebody wants.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    KeyWish of bailiwick_core::KeyWish {
        /// What it is called in records, unlike every other.
        name: String,
        /// What it covers.
        #[schema(value_type = Vec<schema::Scope>)]
        scopes: Scopes,
        /// For how long it holds, in seconds; for as long as nobody revokes it where this is not said.
        #[serde(default)]
        expires_in_s: Option<u64>,
        /// Requests a second that it may make in the long run; what the operator's file says where this is not said.
        #[serde(default)]
        per_second: Option<u32>,
        /// Requests that it may have under way; what the operator's file says where this is not said.
        #[serde(default)]
        at_once: Option<u32>,
        /// Whether a yes in the dialogue of its MCP client counts as a person's answer, up to `approvals.elicitation`.
        /// It needs the scope `call`.
        #[serde(default)]
        dialogue: bool,
    }
}

/// Keys, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Keys {
    /// Each of them.
    pub keys: Vec<KeyLine>,
}

shape! {
    /// The name of a secret.
    #[derive(Eq)]
    SecretLine of bailiwick_core::SecretLine {
        /// Its name.
        name: String,
        /// Where it comes from: `store` or `environment`.
        from: String,
        /// When it was set, RFC 3339; null where that is not known.
        set_at: Option<String>,
    }
}

/// The names of the secrets that are set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Secrets {
    /// Each of them.
    pub secrets: Vec<SecretLine>,
}
