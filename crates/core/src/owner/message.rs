//! What is said over the socket, and what an action is to whoever carries it.
//!
//! The owner greets with [`Hello`], whose fields never change, so that programs of any two versions can tell each other
//! apart. Then a client asks, and the owner says `taken` before it begins: what was not taken was not begun.

use bailiwick_sandbox::Stream;
use bailiwick_types::Scopes;
use serde::{Deserialize, Serialize};

use super::streams::{Packed, Told};
use crate::{Action, Answer, Event, Origin, Question, Refusal, Reply};

/// The language spoken here. Another number is another language.
pub(crate) const PROTOCOL: u32 = 4;

/// What an owner grants whoever can open its socket: they are the operator's own user, who could open the store as well.
pub(crate) const GRANTED: Scopes = Scopes::ALL;

/// The first message of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// What it speaks.
    pub(crate) protocol: u32,
    /// Which version of the program it is.
    pub(crate) version: String,
    /// Its process.
    pub(crate) pid: u32,
}

impl Hello {
    /// What this process says.
    pub(crate) fn ours() -> Self {
        Self { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned(), pid: std::process::id() }
    }
}

/// What an owner says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum FromOwner {
    /// From here on the action may have begun.
    Taken { id: u64 },
    /// Something happened.
    Event { id: u64, event: Box<Event> },
    /// A person is to be asked.
    Question { id: u64, n: u64, question: Box<Question> },
    /// Nobody waits for that answer any more.
    Withdrawn { id: u64, n: u64 },
    /// A command said something. The client says when it took it.
    Output { id: u64, stream: Stream, bytes: Packed },
    /// So much of what a command was told was taken.
    Took { id: u64, bytes: usize },
    /// The action is over; where it was not taken, it did not begin.
    Done { id: u64, result: Box<Result<Reply, Refusal>> },
    /// The connection ends, for this reason.
    Bye { refusal: Refusal },
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum FromClient {
    /// Asks for an action, by somebody who wants to be held to these scopes. They narrow what the owner grants, and
    /// never widen it.
    Ask { id: u64, actor_client: String, scopes: Scopes, origin: Origin, action: Box<Action> },
    /// Answers a question.
    Answer { id: u64, n: u64, answer: Answer },
    /// Tells a command something.
    Told { id: u64, told: Told },
    /// So much of what a command said was taken.
    Took { id: u64, bytes: usize },
    /// Wants nothing more of an action.
    Cancel { id: u64 },
}

/// What becomes of an action when whoever asked is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It changes nothing: it is dropped, and may be asked again.
    Reads,
    /// It runs code: it is dropped, its cells are killed, and it is not asked again.
    Runs,
    /// It changes something: once it began it is finished, and it is not asked again.
    Writes,
}

impl Nature {
    pub(crate) const fn of(action: &Action) -> Self {
        match action {
            Action::Under
            | Action::ToolList { .. }
            | Action::ToolOffered { .. }
            | Action::ToolShow { .. }
            | Action::ToolCheck { .. }
            | Action::ToolExport { .. }
            | Action::ToolPolicy { .. }
            | Action::CodeCheck { .. }
            | Action::Limits
            | Action::ApprovalList
            | Action::ApprovalRemembered
            | Action::KeyList
            | Action::SecretList
            | Action::Watch
            | Action::AuditTail { .. }
            | Action::AuditPage { .. }
            | Action::AuditShow { .. }
            | Action::AuditVerify
            | Action::AuditExport { .. }
            | Action::SandboxList
            | Action::SandboxShow { .. }
            | Action::SandboxDiff { .. }
            | Action::SandboxPorts { .. }
            | Action::SnapshotList
            | Action::ImageList
            | Action::ExecPoll { .. }
            | Action::ExecList { .. } => Self::Reads,
            Action::SandboxFiles { wish, .. } if wish.only_reads() => Self::Reads,
            Action::ToolTry { .. }
            | Action::ToolTest { .. }
            | Action::ToolCall { .. }
            | Action::CodeRun(_)
            | Action::SandboxExec(_)
            // A person may be asked first, and whoever goes away takes the question along.
            | Action::AgentUse(_) => Self::Runs,
            Action::ApprovalAnswer { .. }
            | Action::ApprovalForget { .. }
            | Action::KeyCreate(_)
            | Action::KeyRevoke { .. }
            | Action::ToolImport { .. }
            | Action::ToolReplace { .. }
            | Action::ToolPublish { .. }
            | Action::ToolPublishDocument { .. }
            | Action::ToolUnpublish { .. }
            | Action::ToolRemove { .. }
            | Action::RunBegins(_)
            | Action::RunEnded(_)
            | Action::SandboxCommit { .. }
            | Action::SandboxDiscard { .. }
            | Action::AuditRetain { .. }
            | Action::SandboxCreate(_)
            | Action::SandboxFiles { .. }
            | Action::SandboxSnapshot { .. }
            | Action::SnapshotForget { .. }
            | Action::SandboxHibernate { .. }
            | Action::SandboxResume { .. }
            | Action::SandboxFork { .. }
            | Action::SandboxStop { .. }
            | Action::SandboxRemove { .. }
            | Action::ImagePull { .. }
            | Action::ImageImport { .. }
            | Action::ImageRemove { .. }
            | Action::SandboxExpose { .. }
            | Action::ExecStart(_)
            | Action::ExecKill { .. }
            | Action::ExecBegins(_)
            | Action::ExecEnded(_) => Self::Writes,
        }
    }
}

/// Whether the operator's settings decide what becomes of an action.
pub(crate) const fn is_governed(action: &Action) -> bool {
    matches!(
        action,
        Action::ToolCheck { .. }
            | Action::ToolTry { .. }
            | Action::ToolTest { .. }
            | Action::ToolPublish { .. }
            | Action::ToolPublishDocument { .. }
            | Action::ToolCall { .. }
            | Action::ToolPolicy { .. }
            | Action::CodeRun(_)
            | Action::CodeCheck { .. }
            | Action::Limits
            | Action::SandboxCreate(_)
            | Action::SandboxExec(_)
            | Action::ImagePull { .. }
            | Action::ImageImport { .. }
            | Action::ExecStart(_)
            | Action::AgentUse(_)
    )
}

/// Who a client says it is, as it goes on the record: visible characters only, and no room for a second `uid=`.
pub(crate) fn visible(says: &str) -> String {
    const MOST: usize = 64;
    let clean: String = says.chars().take(MOST).map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect();
    if clean.is_empty() { "unnamed".to_owned() } else { clean }
}
