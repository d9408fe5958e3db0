//! What an action is on the way to a server: a request, and what its answer holds.

use bailiwick_api as api;
use bailiwick_core::sandboxes::{ExposedPort, InputBytes};
use bailiwick_core::{Action, Document, Refusal, Reply};
use bailiwick_types::{ApprovalId, CallReport, ErrorCode};
use hyper::Method;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::sandbox;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) accept: Accept,
    pub(crate) content: Option<&'static str>,
    pub(crate) body: Vec<u8>,
    /// The version that whoever asks saw last.
    pub(crate) seen: Option<u64>,
}

/// What comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accept {
    /// One value.
    Json,
    /// Events, the last of them the result.
    Events,
    /// Lines.
    Lines,
    /// Bytes as they are.
    Bytes,
}

impl Accept {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Events => "text/event-stream",
            Self::Lines => "application/x-ndjson",
            Self::Bytes => "application/octet-stream",
        }
    }
}

/// What an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Tool,
    Checked,
    Tested,
    TestedOne,
    Imported,
    Replaced,
    Exported,
    Published,
    Called,
    Policy,
    CodeChecked,
    Limits,
    Approvals,
    Remembered,
    KeyMade,
    Keys,
    Secrets,
    Records,
    Verified,
    Retained,
    Sandbox,
    Executed,
    Snapshot,
    FileBytes,
    FileEntries,
    Changes,
    Landed,
    Exposed,
    Ports,
    /// It is done, whatever is said about it.
    Nothing,
}

impl Expected {
    /// Reads an answer.
    pub(crate) fn read(self, body: &[u8]) -> Result<Reply, serde_json::Error> {
        use serde_json::from_slice as read;
        let each = |documents: Vec<api::NamedDocument>| documents.into_iter().map(Into::into).collect();
        Ok(match self {
            Self::Tool => Reply::Tool(Box::new(read::<api::ToolView>(body)?.into())),
            Self::Checked => Reply::Checked(Box::new(read::<api::Checked>(body)?.into())),
            Self::Tested => {
                Reply::Tested(read::<api::TestedAll>(body)?.tested.into_iter().map(Into::into).collect())
            }
            Self::TestedOne => Reply::Tested(vec![read::<api::Tested>(body)?.into()]),
            Self::Imported => {
                let all = read::<api::ImportedAll>(body)?.imported;
                Reply::Imported(all.into_iter().map(Into::into).collect())
            }
            Self::Replaced => Reply::Imported(vec![read::<api::Imported>(body)?.into()]),
            Self::Exported => Reply::Exported(each(read::<api::Documents>(body)?.documents)),
            Self::Published => Reply::Published(Box::new(read::<api::Published>(body)?.into())),
            Self::Called => Reply::Called(Box::new(read::<CallReport>(body)?)),
            Self::Policy => Reply::Policy(Box::new(read::<api::PolicyView>(body)?.into())),
            Self::CodeChecked => Reply::CodeChecked(read::<api::CodeChecked>(body)?.into()),
            Self::Limits => Reply::Limits(read(body)?),
            Self::Approvals => {
                let all = read::<api::Approvals>(body)?.approvals;
                Reply::Approvals(all.into_iter().map(Into::into).collect())
            }
            Self::Remembered => {
                let all = read::<api::Remembered>(body)?.remembered;
                Reply::Remembered(all.into_iter().map(Into::into).collect())
            }
            Self::KeyMade => Reply::KeyMade(Box::new(read::<api::KeyMade>(body)?.into())),
            Self::Keys => Reply::Keys(read::<api::Keys>(body)?.keys.into_iter().map(Into::into).collect()),
            Self::Secrets => {
                Reply::Secrets(read::<api::Secrets>(body)?.secrets.into_iter().map(Into::into).collect())
            }
            Self::Records => Reply::Records(read::<api::Records>(body)?.records),
            Self::Verified => Reply::Verified(read::<api::Verified>(body)?.into()),
            Self::Retained => Reply::Retained { removed: read::<api::Retained>(body)?.removed },
            Self::Sandbox => Reply::Sandbox(Box::new(read::<api::SandboxView>(body)?.into())),
            Self::Executed => Reply::Executed(Box::new(read::<api::Executed>(body)?.into())),
            Self::Snapshot => Reply::Snapshots(vec![read::<api::SnapshotLine>(body)?.into()]),
            Self::FileBytes => Reply::FileBytes(InputBytes::new(body.to_vec())),
            Self::FileEntries => {
                Reply::FileEntries(read::<api::Entries>(body)?.entries.into_iter().map(Into::into).collect())
            }
            Self::Changes => Reply::Changes(Box::new(read::<api::Shown>(body)?.into())),
            Self::Landed => Reply::Landed(Box::new(read::<api::Landed>(body)?.into())),
            Self::Exposed => {
                let ExposedPort { port, host_port } = read::<api::ExposedPort>(body)?.into();
                Reply::Exposed { port, host_port }
            }
            Self::Ports => {
                Reply::Ports(read::<api::ExposedPorts>(body)?.ports.into_iter().map(Into::into).collect())
            }
            Self::Nothing => Reply::Done,
        })
    }
}

