//! The schemas of words that every interface shares: badge, failure, denial, usage, receipt, report, record.
//!
//! Nothing here is ever made: the values are those of `types` and of the record, passed through as they are. What this
//! says about them is held to real answers by tests.

#![expect(
    unused_qualifications,
    reason = "what `ToSchema` makes names the type of an optional field in full"
)]

mod changes;

use std::borrow::Cow;

use bailiwick_types as inner;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

pub use changes::{ChangeBound, ChangedNode, FolderChange, FolderChanges, SkippedChange};

/// A schema of a closed list of words.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $about:literal $words:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let words: Vec<&'static str> = $words.collect();
                ObjectBuilder::new()
                    .schema_type(SchemaType::Type(Type::String))
                    .description(Some($about))
                    .enum_values(Some(words))
                    .into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }
        }
    )+};
}

words! {
    /// The codes of errors.
    ErrorCode = "What went wrong, as one word that never changes its meaning."
        inner::ErrorCode::ALL.iter().map(|code| code.name());
    /// The reasons of denials.
    DenialReason = "Why something was refused, as one word that never changes its meaning."
        inner::DenialReason::ALL.iter().map(|reason| reason.word());
    /// The levels of a badge.
    RiskLevel = "How far a tool is widened, from L0 (not at all) to L5 (may destroy or run commands)."
        inner::RiskLevel::ALL.iter().map(|level| level.name());
    /// The scopes of credentials.
    Scope = "What a credential covers."
        inner::Scope::ALL.iter().map(|scope| scope.word());
    /// The tiers of walls.
    Tier = "How strong the wall is."
        inner::Tier::ALL.iter().map(|tier| tier.name());
}

/// A UUID.
#[derive(Debug)]
pub enum Uuid {}

impl PartialSchema for Uuid {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .format(Some(SchemaFormat::Custom("uuid".to_owned())))
            .into()
    }
}

impl ToSchema for Uuid {}

/// Bytes as they are.
#[derive(Debug)]
pub enum RawBytes {}

impl PartialSchema for RawBytes {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .format(Some(SchemaFormat::Custom("binary".to_owned())))
            .into()
    }
}

impl ToSchema for RawBytes {}

/// A badge that explains itself.
#[derive(Debug, ToSchema)]
pub struct Risk {
    /// The inherent level.
    pub level: RiskLevel,
    /// The level shown beside it where every call waits for a person's yes.
    pub credited: Option<RiskLevel>,
    /// Every signal that was found, the strongest first.
    pub reasons: Vec<RiskReason>,
}

/// One signal that a policy shows.
#[derive(Debug, ToSchema)]
pub struct RiskReason {
    /// The signal: `network allowlist`.
    pub signal: String,
    /// The level that it alone would give.
    pub level: RiskLevel,
    /// What shows it: `api.github.com`.
    pub detail: String,
}

/// Why there is no value.
#[derive(Debug, ToSchema)]
pub struct Failure {
    /// What kind of failure.
    pub code: ErrorCode,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Where in the author's code.
    pub location: Option<Location>,
    /// The stack in the author's code.
    pub stack: Option<String>,
    /// The denial, where policy said no.
    pub denied: Option<Denial>,
}

/// A place in the author's code, counted from 1.
#[derive(Debug, ToSchema)]
pub struct Location {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A refusal by policy.
#[derive(Debug, ToSchema)]
pub struct Denial {
    /// `CAPABILITY_DENIED`, `NET_DENIED` or `FS_DENIED`.
    pub code: ErrorCode,
    /// The capability that was needed.
    pub capability: String,
    /// What was asked, in one line.
    pub asked: String,
    /// The rule that said no.
    pub rule: String,
    /// Whose rule it is: `guard`, `baseline`, `profile:NAME`, `tool`, `sandbox`.
    pub layer: String,
    /// Why.
    pub reason: DenialReason,
    /// The narrowest change that would allow it; null where nothing a tool may declare would.
    pub fix: Option<Fix>,
}

/// The narrowest widening that would turn a denial into a yes.
#[derive(Debug, ToSchema)]
pub struct Fix {
    /// What to add to the tool's `overrides`.
    #[schema(value_type = Object)]
    pub overrides: Value,
    /// The risk level the tool would then have.
    pub risk: RiskLevel,
}

/// One line the code wrote to its console.
#[derive(Debug, ToSchema)]
pub struct LogLine {
    /// Its level.
    pub level: LogLevel,
    /// Its text, redacted.
    pub text: String,
    /// Milliseconds since the call started.
    pub at: u64,
}

/// The level of a console line.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum LogLevel {
    /// `console.debug`
    Debug,
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
}

/// What a call used.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Usage {
    /// Wall-clock time in milliseconds.
    pub wall_ms: f64,
    /// CPU time in milliseconds.
    pub cpu_ms: f64,
    /// Loop turns and calls.
    pub steps: u64,
    /// The most memory it held, in bytes.
    pub memory_peak: u64,
    /// Requests made.
    pub fetches: u32,
    /// Bytes received for it.
    pub bytes_in: u64,
    /// Bytes sent for it.
    pub bytes_out: u64,
}

/// Which walls stood around a call.
#[derive(Debug, ToSchema)]
pub struct Receipt {
    /// The tier of the wall.
    pub tier: Tier,
    /// Each demand and what held it.
    pub walls: Vec<Wallpart>,
    /// Set where the walls are below the floor and the operator wanted to run nevertheless.
    #[schema(required = false)]
    pub insecure: bool,
}

