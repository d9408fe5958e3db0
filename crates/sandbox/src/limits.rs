//! How much a sandbox may use. There is no "unlimited" but for processes, and no sandbox without a deadline.

use std::time::Duration;

use crate::Demand;

/// Where a limit came from: that decides whether it is a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// A preset that nobody insisted on.
    Preset,
    /// Somebody typed it.
    Typed,
    /// The operator requires it.
    Operator,
}

/// A limit, and who wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bound<T> {
    /// How much.
    pub value: T,
    /// Who wants it.
    pub from: From,
}

/// Limits by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// For a quick look.
    Minimal,
    /// For most commands.
    #[default]
    Standard,
    /// For builds and test suites.
    Dev,
}

/// How much a sandbox may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Thousandths of a core.
    pub cpu: Bound<u32>,
    /// Bytes of memory.
    pub memory: Bound<u64>,
    /// Bytes of its own files.
    pub disk: Bound<u64>,
    /// How long a command may run.
    pub timeout: Bound<Duration>,
    /// Processes at once; 0 for no limit of its own.
    pub processes: Bound<u32>,
    /// Bytes that are kept of each stream.
    pub output: Bound<u64>,
}

/// Why a limit is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LimitsError {
    /// It is nothing, or less, or not a number.
    #[error("`{value}` cannot be the limit on {what}: {why}")]
    Value {
        /// Which limit.
        what: &'static str,
        /// What was given.
        value: String,
        /// Why not.
        why: &'static str,
    },
    /// The operator allows less.
    #[error("a limit of {value} on {what} is above the operator's ceiling of {ceiling}")]
    Ceiling {
        /// Which limit.
        what: &'static str,
        /// What was asked for.
        value: String,
        /// The ceiling.
        ceiling: String,
    },
}

impl Limits {
    /// The limits of a preset.
    pub const fn preset(preset: Preset) -> Self {
        const MIB: u64 = 1 << 20;
        let (cpu, memory, disk, seconds, processes) = match preset {
            Preset::Minimal => (250, 64 * MIB, 16 * MIB, 5, 32),
            Preset::Standard => (1000, 256 * MIB, 256 * MIB, 30, 64),
            Preset::Dev => (2000, 2048 * MIB, 4096 * MIB, 600, 512),
        };
        Self {
            cpu: Bound { value: cpu, from: From::Preset },
            memory: Bound { value: memory, from: From::Preset },
            disk: Bound { value: disk, from: From::Preset },
            timeout: Bound { value: Duration::from_secs(seconds), from: From::Preset },
            processes: Bound { value: processes, from: From::Preset },
            output: Bound { value: MIB, from: From::Preset },
        }
    }

    /// Whether somebody insists on the limit behind a demand.
    pub const fn is_demanded(&self, demand: Demand) -> bool {
        let from = match demand {
            Demand::Memory => self.memory.from,
            Demand::Cpu => self.cpu.from,
            Demand::Disk => self.disk.from,
            Demand::Processes => self.processes.from,
            Demand::Timeout => return true,
            Demand::Network | Demand::Files | Demand::Identity | Demand::Kill => return true,
        };
        !matches!(from, From::Preset)
    }
}