impl Ask {
    /// The request for an action that is one request.
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each action")]
    pub(crate) fn of(action: Action) -> Result<(Self, Expected), Refusal> {
        Ok(match action {
            Action::ToolShow { tool } => (Self::get(&format!("/v1/tools/{}", segment(&tool))), Expected::Tool),
            Action::ToolCheck { document } => {
                (Self::post("/v1/tools/check", &document_in(&document, false)?)?, Expected::Checked)
            }
            Action::ToolPolicy { document } => {
                (Self::post("/v1/tools/policy", &document_in(&document, false)?)?, Expected::Policy)
            }
            Action::ToolTry { document, live } => {
                let Document { name, text } = document;
                let shape = api::Try { name: Some(name), document: raw(&text)?, live };
                (Self::post("/v1/tools/try", &shape)?.streamed(), Expected::TestedOne)
            }
            Action::ToolImport { documents, approval_off } => {
                let documents = documents.into_iter().map(Into::into).collect();
                let shape = api::Import { documents, approval_off };
                (Self::post("/v1/tools/import", &shape)?, Expected::Imported)
            }
            Action::ToolReplace { tool, version, document, approval_off } => {
                let path = format!("/v1/tools/{}", segment(&tool));
                let ask = Self::post(&path, &document_in(&document, approval_off)?)?;
                (Self { method: Method::PUT, seen: version, ..ask }, Expected::Replaced)
            }
            Action::ToolExport { tools } => {
                (Self::post("/v1/tools/export", &api::Export { tools })?, Expected::Exported)
            }
            Action::ToolTest { which, live } => {
                let shape = api::TestWhich { which: which.into(), live };
                (Self::post("/v1/tools/test", &shape)?.streamed(), Expected::Tested)
            }
            Action::ToolPublish { tool, reasons } => {
                let path = format!("/v1/tools/{}/publish", segment(&tool));
                (Self::post(&path, &api::Publish::from(reasons))?.streamed(), Expected::Published)
            }
            Action::ToolPublishDocument { document, reasons, approval_off } => {
                let Document { name, text } = document;
                let shape = api::PublishDocument {
                    name: Some(name),
                    document: raw(&text)?,
                    approval_off,
                    justification: reasons.justification,
                    despite_scan: reasons.despite_scan,
                };
                (Self::post("/v1/tools/publish", &shape)?.streamed(), Expected::Published)
            }
            Action::ToolUnpublish { tool } => {
                let path = format!("/v1/tools/{}/unpublish", segment(&tool));
                (Self::empty(Method::POST, &path), Expected::Nothing)
            }
            Action::ToolRemove { tool } => {
                (Self::empty(Method::DELETE, &format!("/v1/tools/{}", segment(&tool))), Expected::Nothing)
            }
            Action::ToolCall { tool, arguments, correlation, workspace } => {
                let shape = api::Execute::Tool(api::ExecuteTool {
                    tool,
                    arguments,
                    workspace,
                    correlation_id: correlation,
                });
                (Self::post("/v1/execute", &shape)?.streamed(), Expected::Called)
            }
            Action::CodeRun(run) => {
                (Self::post("/v1/execute", &api::Execute::from(*run))?.streamed(), Expected::Called)
            }
            Action::CodeCheck { code } => {
                (Self::post("/v1/validate", &api::Validate::from(code))?, Expected::CodeChecked)
            }
            Action::Limits => (Self::get("/v1/execution/limits"), Expected::Limits),
            Action::ApprovalList => (Self::get("/v1/approvals"), Expected::Approvals),
            Action::ApprovalAnswer { id, yes, remember } => {
                let answer = if yes { api::AnswerWord::Yes } else { api::AnswerWord::No };
                let shape = api::Answer { answer, remember: remember.map(Into::into) };
                (Self::answer(id, &shape)?, Expected::Nothing)
            }
            Action::ApprovalRemembered => (Self::get("/v1/approvals/remembered"), Expected::Remembered),
            Action::ApprovalForget { id } => {
                (Self::empty(Method::DELETE, &format!("/v1/approvals/remembered/{id}")), Expected::Nothing)
            }
            Action::KeyCreate(wish) => {
                (Self::post("/v1/keys", &api::KeyWish::from(wish))?, Expected::KeyMade)
            }
            Action::KeyList => (Self::get("/v1/keys"), Expected::Keys),
            Action::KeyRevoke { key } => {
                (Self::empty(Method::DELETE, &format!("/v1/keys/{}", segment(&key))), Expected::Nothing)
            }
            Action::SecretList => (Self::get("/v1/secrets"), Expected::Secrets),
            Action::Watch => (Self::get("/v1/events").streamed(), Expected::Nothing),
            Action::AuditShow { about } => {
                (Self::get(&format!("/v1/audit/{}", segment(&about))), Expected::Records)
            }
            Action::AuditVerify => (Self::empty(Method::POST, "/v1/audit/verify"), Expected::Verified),
            Action::AuditRetain { days, records } => {
                (Self::post("/v1/audit/retain", &api::Retain { days, records })?, Expected::Retained)
            }
            Action::SandboxCreate(_)
            | Action::SandboxShow { .. }
            | Action::SandboxExec(_)
            | Action::SandboxFiles { .. }
            | Action::SandboxSnapshot { .. }
            | Action::SnapshotForget { .. }
            | Action::SandboxHibernate { .. }
            | Action::SandboxResume { .. }
            | Action::SandboxFork { .. }
            | Action::SandboxStop { .. }
            | Action::SandboxDiff { .. }
            | Action::SandboxCommit { .. }
            | Action::SandboxDiscard { .. }
            | Action::SandboxExpose { .. }
            | Action::SandboxPorts { .. }
            | Action::SandboxRemove { .. } => return sandbox::of(action),
            Action::Under
            | Action::RunBegins(_)
            | Action::RunEnded(_)
            | Action::ExecBegins(_)
            | Action::ExecEnded(_)
            | Action::ImageList
            | Action::ImagePull { .. }
            | Action::ImageImport { .. }
            | Action::ImageRemove { .. }
            | Action::ExecStart(_)
            | Action::ExecPoll { .. }
            | Action::ExecKill { .. }
            | Action::ExecList { .. }
            | Action::AgentUse(_)
            // These are more than one request.
            | Action::SandboxList
            | Action::SnapshotList
            | Action::ToolList { .. }
            | Action::ToolOffered { .. }
            | Action::AuditTail { .. }
            | Action::AuditPage { .. }
            | Action::AuditExport { .. } => return Err(not_offered(action.name())),
        })
    }

