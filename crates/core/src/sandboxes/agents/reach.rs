//! How far each tool reaches into what the sandbox may do, and so its badge and its hints. A badge is never below what the
//! tool can do with the sandbox that it is used on.

use bailiwick_policy::{
    CommandNetwork, CommandPlace, CommandPosture, Exposure, Hints, HostRule, MountMode, command_risk,
};
use bailiwick_sandbox::{Network, SandboxSpec};
use bailiwick_types::{Risk, RiskLevel, Tier};

use crate::command::network_of;

/// A native tool on sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentTool {
    /// `run_command`.
    RunCommand,
    /// `run_python`.
    RunPython,
    /// `sandbox_create`.
    Create,
    /// `sandbox_exec`.
    Exec,
    /// `sandbox_poll`.
    Poll,
    /// `sandbox_kill`.
    Kill,
    /// `sandbox_read_file`.
    ReadFile,
    /// `sandbox_write_file`.
    WriteFile,
    /// `sandbox_list_files`.
    ListFiles,
    /// `sandbox_upload`.
    Upload,
    /// `sandbox_download`.
    Download,
    /// `sandbox_expose`.
    Expose,
    /// `sandbox_close`.
    Close,
}

/// What a tool does with a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Runs commands, or lets them be reached.
    Runs,
    /// Writes files.
    Writes,
    /// Reads files.
    Reads,
    /// Looks at or ends what it began itself.
    Tends,
}

impl AgentTool {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::RunCommand,
        Self::RunPython,
        Self::Create,
        Self::Exec,
        Self::Poll,
        Self::Kill,
        Self::ReadFile,
        Self::WriteFile,
        Self::ListFiles,
        Self::Upload,
        Self::Download,
        Self::Expose,
        Self::Close,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RunCommand => "run_command",
            Self::RunPython => "run_python",
            Self::Create => "sandbox_create",
            Self::Exec => "sandbox_exec",
            Self::Poll => "sandbox_poll",
            Self::Kill => "sandbox_kill",
            Self::ReadFile => "sandbox_read_file",
            Self::WriteFile => "sandbox_write_file",
            Self::ListFiles => "sandbox_list_files",
            Self::Upload => "sandbox_upload",
            Self::Download => "sandbox_download",
            Self::Expose => "sandbox_expose",
            Self::Close => "sandbox_close",
        }
    }

    const fn reach(self) -> Reach {
        match self {
            Self::RunCommand | Self::RunPython | Self::Create | Self::Exec | Self::Expose => Reach::Runs,
            Self::WriteFile | Self::Upload => Reach::Writes,
            Self::ReadFile | Self::ListFiles | Self::Download => Reach::Reads,
            Self::Poll | Self::Kill | Self::Close => Reach::Tends,
        }
    }

    /// Its badge on a sandbox of this spec behind this wall, where these hosts may be private by the operator's word.
    pub(crate) fn risk(self, spec: &SandboxSpec, tier: Tier, private: &[HostRule]) -> Risk {
        let written = spec.mounts.iter().map(|mount| mount.writable);
        // What is written over an overlay stays beside the host's folder until a person takes it.
        self.risk_of(&spec.network, written.chain(spec.overlays.iter().map(|_| false)), tier, private)
    }

    /// Its badge on a sandbox with this network and mounts, of which those that say so can be written to.
    pub(super) fn risk_of(
        self,
        network: &Network,
        written: impl Iterator<Item = bool>,
        tier: Tier,
        private: &[HostRule],
    ) -> Risk {
        let all: Vec<bool> = written.collect();
        let mode = |writable: bool| if writable { MountMode::ReadWrite } else { MountMode::ReadOnly };
        let (network, mounts) = match self.reach() {
            Reach::Runs => (network_of(network), all.iter().map(|writable| mode(*writable)).collect()),
            Reach::Writes => (CommandNetwork::None, all.iter().map(|writable| mode(*writable)).collect()),
            Reach::Reads => (CommandNetwork::None, all.iter().map(|_| MountMode::ReadOnly).collect()),
            Reach::Tends => (CommandNetwork::None, Vec::new()),
        };
        if self.reach() != Reach::Runs && mounts.is_empty() {
            // Only what the sandbox made itself.
            return Risk { level: RiskLevel::L0, credited: None, reasons: Vec::new() };
        }
        let private = private.to_vec();
        let posture = CommandPosture { tier, place: CommandPlace::Here, network, private, mounts };
        command_risk(&posture, &Exposure::default())
    }

    /// What clients are told that it may do with a sandbox of this network, whose commands change the host or do not.
    pub(super) fn hints_of(self, network: &Network, changes_host: bool) -> Hints {
        let reaches = *network != Network::None;
        let looks = self.reach() == Reach::Reads || self == Self::Poll;
        match self.reach() {
            Reach::Runs => Hints {
                read_only: false,
                destructive: changes_host,
                idempotent: false,
                open_world: reaches || self == Self::Expose,
            },
            // What ends or writes over something leaves nothing of what was there, and twice is as good as once.
            Reach::Writes | Reach::Reads | Reach::Tends => {
                Hints { read_only: looks, destructive: !looks, idempotent: true, open_world: false }
            }
        }
    }
}

#[cfg(test)]
mod tests;
