//! Everything that can be done, as one closed enum. Who asks and what comes back are beside it; how it is done is not.
//!
//! A door (command line, HTTP, MCP, a unix socket) only turns its bytes into one of these. An action carries no
//! authority: what a caller may do is decided where actions are performed.

use bailiwick_types::{ApprovalId, CallId, CorrelationId, ErrorCode, Risk, Scopes, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::sandboxes::{
    AgentWish, Cursor, ExecIntent, ExecOutcome, ExecWish, FileWish, ReviewWish, SandboxWish,
};

/// A document as somebody handed it in: its name says what it is written in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The name of its file, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What can be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Action {
    /// Tells under which settings of the operator actions are performed, by a hash of them.
    Under,
    /// Lists tools by name.
    ToolList {
        /// Begin after this name.
        after: Option<String>,
        /// At most so many.
        limit: u32,
    },
    /// The tools that can be called right now, by name, as a model sees them.
    ToolOffered {
        /// Begin after this name.
        after: Option<String>,
        /// At most so many.
        limit: u32,
    },
    /// Shows one tool, by name or id.
    ToolShow {
        /// Its name or id.
        tool: String,
    },
    /// Looks at a document: its own rules, its code, its texts, its policy. Keeps nothing.
    ToolCheck {
        /// The document.
        document: Document,
    },
    /// Runs a document's tests as a Local Pass would. Keeps nothing.
    ToolTry {
        /// The document.
        document: Document,
        /// Runs without canned answers of their own reach the network.
        live: bool,
    },
    /// Takes documents into the catalogue: all of them, or none.
    ToolImport {
        /// The documents.
        documents: Vec<Document>,
        /// A person confirmed that approval is turned off where it was required.
        approval_off: bool,
    },
    /// Puts a document in the place of a tool of the catalogue, which keeps its id.
    ToolReplace {
        /// Its name or id.
        tool: String,
        /// How often the tool was saved when whoever asks saw it last: with another number nothing is done.
        version: Option<u64>,
        /// The document.
        document: Document,
        /// A person confirmed that approval is turned off where it was required.
        approval_off: bool,
    },
    /// Gives tools as documents.
    ToolExport {
        /// Their names or ids; none for all.
        tools: Vec<String>,
    },
    /// Runs the Local Pass of tools in the catalogue, and keeps it.
    ToolTest {
        /// Which.
        which: Which,
        /// Runs without canned answers of their own reach the network.
        live: bool,
    },
    /// Publishes a tool of the catalogue.
    ToolPublish {
        /// Its name or id.
        tool: String,
        /// With what was said for it.
        reasons: Reasons,
    },
    /// Takes a document in, passes it and publishes it, in one step: nothing changes if any part fails.
    ToolPublishDocument {
        /// The document.
        document: Document,
        /// With what was said for it.
        reasons: Reasons,
        /// A person confirmed that approval is turned off where it was required.
        approval_off: bool,
    },
    /// Takes a tool off the list of published ones.
    ToolUnpublish {
        /// Its name or id.
        tool: String,
    },
    /// Removes a tool from the catalogue.
    ToolRemove {
        /// Its name or id.
        tool: String,
    },
    /// Calls a published tool.
    ToolCall {
        /// Its name or id.
        tool: String,
        /// Its arguments.
        arguments: Map<String, Value>,
        /// What caused the call.
        correlation: Option<CorrelationId>,
        /// The workspace of its files: the caller's own by that name unless `fs.sharedWorkspaces` lists it, else the tool's.
        workspace: Option<String>,
    },
    /// The policy and the badge of a document as it would be kept. Looks at no code and keeps nothing.
    ToolPolicy {
        /// The document.
        document: Document,
    },
    /// Runs code that is no tool, under the operator's bare policy; under a wider one only for whoever may author.
    CodeRun(Box<CodeRun>),
    /// Looks at code that is no tool, without running it.
    CodeCheck {
        /// The code.
        code: Code,
    },
    /// What code finds and how far it may go, under the operator's bare policy.
    Limits,
    /// The questions that wait for a person.
    ApprovalList,
    /// Answers a question. The first answer wins.
    ApprovalAnswer {
        /// Which.
        id: ApprovalId,
        /// Yes, or no.
        yes: bool,
        /// For how long, and for what, the yes holds beyond this call.
        remember: Option<Remember>,
    },
    /// The answers that are remembered.
    ApprovalRemembered,
    /// Forgets a remembered answer.
    ApprovalForget {
        /// Which.
        id: ApprovalId,
    },
    /// Makes a key.
    KeyCreate(KeyWish),
    /// Tells the keys, without what opens anything.
    KeyList,
    /// Makes a key worthless.
    KeyRevoke {
        /// Its id or name.
        key: String,
    },
    /// The names of the secrets that are set.
    SecretList,
    /// Tells what happens, by events, until whoever asked goes away.
    Watch,
    /// Puts a run of code that is no tool on the record, before it begins.
    RunBegins(RunIntent),
    /// Puts how a run ended on the record.
    RunEnded(RunOutcome),
    /// The newest records.
    AuditTail {
        /// At most so many.
        limit: u32,
    },
    /// Makes a sandbox that outlives the command.
    SandboxCreate(Box<SandboxWish>),
    /// The sandboxes that are kept.
    SandboxList,
    /// Shows one, by its id, the beginning of it, or its name.
    SandboxShow {
        /// Which.
        sandbox: String,
    },
    /// Runs a command, in a sandbox of its own or in one that is kept. What it says is told as it comes.
    SandboxExec(Box<ExecWish>),
    /// Reads, writes, lists or removes files of one that is kept.
    SandboxFiles {
        /// Which.
        sandbox: String,
        /// What is to be done.
        wish: FileWish,
    },
    /// Keeps the state of its files.
    SandboxSnapshot {
        /// Which.
        sandbox: String,
    },
    /// The snapshots that are kept.
    SnapshotList,
    /// Forgets a snapshot.
    SnapshotForget {
        /// Which.
        snapshot: String,
    },
    /// Puts one to sleep until it is used again.
    SandboxHibernate {
        /// Which.
        sandbox: String,
    },
    /// Wakes one.
    SandboxResume {
        /// Which.
        sandbox: String,
    },
    /// Makes another one that begins with the state of its files.
    SandboxFork {
        /// Which.
        sandbox: String,
        /// What people call the other.
        name: Option<String>,
    },
    /// Ends what runs in one, politely first; its files are kept.
    SandboxStop {
        /// Which.
        sandbox: String,
    },
    /// Ends one and removes everything of it.
    SandboxRemove {
        /// Which.
        sandbox: String,
    },
    /// Shows what one has changed of folders under its overlays.
    SandboxDiff {
        /// Which.
        sandbox: String,
        /// Which changes.
        wish: ReviewWish,
    },
    /// Writes such changes to the host's folder.
    SandboxCommit {
        /// Which.
        sandbox: String,
        /// Which changes.
        wish: ReviewWish,
    },
    /// Drops such changes.
    SandboxDiscard {
        /// Which.
        sandbox: String,
        /// Which changes.
        wish: ReviewWish,
    },
    /// The images that sandboxes can begin with.
    ImageList,
    /// Fetches an image from its registry.
    ImagePull {
        /// Its name: `debian:12`.
        image: String,
    },
    /// Takes an image in from a file or a folder of this machine.
    ImageImport {
        /// The file or the folder, absolute.
        from: std::path::PathBuf,
        /// The name that it gets.
        name: String,
    },
    /// Forgets an image.
    ImageRemove {
        /// Its name or digest.
        image: String,
    },
    /// Forwards a port of the host's loopback to a port inside of one.
    SandboxExpose {
        /// Which.
        sandbox: String,
        /// The port inside.
        port: u16,
    },
    /// The ports of one that are exposed.
    SandboxPorts {
        /// Which.
        sandbox: String,
    },
    /// Starts a command in one that is kept, and does not wait for it.
    ExecStart(Box<ExecWish>),
    /// What such a command said behind a cursor, and how it ended if it did.
    ExecPoll {
        /// Where it runs.
        sandbox: String,
        /// Which.
        exec: String,
        /// How far its output was read.
        cursor: Cursor,
        /// How long to wait for news, in milliseconds.
        wait_ms: u64,
    },
    /// Ends such a command with everything that it started.
    ExecKill {
        /// Where it runs.
        sandbox: String,
        /// Which.
        exec: String,
    },
    /// The commands of one that nobody waits for.
    ExecList {
        /// Where they run.
        sandbox: String,
    },
    /// What an agent asks for by a native tool, in sandboxes as the operator offers them.
    AgentUse(Box<AgentWish>),
    /// Puts a command that runs in the process of whoever asks on the record, before it begins.
    ExecBegins(Box<ExecIntent>),
    /// Puts how it ended on the record.
    ExecEnded(Box<ExecOutcome>),
    /// Records from one on, in one direction.
    AuditPage {
        /// The first; none for the newest or the oldest that there is.
        from: Option<u64>,
        /// Towards older ones.
        newest_first: bool,
        /// At most so many.
        limit: u32,
    },
    /// The records that belong together.
    AuditShow {
        /// A number, a call id or a correlation id.
        about: String,
    },
    /// Proves the chain.
    AuditVerify,
    /// Records in order, for a file, with the signed heads among them.
    AuditExport {
        /// Begin at this number.
        from: u64,
        /// At most so many.
        limit: u32,
    },
    /// Removes the oldest records, as far as a signed head allows.
    AuditRetain {
        /// Keep what is younger than so many days.
        days: Option<u32>,
        /// Keep at most so many.
        records: Option<u64>,
    },
}

