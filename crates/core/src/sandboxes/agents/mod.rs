//! Sandboxes as an agent uses them through native tools. The agent says which command, which file, which of its own
//! sandboxes; image, network, limits and mounts are the operator's word and nothing that an agent sends changes them.
//!
//! It goes the way of every call: is the tool on → whose sandbox → badge → ceiling → approval (anything but yes is no) →
//! intent on the record → what was asked for → outcome. Start reading at `perform`.

mod judge;
mod offer;
mod perform;
mod python;
mod reach;
mod shown;

use std::collections::BTreeMap;

use bailiwick_sandbox::SandboxPath;
use bailiwick_types::CorrelationId;
use serde::{Deserialize, Serialize};

pub use offer::AgentOffer;
pub(crate) use perform::perform;
pub use reach::AgentTool;

use super::view::Cursor;
use super::wish::{CommandWish, InputBytes};

/// What an agent wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentWish {
    /// What is to be done.
    pub does: AgentDoes,
    /// What it is tied to.
    pub correlation: Option<CorrelationId>,
    /// Whether the agent itself said so. Otherwise what is done to a sandbox is tied to what that is tied to.
    pub is_tied: bool,
}

/// Where something is to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Session {
    /// In a sandbox of its own, which is gone afterwards.
    #[default]
    None,
    /// In a new one that is kept.
    New,
    /// In one that is kept, by its whole id.
    Kept(String),
}

/// What an agent can do, one of these for each tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum AgentDoes {
    /// Runs a command.
    RunCommand {
        /// Where.
        session: Session,
        /// What.
        command: CommandWish,
    },
    /// Runs Python.
    RunPython {
        /// Where; variables are kept with the sandbox.
        session: Session,
        /// What.
        code: String,
        /// How long it may take.
        timeout: Option<String>,
    },
    /// Makes a sandbox.
    Create {
        /// Variables of every command in it.
        env: BTreeMap<String, String>,
        /// Ports inside that may be exposed.
        ports: Vec<u16>,
    },
    /// Runs a command in one.
    Exec {
        /// Which.
        sandbox: String,
        /// What.
        command: CommandWish,
        /// Whether nobody waits for it.
        background: bool,
    },
    /// Looks at a command that nobody waits for.
    Poll {
        /// Where.
        sandbox: String,
        /// Which.
        exec: String,
        /// How far its output was read.
        cursor: Cursor,
        /// How long to wait for news.
        wait_ms: u64,
    },
    /// Ends such a command.
    Kill {
        /// Where.
        sandbox: String,
        /// Which.
        exec: String,
    },
    /// Gives a text.
    ReadFile {
        /// Of this sandbox.
        sandbox: String,
        /// Which.
        path: SandboxPath,
    },
    /// Writes a text.
    WriteFile {
        /// Of this sandbox.
        sandbox: String,
        /// Which.
        path: SandboxPath,
        /// What is to be in it.
        bytes: InputBytes,
        /// Whether it can be run.
        executable: bool,
    },
    /// Gives what is in a folder.
    ListFiles {
        /// Of this sandbox.
        sandbox: String,
        /// Which.
        path: SandboxPath,
    },
    /// Writes bytes.
    Upload {
        /// Of this sandbox.
        sandbox: String,
        /// Which.
        path: SandboxPath,
        /// What is to be in it.
        bytes: InputBytes,
        /// Whether it can be run.
        executable: bool,
    },
    /// Gives bytes.
    Download {
        /// Of this sandbox.
        sandbox: String,
        /// Which.
        path: SandboxPath,
    },
    /// Forwards a port of the host's loopback.
    Expose {
        /// To this sandbox.
        sandbox: String,
        /// To this port inside.
        port: u16,
    },
    /// Ends a sandbox and removes everything of it.
    Close {
        /// Which.
        sandbox: String,
    },
}

impl AgentDoes {
    /// The tool by which it is asked for.
    pub const fn tool(&self) -> AgentTool {
        match self {
            Self::RunCommand { .. } => AgentTool::RunCommand,
            Self::RunPython { .. } => AgentTool::RunPython,
            Self::Create { .. } => AgentTool::Create,
            Self::Exec { .. } => AgentTool::Exec,
            Self::Poll { .. } => AgentTool::Poll,
            Self::Kill { .. } => AgentTool::Kill,
            Self::ReadFile { .. } => AgentTool::ReadFile,
            Self::WriteFile { .. } => AgentTool::WriteFile,
            Self::ListFiles { .. } => AgentTool::ListFiles,
            Self::Upload { .. } => AgentTool::Upload,
            Self::Download { .. } => AgentTool::Download,
            Self::Expose { .. } => AgentTool::Expose,
            Self::Close { .. } => AgentTool::Close,
        }
    }
}
