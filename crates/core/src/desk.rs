//! Where a process of ours asks for actions: it owns the data folder itself, or talks to the process that does.

use std::path::PathBuf;

use bailiwick_config::Settings;
use bailiwick_runtime::Builder;
use bailiwick_secrets::Fallback;

use crate::{Action, Caller, Refusal, Reply};

/// What a desk is opened with.
#[derive(Debug)]
pub struct Opening {
    /// The data folder.
    pub data: PathBuf,
    /// The config folder, which no tool may read.
    pub config: PathBuf,
    /// The operator's settings.
    pub settings: Settings,
    /// Variables that may stand in for secrets.
    pub fallback: Fallback,
    /// How cells are made, when the first is needed.
    pub cells: Builder,
}

/// A place to ask for actions.
#[derive(Debug)]
pub struct Desk {}

impl Desk {
    /// Owns the data folder, or finds who does.
    pub async fn open(opening: Opening) -> Result<Self, Refusal> {
        let Opening { .. } = opening;
        Ok(Self {})
    }

    /// Whether this process owns the data folder.
    pub fn is_owner(&self) -> bool {
        true
    }

    /// Performs an action.
    pub async fn perform(&self, caller: Caller, action: Action) -> Result<Reply, Refusal> {
        let _ = (caller, action);
        Err(Refusal::new(bailiwick_types::ErrorCode::Unsupported, "not there"))
    }

    /// Gives the data folder back: what others asked for is finished first.
    pub async fn close(self) -> Result<(), Refusal> {
        Ok(())
    }
}
