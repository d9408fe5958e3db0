//! What comes back from an action, as every door gives it.

use bailiwick_policy::Hints;
use bailiwick_types::{ApprovalId, CallReport, ErrorCode, Failure, KeyId, Risk, RiskLevel, Scopes, ToolId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::{Document, RememberedFor};
use crate::caller::{Actor, Question};
use crate::images::{Collected, Image};
use crate::sandboxes::{
    ExecLine, ExecView, Executed, ExposedPort, InputBytes, Landed, PythonRan, SandboxLine, SandboxView,
    Shown, SnapshotLine,
};

/// What comes back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", content = "with", rename_all = "camelCase")]
pub enum Reply {
    /// Tools, one line each.
    Tools(Vec<ToolLine>),
    /// Tools that can be called, as a model sees them.
    Offered(Vec<Offered>),
    /// One tool in full.
    Tool(Box<ToolView>),
    /// What a look at a document found.
    Checked(Box<Checked>),
    /// Local Passes that ran, one a tool.
    Tested(Vec<Tested>),
    /// What was taken in.
    Imported(Vec<Imported>),
    /// Documents.
    Exported(Vec<Document>),
    /// A tool that was published, or waits for a written reason.
    Published(Box<Published>),
    /// What a call gave.
    Called(Box<CallReport>),
    /// The policy of a document.
    Policy(Box<PolicyView>),
    /// What a look at code found.
    CodeChecked(CodeChecked),
    /// What code finds, as `bailiwick limits --json` tells it.
    Limits(Value),
    /// Questions that wait, the oldest first.
    Approvals(Vec<Waiting>),
    /// Answers that are remembered, the newest first.
    Remembered(Vec<RememberedYes>),
    /// A key that was made.
    KeyMade(Box<KeyMade>),
    /// Keys, by name.
    Keys(Vec<KeyLine>),
    /// Names of secrets.
    Secrets(Vec<SecretLine>),
    /// Records, in order.
    Records(Vec<Value>),
    /// Lines of an export, byte by byte as they were hashed and signed.
    Lines(ExportPage),
    /// What the proof of the chain gave.
    Verified(Verified),
    /// Records that were removed.
    Retained {
        /// How many.
        removed: u64,
    },
    /// Sandboxes, the oldest first.
    Sandboxes(Vec<SandboxLine>),
    /// One sandbox in full.
    Sandbox(Box<SandboxView>),
    /// What a command gave.
    Executed(Box<Executed>),
    /// A command that was started, and that nobody waits for.
    ExecStarted(ExecLine),
    /// What there is to know of one.
    ExecView(Box<ExecView>),
    /// Such commands, the oldest first.
    Execs(Vec<ExecLine>),
    /// What Python code gave.
    Python(Box<PythonRan>),
    /// A port of the host's loopback that leads to a port inside of a sandbox.
    Exposed {
        /// The port inside.
        port: u16,
        /// The port of the host.
        host_port: u16,
    },
    /// The ports of a sandbox that are exposed, by the port inside.
    Ports(Vec<ExposedPort>),
    /// Snapshots.
    Snapshots(Vec<SnapshotLine>),
    /// What a sandbox changed of a folder.
    Changes(Box<Shown>),
    /// What became of such changes.
    Landed(Box<Landed>),
    /// The bytes of a file.
    FileBytes(InputBytes),
    /// What is in a folder.
    FileEntries(Vec<bailiwick_sandbox::Entry>),
    /// Images, by name.
    Images(Vec<Image>),
    /// An image that was pulled or imported.
    Image(Box<Image>),
    /// What went with the name of an image.
    ImageRemoved(Collected),
    /// SHA-256 of the settings of the operator that hold.
    Under(String),
    /// It is done.
    Done,
}

/// A tool in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolLine {
    /// Its id.
    pub id: ToolId,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its state: `DRAFT`, …, or `STALE`.
    pub state: String,
    /// Its badge under the policy of today; none when that cannot be resolved.
    pub level: Option<RiskLevel>,
    /// How often it was saved.
    pub version: u64,
    /// When it was last saved, RFC 3339.
    pub updated_at: String,
}

/// A tool that can be called, as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub input_schema: Value,
    /// What it gives.
    pub output_schema: Option<Value>,
    /// What its policy allows it to do.
    pub hints: Hints,
    /// Its badge.
    pub level: RiskLevel,
    /// Whether a call waits for a person.
    pub approval: bool,
}

