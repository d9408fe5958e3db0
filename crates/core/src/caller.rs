//! Who asks for an action, who hears what happens meanwhile, and who answers when a person has to be asked.

use std::pin::Pin;
use std::sync::Arc;

use bailiwick_types::{CorrelationId, LogLine, Risk};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::TestLine;

/// Who asks, as the record names them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// The key they showed, by its name; none where none is needed.
    pub key: Option<String>,
    /// The program they use: `cli`.
    pub client: String,
}

/// Something that happens while an action is performed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// A console line of the code, redacted.
    Log(LogLine),
    /// A test that ended.
    Test {
        /// The tool it belongs to.
        tool: String,
        /// The test.
        line: Box<TestLine>,
    },
    /// How far a long action is.
    Progress {
        /// Done so far.
        done: u64,
        /// Of so many; none when that is not known.
        of: Option<u64>,
    },
}

/// Hears what happens while an action is performed.
pub trait Listener: Send + Sync {
    /// Takes one event. Must not block.
    fn hear(&self, event: Event);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deaf;

impl Listener for Deaf {
    fn hear(&self, _event: Event) {}
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The tool's name, or what is run.
    pub tool: String,
    /// SHA-256 of what its pass covers; none for code that is no tool.
    pub hash: Option<String>,
    /// What the tool's author wants the person to read, filled in.
    pub prompt: Option<String>,
    /// The badge with its reasons.
    pub risk: Risk,
    /// The arguments, redacted.
    pub arguments: Value,
    /// Who asks.
    pub actor: Actor,
    /// What caused the call.
    pub correlation_id: CorrelationId,
    /// One effect of a call that already runs; none when the whole call waits.
    pub effect: Option<EffectAsked>,
    /// How long the answer may take, in milliseconds.
    pub deadline_ms: u64,
}

/// One effect that waits for a yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectAsked {
    /// The capability.
    pub capability: String,
    /// The effect in one line.
    pub effect: String,
    /// The layer that wants a person asked.
    pub layer: String,
}

/// What came back. Everything but [`Answer::Yes`] is a no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// A person said yes.
    Yes {
        /// Who or where: `terminal`.
        by: String,
    },
    /// A person said no.
    No {
        /// Who or where.
        by: String,
    },
    /// Nobody could be asked.
    Nobody,
}

/// Somebody who can be asked.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer. The deadline is kept by whoever asks.
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>>;
}

/// Nobody: every question is a no. What an approver is where none was given.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoApprover;

impl Approver for NoApprover {
    fn ask(&self, _question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        Box::pin(std::future::ready(Answer::Nobody))
    }
}

/// Who asks for an action.
#[derive(Clone)]
pub struct Caller {
    /// As the record names them.
    pub actor: Actor,
    /// Who answers for them.
    pub approver: Arc<dyn Approver>,
    /// Who hears what happens.
    pub listener: Arc<dyn Listener>,
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("actor", &self.actor).finish_non_exhaustive()
    }
}

impl Caller {
    /// A caller whom nobody answers for and who hears nothing.
    pub fn alone(actor: Actor) -> Self {
        Self { actor, approver: Arc::new(NoApprover), listener: Arc::new(Deaf) }
    }
}