/// Which tools of the catalogue are tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Which {
    /// These, by name or id.
    Named(Vec<String>),
    /// Every tool.
    All,
    /// Those whose policy became wider since their pass.
    Stale,
}

/// What a person said for a publication.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reasons {
    /// Why a tool of a high level is worth it.
    pub justification: Option<String>,
    /// Why texts that trip the scan are fine.
    pub despite_scan: Option<String>,
}

/// Code that is no tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Code {
    /// Its text.
    pub text: String,
    /// How it is entered: `body`, `expression`, `execute`.
    pub entry: String,
    /// What it is written in: `js`, `ts`, or `either` for whichever it parses as.
    pub language: String,
}

/// Code to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeRun {
    /// The code.
    pub code: Code,
    /// What it is called in records.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What it may do beyond the operator's bare policy: an overrides block. Only for whoever may author.
    pub overrides: Option<Value>,
    /// A profile of the operator's file. Only for whoever may author.
    pub profile: Option<String>,
    /// Limits that differ from the operator's: `{"wall": "1s"}`. Lower ones for everybody, higher ones only for whoever
    /// may author.
    pub limits: Option<Value>,
    /// What caused the call.
    pub correlation: Option<CorrelationId>,
    /// Whether a person has to say yes, whatever its level.
    pub always_asks: bool,
}