/// A tool in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// As in a list.
    #[serde(flatten)]
    pub line: ToolLine,
    /// Why it is in this state, where that is not plain.
    pub because: Option<String>,
    /// The document as it is kept.
    pub document: Value,
    /// SHA-256 of what a pass covers.
    pub hash: String,
    /// SHA-256 of its texts.
    pub texts_hash: String,
    /// The badge with its reasons; none when the policy cannot be resolved.
    pub risk: Option<Risk>,
    /// The effective policy.
    pub policy: Option<Value>,
    /// Whether a call waits for a person.
    pub approval: bool,
    /// Its last Local Pass.
    pub pass: Option<Value>,
    /// What people said for it when it was published.
    pub notes: Option<Value>,
    /// What a model would see.
    pub definition: Value,
}

/// What a look at a document found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// The tool's name.
    pub name: String,
    /// Whether nothing stands in the way of a pass.
    pub ok: bool,
    /// What is doubtful about the document.
    pub warnings: Vec<crate::Fault>,
    /// What was found in the code.
    pub code: Vec<CodeFinding>,
    /// Why the code could not be looked at.
    pub code_failure: Option<Failure>,
    /// What was found in the texts for models.
    pub texts: Vec<Found>,
    /// The badge.
    pub risk: Risk,
    /// Whether a call would wait for a person.
    pub approval: bool,
    /// Secrets it refers to that are not set.
    pub missing_secrets: Vec<String>,
}

/// The policy of a document as it would be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyView {
    /// The tool's name.
    pub name: String,
    /// The badge with its reasons.
    pub risk: Risk,
    /// The effective policy.
    pub policy: Value,
    /// SHA-256 of it.
    pub policy_hash: String,
    /// Whether a call would wait for a person.
    pub approval: bool,
    /// What its level asks of whoever publishes it.
    pub advice: String,
}

/// What a look at code found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeChecked {
    /// Whether it could run.
    pub ok: bool,
    /// Why it could not be looked at.
    pub error: Option<Failure>,
    /// What was found.
    pub findings: Vec<CodeFinding>,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Its id.
    pub id: ApprovalId,
    /// What is asked.
    pub question: Question,
    /// Since when, RFC 3339.
    pub asked_at: String,
    /// Until when, RFC 3339. Then it is a no.
    pub deadline_at: String,
    /// Milliseconds that are left.
    pub remaining_ms: u64,
    /// The call of this tool that a person last said yes to.
    pub last: Option<LastYes>,
}

/// The last yes to a call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastYes {
    /// Its arguments, redacted.
    pub arguments: Value,
    /// When, RFC 3339.
    pub at: String,
    /// Who said it.
    pub by: String,
    /// What its pass covered then, by hash; none for code that is no tool.
    pub hash: Option<String>,
}

/// A yes that holds beyond its call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RememberedYes {
    /// The question it was said to.
    pub id: ApprovalId,
    /// The tool.
    pub tool: String,
    /// What its pass covered, by hash.
    pub hash: String,
    /// Its policy, by hash.
    pub policy_hash: String,
    /// For what it holds.
    pub what: RememberedFor,
    /// The arguments, redacted; none where it holds for all.
    pub arguments: Option<Value>,
    /// Whose calls.
    pub actor: Actor,
    /// Who said it.
    pub by: String,
    /// When, RFC 3339.
    pub at: String,
    /// Until when, RFC 3339.
    pub until: String,
    /// How many calls it let through.
    pub used: u64,
}

/// A key, without what opens anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyLine {
    /// Its id, which is also a part of the key.
    pub id: KeyId,
    /// Its name.
    pub name: String,
    /// What it covers.
    pub scopes: Scopes,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// Until when it holds.
    pub expires_at: Option<String>,
    /// Since when it is worthless.
    pub revoked_at: Option<String>,
    /// When it was last shown, to the minute.
    pub last_used_at: Option<String>,
    /// Requests a second that it may make, where that is its own.
    pub per_second: Option<u32>,
    /// Requests that it may have under way, where that is its own.
    pub at_once: Option<u32>,
    /// Whether a yes in the dialogue of its MCP client counts as a person's answer.
    pub dialogue: bool,
}