/// One demand, and what was seen to hold it.
#[derive(Debug, ToSchema)]
pub struct Wallpart {
    /// What was demanded: `no network`.
    pub demand: String,
    /// What holds it: `net namespace`.
    pub mechanism: String,
    /// Whether it was seen to stand.
    pub status: WallStatus,
}

/// Whether a part of a wall stands.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum WallStatus {
    /// It stands.
    Enforced,
    /// It stands in part; the mechanism says which.
    Partial,
    /// It is not there.
    Absent,
}

/// The result of a call. One that ran, or that policy or a person refused, is an answer like any other: `ok` is false.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CallReport {
    /// Whether it gave a value.
    pub ok: bool,
    /// The value; null where there is none.
    pub value: Value,
    /// Why there is no value.
    pub error: Option<Failure>,
    /// What the code wrote to its console.
    pub logs: Vec<LogLine>,
    /// How many lines were dropped.
    pub logs_dropped: u64,
    /// What it used.
    pub usage: Usage,
    /// The badge it ran under.
    pub risk: Risk,
    /// Which walls stood.
    pub receipt: Receipt,
    /// Its id.
    pub call_id: Uuid,
    /// What caused it.
    pub correlation_id: String,
}

/// The result of a command that ran to its end, whatever it ended with.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the shape was promised so, and this only describes it")]
pub struct ExecResult {
    /// What it ended with; null where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it: `SIGKILL`.
    pub signal: Option<String>,
    /// Why there was nothing to run: `notFound` or `notExecutable`.
    #[schema(required = false, nullable = false)]
    pub not_started: Option<String>,
    /// Its deadline ended it.
    pub timed_out: bool,
    /// The kernel ended something of it for want of memory.
    pub oom: bool,
    /// What it said on standard output; nothing where that was told as it came.
    pub stdout: String,
    /// Whether there was more.
    pub stdout_truncated: bool,
    /// What it said on standard error.
    pub stderr: String,
    /// Whether there was more.
    pub stderr_truncated: bool,
    /// How both are written: `utf8` or `base64`.
    pub encoding: String,
    /// What it used.
    pub usage: crate::ExecUsage,
    /// What was refused to it.
    pub denials: Vec<Denial>,
    /// What was demanded, and what held it.
    pub receipt: Receipt,
    /// Where it ran.
    pub sandbox_id: Uuid,
    /// Behind which kind of wall.
    pub backend: String,
    /// How strong that is.
    pub tier: Tier,
    /// What caused it.
    pub correlation_id: String,
    /// Lines that whoever asked should read.
    pub warnings: Vec<String>,
}

/// A stream of a command.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A document of a tool: an object with the fields of a tool document, or the text of a file.
#[derive(Debug)]
pub enum DocumentValue {}

impl PartialSchema for DocumentValue {
    fn schema() -> RefOr<Schema> {
        let kind = |kind: Type| ObjectBuilder::new().schema_type(SchemaType::Type(kind));
        OneOfBuilder::new()
            .item(kind(Type::Object).description(Some("The fields of a tool document.")))
            .item(kind(Type::String).description(Some("The text of a file.")))
            .into()
    }
}

impl ToSchema for DocumentValue {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Document")
    }
}

/// One thing that was meant, done, decided or changed.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Record {
    /// Its number, from 1.
    pub seq: u64,
    /// Its time, RFC 3339 in UTC.
    pub time: String,
    /// What kind of thing.
    pub kind: RecordKind,
    /// The call it belongs to.
    pub call_id: Option<Uuid>,
    /// What ties it to records of other systems.
    pub correlation_id: Option<String>,
    /// Who asked.
    pub actor: crate::Actor,
    /// What was asked: `tool.call`.
    pub action: String,
    /// The tool it is about.
    pub tool: Option<ToolRef>,
    /// The hash of the effective policy.
    pub policy_hash: Option<String>,
    /// The badge.
    pub risk: Option<Risk>,
    /// The arguments, redacted.
    pub arguments: Value,
    /// How it ended.
    pub outcome: Value,
    /// What it used.
    pub usage: Option<Usage>,
    /// The decision of whoever was asked.
    pub approval: Value,
    /// Backend and tier.
    pub backend: Value,
    /// The hash of the record before.
    pub prev: String,
    /// Its own hash.
    pub hash: String,
}

/// What kind of thing is on the record.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum RecordKind {
    /// What is about to be done.
    Intent,
    /// How it ended.
    Outcome,
    /// What a person or a rule decided.
    Decision,
    /// A change of the catalogue, the policy or the record itself.
    Change,
}

/// Which tool, in which state.
#[derive(Debug, ToSchema)]
pub struct ToolRef {
    /// Its id; null for code that is no tool.
    pub id: Option<Uuid>,
    /// Its name at that time.
    pub name: String,
    /// The hash of what its pass covers.
    pub hash: Option<String>,
}

/// A page of the record.
#[derive(Debug, ToSchema)]
pub struct RecordPage {
    /// The records.
    pub records: Vec<Record>,
    /// Give this as `after` for the next page; null on the last.
    pub next: Option<String>,
}

/// Records that belong together, the oldest first.
#[derive(Debug, ToSchema)]
pub struct Records {
    /// Each of them.
    pub records: Vec<Record>,
}

/// One server-sent event.
#[derive(Debug, ToSchema)]
pub struct ServerSent {
    /// What it is about: `log`, `test`, `output`, `approval`, `result`, `error`, `tool`, `key`, `sandbox`, `audit`,
    /// `missed`.
    pub event: Option<String>,
    /// Its data: one object in JSON.
    pub data: String,
}
