//! What server-sent events carry. The events are `log`, `test`, `progress`, `approval`, `tool`, `key`, `sandbox`, `audit`, `missed`,
//! `result` and `error`; each `data` is one shape.

use bailiwick_core::Event;
use bailiwick_types::ApprovalId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::shape::shape;
use crate::{SandboxLine, TestLine, ToolLine, Waiting, schema};

/// `approval`: something about a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "what", rename_all = "camelCase")]
pub enum ApprovalNews {
    /// It waits for a person.
    Asked(Box<Waiting>),
    /// It still does.
    #[serde(rename_all = "camelCase")]
    StillWaiting {
        /// The question.
        #[schema(value_type = schema::Uuid)]
        id: ApprovalId,
        /// For so long, in milliseconds.
        waited_ms: u64,
        /// Milliseconds that are left.
        remaining_ms: u64,
    },
    /// It waits no more.
    Answered(Settled),
}

shape! {
    /// How a question ended.
    #[derive(Eq)]
    Settled of bailiwick_core::Settled {
        /// The question.
        #[schema(value_type = schema::Uuid)]
        id: ApprovalId,
        /// The tool.
        tool: String,
        /// `yes`, `no`, `nobody`, `nothing` (the deadline), `withdrawn` (the caller went away).
        answer: String,
        /// Who answered.
        by: Option<String>,
    }
}

shape! {
    /// `tool`: a change of a tool.
    #[derive(Eq)]
    ToolChange of bailiwick_core::ToolChange {
        /// What was done, as the record calls it: `tool.publish`.
        action: String,
        /// The tool afterwards; null when it is gone.
        tool: Option<ToolLine>,
        /// Its name.
        name: String,
        /// Whether it can be called now.
        is_published: bool,
        /// Whether it could be called before.
        was_published: bool,
        /// The name by which it could be called before.
        published_as: Option<String>,
    }
}

/// `sandbox`: something that was done to a sandbox that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxChange {
    /// What was done, as the record calls it: `sandbox.create`, `exec`.
    pub action: String,
    /// The sandbox afterwards.
    pub sandbox: SandboxLine,
    /// What a command ended with, as a shell would tell it; null where none did.
    pub exit_status: Option<i32>,
}

/// `test`: a test that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestEvent {
    /// The tool it belongs to.
    pub tool: String,
    /// The test.
    pub line: TestLine,
}

/// `progress`: how far something long is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Done so far.
    pub done: u64,
    /// Of so many; null when that is not known.
    pub of: Option<u64>,
}

/// `missed`: whoever listens was too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissedEvents {
    /// So many events were left out here.
    pub count: u64,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// `log`
    Log(bailiwick_types::LogLine),
    /// `test`
    Test(Box<TestEvent>),
    /// `progress`
    Progress(Progress),
    /// `approval`
    Approval(Box<ApprovalNews>),
    /// `tool`
    Tool(Box<ToolChange>),
    /// `key`: a key that is worthless from now on.
    Key(Box<crate::KeyLine>),
    /// `sandbox`
    Sandbox(Box<SandboxChange>),
    /// `audit`
    Audit(serde_json::Value),
    /// `missed`
    Missed(MissedEvents),
}

impl News {
    /// The names of all events that tell of something that happened, apart from `result` and `error` at the end.
    pub const NAMES: &'static [&'static str] =
        &["log", "test", "progress", "approval", "tool", "key", "sandbox", "audit", "missed"];

    /// The name of the event.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Log(_) => "log",
            Self::Test(_) => "test",
            Self::Progress(_) => "progress",
            Self::Approval(_) => "approval",
            Self::Tool(_) => "tool",
            Self::Key(_) => "key",
            Self::Sandbox(_) => "sandbox",
            Self::Audit(_) => "audit",
            Self::Missed(_) => "missed",
        }
    }

    /// Its data.
    pub fn data(&self) -> serde_json::Result<String> {
        match self {
            Self::Log(line) => serde_json::to_string(line),
            Self::Test(test) => serde_json::to_string(test),
            Self::Progress(progress) => serde_json::to_string(progress),
            Self::Approval(news) => serde_json::to_string(news),
            Self::Tool(change) => serde_json::to_string(change),
            Self::Key(line) => serde_json::to_string(line),
            Self::Sandbox(change) => serde_json::to_string(change),
            Self::Audit(record) => serde_json::to_string(record),
            Self::Missed(missed) => serde_json::to_string(missed),
        }
    }

    /// Reads an event back; none for a name that is not among them, which an older reader passes over.
    pub fn read(name: &str, data: &str) -> serde_json::Result<Option<Self>> {
        Ok(Some(match name {
            "log" => Self::Log(serde_json::from_str(data)?),
            "test" => Self::Test(serde_json::from_str(data)?),
            "progress" => Self::Progress(serde_json::from_str(data)?),
            "approval" => Self::Approval(serde_json::from_str(data)?),
            "tool" => Self::Tool(serde_json::from_str(data)?),
            "key" => Self::Key(serde_json::from_str(data)?),
            "sandbox" => Self::Sandbox(serde_json::from_str(data)?),
            "audit" => Self::Audit(serde_json::from_str(data)?),
            "missed" => Self::Missed(serde_json::from_str(data)?),
            _ => return Ok(None),
        }))
    }
}