/// A key that was made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// The name of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretLine {
    /// Its name.
    pub name: String,
    /// Where it comes from: `store` or `environment`.
    pub from: String,
    /// When it was set, RFC 3339; none where that is not known.
    pub set_at: Option<String>,
}

/// What was found in code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeFinding {
    /// What: `eval`.
    pub name: String,
    /// Why it is found.
    pub why: String,
    /// What to use in its place.
    pub instead: String,
    /// The line of the code.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// Whether it keeps the code from running.
    pub blocks: bool,
}

/// What was found in a text that a model would see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Where the text stands: `params[0].description`.
    pub path: String,
    /// Which rule: `hidden-instructions`.
    pub rule: String,
    /// What the rule is about.
    pub meaning: String,
    /// Whether it keeps the tool from being published.
    pub blocks: bool,
    /// The text that tripped it.
    pub matched: String,
    /// Where in the text, in bytes.
    pub offset: usize,
}

/// A Local Pass that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tested {
    /// The tool's name.
    pub tool: String,
    /// Whether it passed.
    pub passed: bool,
    /// The state afterwards; none for a document that is not kept.
    pub state: Option<String>,
    /// Each run.
    pub lines: Vec<TestLine>,
    /// The badge it passed under.
    pub risk: Option<Risk>,
    /// Why nothing could be run.
    pub refused: Option<crate::Refusal>,
}

/// One run of a Local Pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestLine {
    /// The test's name; `test values` for the run with those.
    pub name: String,
    /// How it went.
    pub verdict: TestVerdict,
    /// Milliseconds it took.
    pub ms: f64,
    /// What was not as expected.
    pub misses: Vec<Missed>,
    /// The failure of the code, if it failed and that was not expected.
    pub failure: Option<Failure>,
}

/// How a test went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TestVerdict {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// It would need the network, and no answer is canned.
    Unanswered,
}

/// One expectation that was not met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Missed {
    /// Which: `equals`.
    pub kind: String,
    /// What was expected and what came.
    pub message: String,
    /// Line by line.
    pub diff: Option<String>,
}

/// What became of one imported document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// The tool's id.
    pub id: ToolId,
    /// Its name.
    pub name: String,
    /// What happened.
    pub change: Change,
    /// Its state now.
    pub state: String,
    /// How often it was saved.
    pub version: u64,
    /// What is doubtful about the document.
    pub warnings: Vec<crate::Fault>,
    /// What was found in its texts.
    pub texts: Vec<Found>,
}

/// What happened to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// It is new.
    Added,
    /// Something that a pass covers changed.
    Changed,
    /// Only texts or fields that nobody runs changed.
    Texts,
    /// Nothing changed.
    Same,
}

/// A publication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Published {
    /// The tool.
    pub tool: ToolLine,
    /// The pass that ran for it, if one did.
    pub tested: Option<Tested>,
    /// What was found in its texts.
    pub texts: Vec<Found>,
    /// What to know about it.
    pub notes: Vec<String>,
}

/// A part of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportPage {
    /// The lines, without line breaks.
    pub lines: Vec<String>,
    /// Where the next part begins; none when this was the last.
    pub next: Option<u64>,
}

/// What the proof of the chain gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// In one sentence.
    pub says: String,
    /// Proven up to this record.
    pub proven_to: u64,
    /// Records behind the last signed head.
    pub unsigned: u64,
    /// Records that retention removed before the first.
    pub removed: u64,
    /// The first bad record; as it lies, so it may be a number that no record can have.
    pub first_bad: Option<i64>,
    /// What is wrong with it.
    pub why: Option<String>,
    /// The public key that heads are signed with, in hex.
    pub key: String,
}

impl Tested {
    /// The failure of the first run that failed by a denial, for the one-line fix.
    pub fn denial(&self) -> Option<&bailiwick_types::Denial> {
        self.lines.iter().find_map(|line| line.failure.as_ref()?.denied.as_ref())
    }

    /// The code that a door tells: none when it passed.
    pub fn code(&self) -> Option<ErrorCode> {
        if self.passed {
            return None;
        }
        let of_run = self.refused.as_ref().map(|refusal| refusal.code);
        of_run.or_else(|| {
            let failed = self.lines.iter().find(|line| line.verdict == TestVerdict::Failed)?;
            Some(failed.failure.as_ref().map_or(ErrorCode::Validation, |failure| failure.code))
        })
    }
}
