//! What code finds and how far it may go. Passed through as the inside tells it; this is only its schema.

use serde_json::Value;
use utoipa::ToSchema;

/// What code finds under the operator's bare policy.
#[derive(Debug, ToSchema)]
pub struct LimitsView {
    /// The names that exist.
    pub globals: Vec<String>,
    /// The names that do not, with a reason.
    pub blocked: Vec<BlockedName>,
    /// The limits, each with its ceiling: `wallMs` and `wallMsMax`.
    #[schema(value_type = Object)]
    pub limits: Value,
    /// What fetch may do.
    #[schema(value_type = Object)]
    pub fetch: Value,
}

/// A name that is not there.
#[derive(Debug, ToSchema)]
pub struct BlockedName {
    /// The name.
    pub name: String,
    /// The capability that would bring it, if one would.
    pub capability: Option<String>,
    /// Why it is not there.
    pub why: String,
    /// What to do instead.
    pub instead: String,
}