/// For how long, and for what, a yes holds beyond the call it was said to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remember {
    /// For what.
    pub what: RememberedFor,
    /// For so many minutes.
    pub minutes: u32,
}

/// For what a remembered yes holds: always for this tool as it is, under the policy it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RememberedFor {
    /// Calls with identical arguments, by whoever asked this time.
    Arguments,
    /// Every call with the key that asked.
    Key,
}

/// A key that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyWish {
    /// What it is called in records, unlike every other.
    pub name: String,
    /// What it covers.
    pub scopes: Scopes,
    /// For how long it holds, in seconds; none for as long as nobody revokes it.
    pub expires_in_s: Option<u64>,
    /// Requests a second that it may make in the long run; none for what the operator's file says.
    pub per_second: Option<u32>,
    /// Requests that it may have under way; none for what the operator's file says.
    pub at_once: Option<u32>,
    /// Whether a yes in the dialogue of its MCP client counts as a person's answer.
    #[serde(default)]
    pub dialogue: bool,
}

/// A run that is about to begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunIntent {
    /// What is run, as it was named.
    pub name: String,
    /// SHA-256 of the code.
    pub code_hash: String,
    /// SHA-256 of the effective policy.
    pub policy_hash: String,
    /// The badge.
    pub risk: Risk,
    /// The arguments, redacted.
    pub arguments: Value,
    /// The call's id.
    pub call_id: CallId,
    /// What caused it.
    pub correlation_id: CorrelationId,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// As it began.
    pub intent: RunIntent,
    /// The code of its failure; none when it gave a value.
    pub code: Option<ErrorCode>,
    /// The message of its failure, redacted.
    pub message: Option<String>,
    /// What it used.
    pub usage: Usage,
}

impl Action {
    /// Whether it changes nothing and leaves nothing on the record.
    pub const fn only_reads(&self) -> bool {
        matches!(
            self,
            Self::ToolList { .. }
                | Self::ToolOffered { .. }
                | Self::ToolShow { .. }
                | Self::ToolCheck { .. }
                | Self::ToolTry { .. }
                | Self::ToolExport { .. }
                | Self::ToolPolicy { .. }
                | Self::CodeCheck { .. }
                | Self::Limits
                | Self::ApprovalList
                | Self::ApprovalRemembered
                | Self::KeyList
                | Self::SecretList
                | Self::Watch
                | Self::AuditTail { .. }
                | Self::AuditPage { .. }
                | Self::AuditShow { .. }
                | Self::AuditVerify
                | Self::AuditExport { .. }
                | Self::SandboxList
                | Self::SandboxShow { .. }
                | Self::SandboxDiff { .. }
                | Self::SandboxPorts { .. }
                | Self::SnapshotList
                | Self::ImageList
                | Self::ExecPoll { .. }
                | Self::ExecList { .. }
        )
    }

