//! What is put on the record: one thing that was meant, done, decided or changed.
//!
//! An entry holds only what was redacted before; this crate looks at no value.

use bailiwick_types::{CallId, CorrelationId, Risk, ToolId, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What kind of thing is on the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What is about to be done, before its first effect.
    Intent,
    /// How it ended, before the reply.
    Outcome,
    /// What a person or a rule decided.
    Decision,
    /// A change of the catalogue, the policy or the record itself.
    Change,
}

impl Kind {
    /// The name, as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Intent => "intent",
            Self::Outcome => "outcome",
            Self::Decision => "decision",
            Self::Change => "change",
        }
    }
}

/// Who asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// The name of the key, where one was used.
    pub key: Option<String>,
    /// The client: `cli`, the name an MCP client gave.
    pub client: String,
}

/// Which tool, in which state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRef {
    /// Its id; a file that is not in the catalogue has none.
    pub id: Option<ToolId>,
    /// Its name at that time.
    pub name: String,
    /// The hash of what its pass covers.
    pub hash: Option<String>,
}

/// One entry. Every key is written, `null` where there is nothing to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// What kind of thing.
    pub kind: Kind,
    /// The call it belongs to.
    pub call_id: Option<CallId>,
    /// What ties it to records of other systems.
    pub correlation_id: Option<CorrelationId>,
    /// Who asked.
    pub actor: Actor,
    /// What was asked: `tool.call`, `tool.publish`.
    pub action: String,
    /// The tool it is about.
    pub tool: Option<ToolRef>,
    /// The hash of the effective policy.
    pub policy_hash: Option<String>,
    /// The risk with its reasons.
    pub risk: Option<Risk>,
    /// The arguments, redacted.
    pub arguments: Option<Value>,
    /// How it ended.
    pub outcome: Option<Value>,
    /// What it used.
    pub usage: Option<Usage>,
    /// The decision of whoever was asked.
    pub approval: Option<Value>,
    /// Backend and tier.
    pub backend: Option<Value>,
}

impl Entry {
    /// An entry of which nothing is known but who asked for what.
    pub fn new(kind: Kind, actor: Actor, action: impl Into<String>) -> Self {
        Self {
            kind,
            call_id: None,
            correlation_id: None,
            actor,
            action: action.into(),
            tool: None,
            policy_hash: None,
            risk: None,
            arguments: None,
            outcome: None,
            usage: None,
            approval: None,
            backend: None,
        }
    }
}
