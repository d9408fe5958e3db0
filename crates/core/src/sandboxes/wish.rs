//! What somebody asks for, as they said it: a sandbox, a command. Nothing here is believed yet; [`super::resolve`] makes a
//! spec of it or says what is wrong.

use std::collections::BTreeMap;

use bailiwick_sandbox::{
    Command, Limit, Limits, Mount, Overlay, SandboxError, SandboxPath, SealedSecret, Window,
};
use bailiwick_types::{CorrelationId, Tier};
use serde::{Deserialize, Serialize};

use super::attend::Keep;
use crate::owner::Packed;

/// A sandbox that somebody wants.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SandboxWish {
    /// What people call it.
    pub name: Option<String>,
    /// The backend that has to be used.
    pub backend: Option<String>,
    /// The weakest wall, where that is above the operator's floor.
    pub tier: Option<Tier>,
    /// The preset of its limits; the operator's where there is none.
    pub preset: Option<String>,
    /// Limits that differ from the preset: `{"memory": "64MiB"}`.
    pub limits: BTreeMap<Limit, String>,
    /// The image that it begins with; the host's own programs without.
    pub image: Option<String>,
    /// What it can reach: `none`, `allow:host[:port],…`, `git`, `full`, `host`.
    pub network: Option<String>,
    /// Secrets that its commands use and never see. Only the operator's own user may name them.
    pub secrets: Vec<SealedSecret>,
    /// What of the host is in it.
    pub mounts: Vec<Mount>,
    /// Folders of the host that it sees as if it could change them.
    pub overlays: Vec<Overlay>,
    /// Take what a single command has changed under overlays, if it ends well.
    pub commit: bool,
    /// Ports inside that may be exposed.
    pub expose: Vec<u16>,
    /// Variables of every command in it.
    pub env: BTreeMap<String, String>,
    /// Where commands begin.
    pub workdir: Option<SandboxPath>,
    /// The snapshot that it begins with, by its id or the beginning of it.
    pub snapshot: Option<String>,
    /// What it is marked with.
    pub labels: BTreeMap<String, String>,
    /// How long it lives while nobody uses it: `5m`.
    pub idle: Option<String>,
    /// How long it lives at most.
    pub absolute: Option<String>,
    /// What caused it.
    pub correlation: Option<CorrelationId>,
}

/// A command that somebody wants to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CommandWish {
    /// Its words.
    pub argv: Vec<String>,
    /// A text for `/bin/sh` in place of words.
    pub shell: Option<String>,
    /// Where it begins.
    pub cwd: Option<SandboxPath>,
    /// Variables beside the sandbox's.
    pub env: BTreeMap<String, String>,
    /// What is on its standard input.
    pub input: GivenInput,
    /// Its own deadline: `5s`.
    pub timeout: Option<String>,
    /// A terminal of this size instead of three streams.
    pub terminal: Option<Window>,
    /// Whether its output is kept for the reply instead of being told as it comes.
    pub keep_output: bool,
    /// Whether all that it says is told, however much that is: whoever hears it keeps what they have room for.
    pub unending: bool,
}

/// What is on the standard input of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GivenInput {
    /// Nothing.
    #[default]
    Nothing,
    /// These bytes, in base64.
    Bytes(InputBytes),
    /// What comes while it runs.
    Comes,
}

/// Bytes of input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputBytes(Packed);

impl InputBytes {
    /// These.
    pub fn new(bytes: impl Into<bytes::Bytes>) -> Self {
        Self(Packed(bytes.into()))
    }

    /// The bytes.
    pub fn into_bytes(self) -> bytes::Bytes {
        self.0.0
    }
}

/// A command to be run somewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecWish {
    /// Where.
    pub target: Target,
    /// What.
    pub command: CommandWish,
    /// What caused it.
    pub correlation: Option<CorrelationId>,
}

/// Where a command is to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// In a sandbox of its own, which is gone afterwards.
    Fresh(Box<SandboxWish>),
    /// In one that is kept, by its id, the beginning of it, or its name.
    Kept(String),
}

impl CommandWish {
    /// What becomes of what it says.
    pub(crate) const fn keep(&self) -> Keep {
        match (self.keep_output, self.unending) {
            (true, _) => Keep::Captured,
            (false, true) => Keep::Unending,
            (false, false) => Keep::Streamed,
        }
    }

    /// The command, if it is one.
    pub fn command(&self) -> Result<Command, SandboxError> {
        let mut command = match &self.shell {
            Some(text) => Command::shell(text)?,
            None => Command::new(self.argv.iter().cloned())?,
        };

        command.env = self.env.clone();
        command.cwd.clone_from(&self.cwd);
        command.terminal = self.terminal;
        command = match &self.input {
            GivenInput::Nothing => command,
            GivenInput::Bytes(InputBytes(bytes)) => command.with_input(bytes.0.clone())?,
            GivenInput::Comes => {
                command.piped = true;
                command
            }
        };
        if let Some(text) = &self.timeout {
            let timeout = Limits::default().with(Limit::Timeout, text.as_str())?.timeout.value;
            command = command.with_timeout(timeout)?;
        }
        command.check()?;
        Ok(command)
    }
}