    /// Whether it only ends or removes something, or makes room. It is done also where callers are refused for lack of room.
    pub const fn makes_room(&self) -> bool {
        matches!(
            self,
            Self::AuditRetain { .. }
                | Self::ApprovalAnswer { yes: false, .. }
                | Self::ExecKill { .. }
                | Self::ImageRemove { .. }
                | Self::KeyRevoke { .. }
                | Self::SandboxRemove { .. }
                | Self::SandboxStop { .. }
                | Self::SnapshotForget { .. }
                | Self::ToolRemove { .. }
                | Self::ToolUnpublish { .. }
        )
    }

    /// Its name in records.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Under => "under",
            Self::ToolList { .. } => "tool.list",
            Self::ToolOffered { .. } => "tool.offered",
            Self::ToolShow { .. } => "tool.show",
            Self::ToolCheck { .. } => "tool.check",
            Self::ToolTry { .. } => "tool.try",
            Self::ToolImport { .. } => "tool.import",
            Self::ToolReplace { .. } => "tool.replace",
            Self::ToolExport { .. } => "tool.export",
            Self::ToolTest { .. } => "tool.test",
            Self::ToolPublish { .. } | Self::ToolPublishDocument { .. } => "tool.publish",
            Self::ToolUnpublish { .. } => "tool.unpublish",
            Self::ToolRemove { .. } => "tool.remove",
            Self::ToolCall { .. } => "tool.call",
            Self::ToolPolicy { .. } => "tool.policy",
            Self::CodeCheck { .. } => "code.check",
            Self::Limits => "limits",
            Self::ApprovalList => "approval.list",
            Self::ApprovalAnswer { .. } => "approval.answer",
            Self::ApprovalRemembered => "approval.remembered",
            Self::ApprovalForget { .. } => "approval.forget",
            Self::KeyCreate(_) => "key.create",
            Self::KeyList => "key.list",
            Self::KeyRevoke { .. } => "key.revoke",
            Self::SecretList => "secret.list",
            Self::Watch => "watch",
            Self::CodeRun(_) | Self::RunBegins(_) | Self::RunEnded(_) => "run",
            Self::SandboxCreate(_) => "sandbox.create",
            Self::SandboxList => "sandbox.list",
            Self::SandboxShow { .. } => "sandbox.show",
            Self::SandboxExec(_) | Self::ExecBegins(_) | Self::ExecEnded(_) => "exec",
            Self::ExecStart(_) => "exec.start",
            Self::ExecPoll { .. } => "exec.poll",
            Self::ExecKill { .. } => "exec.kill",
            Self::ExecList { .. } => "exec.list",
            Self::SandboxExpose { .. } => "sandbox.expose",
            Self::SandboxPorts { .. } => "sandbox.ports",
            Self::AgentUse(_) => "agent.use",
            Self::SandboxFiles { .. } => "sandbox.files",
            Self::SandboxSnapshot { .. } => "sandbox.snapshot",
            Self::SnapshotList => "snapshot.list",
            Self::SnapshotForget { .. } => "snapshot.forget",
            Self::SandboxHibernate { .. } => "sandbox.hibernate",
            Self::SandboxResume { .. } => "sandbox.resume",
            Self::SandboxFork { .. } => "sandbox.fork",
            Self::SandboxStop { .. } => "sandbox.stop",
            Self::SandboxRemove { .. } => "sandbox.remove",
            Self::SandboxDiff { .. } => "sandbox.diff",
            Self::SandboxCommit { .. } => "sandbox.commit",
            Self::SandboxDiscard { .. } => "sandbox.discard",
            Self::ImageList => "image.list",
            Self::ImagePull { .. } => "image.pull",
            Self::ImageImport { .. } => "image.import",
            Self::ImageRemove { .. } => "image.remove",
            Self::AuditTail { .. } => "audit.tail",
            Self::AuditPage { .. } => "audit.page",
            Self::AuditShow { .. } => "audit.show",
            Self::AuditVerify => "audit.verify",
            Self::AuditExport { .. } => "audit.export",
            Self::AuditRetain { .. } => "audit.retain",
        }
    }
}
