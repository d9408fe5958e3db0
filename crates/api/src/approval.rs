//! Questions that wait for a person, what is answered, and what of it holds on.

use bailiwick_core::Action;
use bailiwick_types::{ApprovalId, CallId, CorrelationId, Risk};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::schema;
use crate::shape::{shape, words};

shape! {
    /// Who asks, as the record names them.
    #[derive(Eq)]
    Actor of bailiwick_core::Actor {
        /// The key they showed, by its name; null where none is needed.
        key: Option<String>,
        /// The program they use.
        client: String,
    }
}

shape! {
    /// One effect that waits for a yes.
    EffectAsked of bailiwick_core::EffectAsked {
        /// The capability.
        capability: String,
        /// The effect in one line.
        effect: String,
        /// The layer that wants a person asked.
        layer: String,
    }
}

shape! {
    /// What a person is asked.
    Question of bailiwick_core::Question {
        /// The tool's name, or what is run.
        tool: String,
        /// SHA-256 of what its pass covers, or of code that is no tool.
        hash: Option<String>,
        /// SHA-256 of the policy it would run under.
        policy_hash: String,
        /// The call that waits.
        #[schema(value_type = schema::Uuid)]
        call_id: CallId,
        /// What the tool's author wants the person to read.
        prompt: Option<String>,
        /// The badge with its reasons.
        #[schema(value_type = schema::Risk)]
        risk: Risk,
        /// The code that would run, where it is no tool.
        code: Option<String>,
        /// The arguments, redacted.
        arguments: Value,
        /// The workspace that the call names; null where it has its tool's own.
        workspace: Option<String>,
        /// Who asks.
        actor: Actor,
        /// What caused the call.
        #[schema(value_type = String)]
        correlation_id: CorrelationId,
        /// One effect of a call that already runs; null where the whole call waits.
        effect: Option<EffectAsked>,
        /// How long the answer may take, in milliseconds.
        deadline_ms: u64,
    }
}

shape! {
    /// The last yes to a call of a tool.
    LastYes of bailiwick_core::LastYes {
        /// Its arguments, redacted.
        arguments: Value,
        /// When, RFC 3339.
        at: String,
        /// Who said it.
        by: String,
        /// What its pass covered then, by hash.
        hash: Option<String>,
    }
}

shape! {
    /// A question that waits for a person.
    Waiting of bailiwick_core::Waiting {
        /// Its id.
        #[schema(value_type = schema::Uuid)]
        id: ApprovalId,
        /// What is asked.
        question: Question,
        /// Since when, RFC 3339.
        asked_at: String,
        /// Until when, RFC 3339. Then it is a no.
        deadline_at: String,
        /// Milliseconds that are left.
        remaining_ms: u64,
        /// The call of this tool that a person last said yes to.
        last: Option<LastYes>,
    }
}

words! {
    /// For what a remembered yes holds: always for this tool as it is, under the policy it has.
    RememberedFor of bailiwick_core::RememberedFor {
        /// Calls with identical arguments, by whoever asked this time.
        Arguments,
        /// Every call with the key that asked.
        Key,
    }
}

shape! {
    /// For how long, and for what, a yes holds beyond the call it was said to.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    Remember of bailiwick_core::Remember {
        /// For what.
        what: RememberedFor,
        /// For so many minutes.
        #[schema(minimum = 1)]
        minutes: u32,
    }
}

shape! {
    /// A yes that holds beyond its call.
    RememberedYes of bailiwick_core::RememberedYes {
        /// The question it was said to.
        #[schema(value_type = schema::Uuid)]
        id: ApprovalId,
        /// The tool.
        tool: String,
        /// What its pass covered, by hash.
        hash: String,
        /// Its policy, by hash.
        policy_hash: String,
        /// For what it holds.
        what: RememberedFor,
        /// The arguments, redacted; null where it holds for all.
        arguments: Option<Value>,
        /// Whose calls.
        actor: Actor,
        /// Who said it.
        by: String,
        /// When, RFC 3339.
        at: String,
        /// Until when, RFC 3339.
        until: String,
        /// How many calls it let through.
        used: u64,
    }
}

/// Questions that wait, the oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approvals {
    /// Each of them.
    pub approvals: Vec<Waiting>,
}

/// Answers that are remembered, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remembered {
    /// Each of them.
    pub remembered: Vec<RememberedYes>,
}

/// An answer to a question. The first one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// Yes, or no.
    pub answer: AnswerWord,
    /// For how long, and for what, the yes holds beyond this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<Remember>,
}

/// Yes, or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnswerWord {
    /// It may run.
    Yes,
    /// It may not.
    No,
}

impl Answer {
    /// The action that it asks for.
    pub fn action(self, id: ApprovalId) -> Action {
        let Self { answer, remember } = self;
        Action::ApprovalAnswer { id, yes: answer == AnswerWord::Yes, remember: remember.map(Into::into) }
    }
}
