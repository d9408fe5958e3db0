//! How much a sandbox may use. There is no "unlimited" but for processes, and no sandbox without a deadline.
//!
//! What somebody types comes in by [`Limits::with`], which refuses what is no limit; what the operator allows is in
//! [`crate::ceilings`]. It must never let a value pass that would mean "none" further down.

use std::time::Duration;

use crate::Demand;

mod amount;
mod shape;

pub(crate) use amount::millis;
pub use amount::{Amount, LEAST_CPU, LEAST_MEMORY, Limit};

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
#[serde(deny_unknown_fields)]
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

impl Preset {
    /// Every preset, the smallest first.
    pub const ALL: [Self; 3] = [Self::Minimal, Self::Standard, Self::Dev];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Standard => "standard",
            Self::Dev => "dev",
        }
    }
}

impl std::fmt::Display for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Preset {
    type Err = LimitsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|preset| preset.name() == text);
        known.ok_or_else(|| LimitsError::Preset(bailiwick_types::shortened(text)))
    }
}

/// How much a sandbox may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "shape::LimitsShape", into = "shape::LimitsShape")]
pub struct Limits {
    /// Thousandths of a core.
    pub cpu: Bound<u32>,
    /// Bytes of memory: of processes and of the sandbox's own files together.
    pub memory: Bound<u64>,
    /// Bytes of its own files, which count within memory.
    pub disk: Bound<u64>,
    /// How long a command may run.
    pub timeout: Bound<Duration>,
    /// Processes at once; 0 for no limit of its own.
    pub processes: Bound<u32>,
    /// Bytes that are kept of each stream.
    pub output: Bound<u64>,
}

/// Why a limit is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitsError {
    /// It is nothing, or less, or not a number.
    #[error("`{value}` cannot be the limit on {what}: {why}")]
    Value {
        /// Which limit.
        what: &'static str,
        /// What was given.
        value: String,
        /// Why not.
        why: String,
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
    /// Files count within memory, and more of them are asked for than there is memory.
    #[error(
        "a limit of {disk} on disk is above the limit of {memory} on memory, and a sandbox's own files count within its memory: raise memory to at least {disk}, or lower disk to at most {memory}"
    )]
    DiskAboveMemory {
        /// The limit on disk.
        disk: String,
        /// The limit on memory.
        memory: String,
    },
    /// There is no such preset.
    #[error("`{0}` is not a preset; presets are minimal, standard and dev")]
    Preset(String),
}

impl Default for Limits {
    fn default() -> Self {
        Self::preset(Preset::Standard)
    }
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

    /// So many cores, bytes of memory and seconds, as somebody typed them; the rest as in the standard preset.
    pub fn of(cores: f64, memory: u64, seconds: f64) -> Result<Self, LimitsError> {
        Self::default().with(Limit::Cpu, cores)?.with(Limit::Memory, memory)?.with(Limit::Timeout, seconds)
    }

    /// The same limits but for one, which somebody typed. A number counts cores, bytes, seconds or processes; a text is
    /// read as people write these: `0.5`, `64MiB`, `30s`, `20`.
    pub fn with<'a>(self, limit: Limit, amount: impl Into<Amount<'a>>) -> Result<Self, LimitsError> {
        self.with_from(limit, amount, From::Typed)
    }

    /// The same limits but for one, which this one wants.
    pub fn with_from<'a>(
        mut self,
        limit: Limit,
        amount: impl Into<Amount<'a>>,
        from: From,
    ) -> Result<Self, LimitsError> {
        let value = limit.read(&amount.into())?;
        self.put(limit, value, from);
        Ok(self)
    }

    /// The value of a limit: thousandths of a core, bytes, milliseconds, or processes.
    pub fn get(&self, limit: Limit) -> u64 {
        match limit {
            Limit::Cpu => u64::from(self.cpu.value),
            Limit::Memory => self.memory.value,
            Limit::Disk => self.disk.value,
            Limit::Timeout => millis(self.timeout.value),
            Limit::Processes => u64::from(self.processes.value),
            Limit::Output => self.output.value,
        }
    }

    /// Who wants a limit.
    pub const fn from(&self, limit: Limit) -> From {
        match limit {
            Limit::Cpu => self.cpu.from,
            Limit::Memory => self.memory.from,
            Limit::Disk => self.disk.from,
            Limit::Timeout => self.timeout.from,
            Limit::Processes => self.processes.from,
            Limit::Output => self.output.from,
        }
    }

    /// Sets a value that was checked.
    pub(crate) fn put(&mut self, limit: Limit, value: u64, from: From) {
        // What `Limit::check` lets pass fits; more than fits is the most that does.
        let small = u32::try_from(value).unwrap_or(u32::MAX);
        match limit {
            Limit::Cpu => self.cpu = Bound { value: small, from },
            Limit::Memory => self.memory = Bound { value, from },
            Limit::Disk => self.disk = Bound { value, from },
            Limit::Timeout => self.timeout = Bound { value: Duration::from_millis(value), from },
            Limit::Processes => self.processes = Bound { value: small, from },
            Limit::Output => self.output = Bound { value, from },
        }
    }

    /// Checks that every value is a limit and that a typed limit on disk fits into memory. The fields are public, so every
    /// backend calls this again.
    pub fn check(&self) -> Result<(), LimitsError> {
        Limit::ALL.into_iter().try_for_each(|limit| limit.check(self.get(limit)).map(drop))?;
        if self.disk.from == From::Typed && self.disk.value > self.memory.value {
            return Err(LimitsError::DiskAboveMemory {
                disk: Limit::Disk.told(self.disk.value),
                memory: Limit::Memory.told(self.memory.value),
            });
        }
        Ok(())
    }

    /// The size in bytes of the file system for a sandbox's own files. They are in its memory and count within it, so this
    /// is never more than the limit on memory; [`crate::receipt()`] names a preset's disk that was lowered to that.
    pub fn scratch(&self) -> u64 {
        self.disk.value.min(self.memory.value)
    }

    /// Who wants the limit behind a demand; none for a demand that is no limit.
    pub const fn of_demand(&self, demand: Demand) -> Option<From> {
        match demand {
            Demand::Memory => Some(self.memory.from),
            Demand::Cpu => Some(self.cpu.from),
            Demand::Disk => Some(self.disk.from),
            Demand::Processes => Some(self.processes.from),
            Demand::Timeout => Some(self.timeout.from),
            Demand::Network | Demand::Files | Demand::Privilege | Demand::Kill | Demand::Uid => None,
        }
    }

    /// Whether the limit behind a demand has to be held: deadlines always, others where they were typed or the operator
    /// requires them.
    pub const fn is_demanded(&self, demand: Demand) -> bool {
        match demand {
            Demand::Timeout => true,
            _ => matches!(self.of_demand(demand), Some(From::Typed | From::Operator)),
        }
    }
}