impl From<Event> for News {
    fn from(event: Event) -> Self {
        use bailiwick_core::Happening;
        match event {
            Event::Log(line) => Self::Log(line),
            Event::Test { tool, line } => Self::Test(Box::new(TestEvent { tool, line: (*line).into() })),
            Event::Progress { done, of } => Self::Progress(Progress { done, of }),
            Event::Waiting(waiting) => asked(*waiting),
            Event::StillWaiting { id, waited_ms, remaining_ms } => {
                Self::Approval(Box::new(ApprovalNews::StillWaiting { id, waited_ms, remaining_ms }))
            }
            Event::Happened(happening) => match *happening {
                Happening::Asked(waiting) => asked(waiting),
                Happening::Answered(settled) => {
                    Self::Approval(Box::new(ApprovalNews::Answered(settled.into())))
                }
                Happening::Tool(change) => Self::Tool(Box::new(change.into())),
                Happening::KeyGone(line) => Self::Key(Box::new(line.into())),
                Happening::Sandbox(change) => {
                    // Whose it is was seen to before this.
                    let bailiwick_core::sandboxes::SandboxChange { action, sandbox, exit_status, key: _ } =
                        change;
                    let sandbox = sandbox.into();
                    Self::Sandbox(Box::new(SandboxChange { action, sandbox, exit_status }))
                }
                Happening::Record(record) => Self::Audit(record),
                Happening::Missed(count) => Self::Missed(MissedEvents { count }),
            },
        }
    }
}

fn asked(waiting: bailiwick_core::Waiting) -> News {
    News::Approval(Box::new(ApprovalNews::Asked(Box::new(waiting.into()))))
}

/// Which action an event came with: a question is told in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// While an action of one's own is performed.
    Along,
    /// By watching.
    Watching,
}

impl News {
    /// The event as the inside has it.
    pub fn event(self, heard: Heard) -> Event {
        use bailiwick_core::Happening;
        let happened = |happening| Event::Happened(Box::new(happening));
        match self {
            Self::Log(line) => Event::Log(line),
            Self::Test(test) => {
                let TestEvent { tool, line } = *test;
                Event::Test { tool, line: Box::new(line.into()) }
            }
            Self::Progress(Progress { done, of }) => Event::Progress { done, of },
            Self::Approval(news) => match (*news, heard) {
                (ApprovalNews::Asked(waiting), Heard::Along) => Event::Waiting(Box::new((*waiting).into())),
                (ApprovalNews::Asked(waiting), Heard::Watching) => {
                    happened(Happening::Asked((*waiting).into()))
                }
                (ApprovalNews::StillWaiting { id, waited_ms, remaining_ms }, _) => {
                    Event::StillWaiting { id, waited_ms, remaining_ms }
                }
                (ApprovalNews::Answered(settled), _) => happened(Happening::Answered(settled.into())),
            },
            Self::Tool(change) => happened(Happening::Tool((*change).into())),
            Self::Key(line) => happened(Happening::KeyGone((*line).into())),
            Self::Sandbox(change) => {
                let SandboxChange { action, sandbox, exit_status } = *change;
                let sandbox = sandbox.into();
                happened(Happening::Sandbox(bailiwick_core::sandboxes::SandboxChange {
                    action,
                    sandbox,
                    exit_status,
                    key: None,
                }))
            }
            Self::Audit(record) => happened(Happening::Record(record)),
            Self::Missed(MissedEvents { count }) => happened(Happening::Missed(count)),
        }
    }
}
