//! Who asks for an action, who hears what happens meanwhile, and who answers when a person has to be asked.

use std::pin::Pin;
use std::sync::Arc;

use bailiwick_types::{ApprovalId, CallId, CorrelationId, KeyId, LogLine, Risk, Scope, Scopes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::{KeyLine, TestLine, ToolLine, Waiting};
use crate::sandboxes::SandboxChange;
use crate::talk::{Mute, Talk};

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
    /// The action waits for a person.
    Waiting(Box<Waiting>),
    /// It still does, every ten seconds.
    StillWaiting {
        /// The question.
        id: ApprovalId,
        /// For so long, in milliseconds.
        waited_ms: u64,
        /// Milliseconds that are left.
        remaining_ms: u64,
    },
    /// Something happened that whoever watches is told.
    Happened(Box<Happening>),
}

/// Something that happened, whoever caused it.
#[expect(clippy::large_enum_variant, reason = "it is told in a box or shared, never moved about by itself")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", content = "with", rename_all = "camelCase")]
pub enum Happening {
    /// A question waits for a person.
    Asked(Waiting),
    /// A question waits no more.
    Answered(Settled),
    /// A tool was added or changed.
    Tool(ToolChange),
    /// A key was revoked or has expired: whoever watches by it goes.
    KeyGone(KeyLine),
    /// Something was done to a sandbox that is kept.
    Sandbox(SandboxChange),
    /// A record was made.
    Record(Value),
    /// So many happenings were missed, since whoever watches was too slow.
    Missed(u64),
}

impl Happening {
    /// Whether a watcher with these may be told.
    pub fn is_for(&self, scopes: Scopes, key: Option<KeyId>) -> bool {
        match self {
            Self::Sandbox(change) => change.is_for(scopes, key),
            other => other.needs().is_none_or(|scope| scopes.covers(scope)),
        }
    }

    /// The scope that a watcher must have to be told; none for everybody. Of sandboxes only the operator is told by a scope,
    /// and whoever made one by their key.
    pub const fn needs(&self) -> Option<Scope> {
        match self {
            Self::Asked(_) | Self::Answered(_) => Some(Scope::Approve),
            Self::Record(_) | Self::KeyGone(_) | Self::Sandbox(_) => Some(Scope::Operate),
            Self::Tool(change) if change.is_published || change.was_published => None,
            Self::Tool(_) => Some(Scope::Author),
            Self::Missed(_) => None,
        }
    }
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// The question.
    pub id: ApprovalId,
    /// The tool.
    pub tool: String,
    /// `yes`, `no`, `nobody`, `nothing` (the deadline), `withdrawn` (the caller went away).
    pub answer: String,
    /// Who answered.
    pub by: Option<String>,
}

/// A change of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolChange {
    /// What was done, as the record calls it: `tool.publish`.
    pub action: String,
    /// The tool afterwards; none when it is gone.
    pub tool: Option<ToolLine>,
    /// Its name.
    pub name: String,
    /// Whether it can be called now.
    pub is_published: bool,
    /// Whether it could be called before.
    pub was_published: bool,
    /// The name by which it could be called before.
    pub published_as: Option<String>,
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
    /// SHA-256 of what its pass covers, or of code that is no tool.
    pub hash: Option<String>,
    /// SHA-256 of the policy it would run under.
    pub policy_hash: String,
    /// The call that waits.
    pub call_id: CallId,
    /// What the tool's author wants the person to read, filled in.
    pub prompt: Option<String>,
    /// The badge with its reasons.
    pub risk: Risk,
    /// The code that would run, where it is no tool.
    pub code: Option<String>,
    /// The arguments, redacted.
    pub arguments: Value,
    /// The workspace that the call names; none where it has its tool's own.
    pub workspace: Option<String>,
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
    /// What their credentials cover.
    pub scopes: Scopes,
    /// The key they showed.
    pub key: Option<KeyId>,
    /// Who answers for them, beside those who watch the queue.
    pub approver: Arc<dyn Approver>,
    /// Who hears what happens.
    pub listener: Arc<dyn Listener>,
    /// Who talks with a command that they run.
    pub talk: Arc<dyn Talk>,
    /// Where it was asked.
    pub origin: Origin,
}

/// How far a caller is trusted with what all callers share: memory, connections, disk. Each rank leaves a reserve for those
/// above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rank {
    /// Without a key or a token.
    Keyless,
    /// With a key or a token that does not cover `operate`.
    Keyed,
    /// With what covers `operate`: the operator.
    Operator,
}

impl Rank {
    /// The rank of credentials.
    pub const fn of(scopes: Scopes, is_keyed: bool) -> Self {
        if scopes.covers(Scope::Operate) {
            Self::Operator
        } else if is_keyed {
            Self::Keyed
        } else {
            Self::Keyless
        }
    }
}

/// Where somebody asks: that decides whose word a path of the host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// Over a wire: HTTP, MCP, or anything that does not say.
    #[default]
    Wire,
    /// Typed by the operator's own user on this machine.
    Typed,
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { actor, scopes, key, approver: _, listener: _, talk: _, origin } = self;
        let mut shown = f.debug_struct("Caller");
        shown.field("actor", actor).field("scopes", scopes).field("key", key).field("origin", origin);
        shown.finish_non_exhaustive()
    }
}

impl Caller {
    /// A caller whom nobody answers for and who hears nothing, with all scopes: the operator's own user.
    pub fn alone(actor: Actor) -> Self {
        Self::covering(actor, Scopes::ALL)
    }

    /// How far they are trusted with what all callers share.
    pub const fn rank(&self) -> Rank {
        Rank::of(self.scopes, self.key.is_some() || self.actor.key.is_some())
    }

    /// A caller whose credentials cover this much.
    pub fn covering(actor: Actor, scopes: Scopes) -> Self {
        Self {
            actor,
            scopes,
            key: None,
            approver: Arc::new(NoApprover),
            listener: Arc::new(Deaf),
            talk: Arc::new(Mute),
            origin: Origin::Wire,
        }
    }
}