    /// The answer to a question.
    pub(crate) fn answer(id: ApprovalId, shape: &api::Answer) -> Result<Self, Refusal> {
        Self::post(&format!("/v1/approvals/{id}"), shape)
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::empty(Method::GET, path)
    }

    /// A page, with what of its query is said.
    pub(crate) fn page(path: &str, query: &[(&str, Option<&str>)]) -> Self {
        let mut path = path.to_owned();
        let said = query.iter().filter_map(|(name, value)| value.map(|value| (name, value)));
        for (index, (name, value)) in said.enumerate() {
            path.push(if index == 0 { '?' } else { '&' });
            path.push_str(name);
            path.push('=');
            path.push_str(&segment(value));
        }
        Self::get(&path)
    }

    pub(crate) fn empty(method: Method, path: &str) -> Self {
        let (path, accept) = (path.to_owned(), Accept::Json);
        Self { method, path, accept, content: None, body: Vec::new(), seen: None }
    }

    pub(crate) fn post(path: &str, body: &impl Serialize) -> Result<Self, Refusal> {
        let body = serde_json::to_vec(body).map_err(|error| unsayable(&error))?;
        Ok(Self { content: Some("application/json"), body, ..Self::empty(Method::POST, path) })
    }

    pub(crate) fn streamed(self) -> Self {
        Self { accept: Accept::Events, ..self }
    }

    pub(crate) fn in_lines(self) -> Self {
        Self { accept: Accept::Lines, ..self }
    }
}

fn document_in(document: &Document, approval_off: bool) -> Result<api::DocumentIn, Refusal> {
    api::DocumentIn::of(document, approval_off).map_err(|error| unsayable(&error))
}

fn raw(text: &str) -> Result<Box<RawValue>, Refusal> {
    serde_json::value::to_raw_value(text).map_err(|error| unsayable(&error))
}

fn unsayable(error: &serde_json::Error) -> Refusal {
    Refusal::new(ErrorCode::InvalidInput, format!("this cannot be asked of a server: {error}"))
}

pub(crate) fn not_offered(what: &str) -> Refusal {
    Refusal::new(ErrorCode::Unsupported, format!("`{what}` cannot be asked of a server"))
        .with_hint("leave out --server to do it with the data folder of this machine")
}

/// A text as one part of a path or of a query.
pub(crate) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'~')
            || (byte == b'.' && text.len() > 2)
        {
            out.push(char::from(byte));
        } else {
            let [high, low] = [byte >> 4, byte & 0xf].map(|half| char::from_digit(half.into(), 16));
            out.extend([Some('%'), high, low].into_iter().flatten().map(|c| c.to_ascii_uppercase()));
        }
    }
    out
}
