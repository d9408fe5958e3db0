//! One limit from a text or a number, with everything refused that is none: nothing, less than nothing, no number, more
//! than a number can hold, and so little that nothing could start.

use std::time::Duration;

use bailiwick_types::{
    QuantityError, format_duration_ms, format_size, parse_count, parse_duration_ms, parse_size, shortened,
};

use super::LimitsError;

/// The least memory that a program and its loader can start in. Below it, everything would end with an odd error of
/// the loader's or the kernel's, so it is refused beforehand.
pub const LEAST_MEMORY: u64 = 4 << 20;
/// The least thousandths of a core: the kernel hands out CPU time in slices of a millisecond in a hundred.
pub const LEAST_CPU: u32 = 10;

const MOST_BYTES: u64 = 16 << 40;
const MOST_OUTPUT: u64 = 256 << 20;
const MOST_MILLIS: u64 = 30 * 24 * 60 * 60 * 1000;
const MOST_CPU: u64 = 4096 * 1000;
const MOST_PROCESSES: u64 = 1 << 22;

/// Which limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Cores.
    Cpu,
    /// Bytes of memory.
    Memory,
    /// Bytes of its own files.
    Disk,
    /// How long a command may run.
    Timeout,
    /// Processes at once.
    Processes,
    /// Bytes that are kept of each stream.
    Output,
}

/// A limit as somebody gave it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount<'a> {
    /// As text: `64MiB`.
    Text(&'a str),
    /// A number of cores, bytes, seconds or processes.
    Number(f64),
    /// A whole number of the same.
    Whole(u64),
}

impl<'a> From<&'a str> for Amount<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Amount<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Amount<'_> {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl std::fmt::Display for Amount<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&shortened(text)),
            Self::Number(number) => number.fmt(f),
            Self::Whole(number) => number.fmt(f),
        }
    }
}

impl Limit {
    /// Every limit.
    pub const ALL: [Self; 6] =
        [Self::Cpu, Self::Memory, Self::Disk, Self::Timeout, Self::Processes, Self::Output];

    /// Its name, as flags and keys spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Timeout => "timeout",
            Self::Processes => "processes",
            Self::Output => "output",
        }
    }

    /// A value of it as people write it.
    pub fn told(self, value: u64) -> String {
        match self {
            Self::Cpu if value.is_multiple_of(1000) => (value / 1000).to_string(),
            Self::Cpu => format!("{}.{:03}", value / 1000, value % 1000).trim_end_matches('0').to_owned(),
            Self::Memory | Self::Disk | Self::Output => format_size(value),
            Self::Timeout => format_duration_ms(value),
            Self::Processes => value.to_string(),
        }
    }

    const fn most(self) -> u64 {
        match self {
            Self::Cpu => MOST_CPU,
            Self::Memory | Self::Disk => MOST_BYTES,
            Self::Output => MOST_OUTPUT,
            Self::Timeout => MOST_MILLIS,
            Self::Processes => MOST_PROCESSES,
        }
    }

    /// What a number of cores or seconds is multiplied by.
    const fn scale(self) -> u64 {
        match self {
            Self::Cpu | Self::Timeout => 1000,
            Self::Memory | Self::Disk | Self::Output | Self::Processes => 1,
        }
    }

    /// The value: thousandths of a core, bytes, milliseconds, or processes.
    pub(crate) fn read(self, amount: &Amount<'_>) -> Result<u64, LimitsError> {
        let refused = |why: String| LimitsError::Value { what: self.name(), value: amount.to_string(), why };
        let value = match *amount {
            Amount::Text(text) => self.read_text(text),
            Amount::Number(number) => self.read_number(number),
            Amount::Whole(number) => number.checked_mul(self.scale()).ok_or_else(|| self.too_much()),
        };
        value.and_then(|value| self.is_one(value)).map_err(refused)
    }

    /// Whether a value is a limit.
    pub(crate) fn check(self, value: u64) -> Result<u64, LimitsError> {
        let refused = |why| LimitsError::Value { what: self.name(), value: self.told(value), why };
        self.is_one(value).map_err(refused)
    }

    fn is_one(self, value: u64) -> Result<u64, String> {
        match self {
            Self::Timeout if value == 0 => {
                Err("a command needs some time, and none runs without a deadline".into())
            }
            Self::Cpu | Self::Memory | Self::Output if value == 0 => Err("it must be more than zero".into()),
            Self::Cpu if value < u64::from(LEAST_CPU) => {
                Err(format!("the least that can be shared out is {} of a core", self.told(LEAST_CPU.into())))
            }
            Self::Memory if value < LEAST_MEMORY => {
                Err(format!("no program starts in less than {}", self.told(LEAST_MEMORY)))
            }
            _ if value > self.most() => Err(self.too_much()),
            _ => Ok(value),
        }
    }

    fn too_much(self) -> String {
        format!("it is more than {}, the most that can be asked for", self.told(self.most()))
    }

    fn read_text(self, text: &str) -> Result<u64, String> {
        if text.trim_start().starts_with('-') {
            return Err("it is less than zero".into());
        }
        let read = match self {
            Self::Cpu => {
                let number: f64 =
                    text.trim().parse().map_err(|_| "write a number of cores, for example 0.5 or 2")?;
                return self.read_number(number);
            }
            Self::Memory | Self::Disk | Self::Output => parse_size(text),
            Self::Timeout => parse_duration_ms(text),
            Self::Processes => parse_count(text),
        };
        read.map_err(|error| match error {
            QuantityError::Malformed { example, .. } => format!("write {example}"),
            QuantityError::TooLarge { .. } => self.too_much(),
        })
    }

    fn read_number(self, number: f64) -> Result<u64, String> {
        if number.is_nan() {
            return Err("it is not a number".into());
        }
        if number < 0.0 {
            return Err("it is less than zero".into());
        }
        #[expect(clippy::cast_precision_loss, reason = "scales and bounds are far below 2^53")]
        let (scaled, most) = (number * self.scale() as f64, self.most() as f64);
        if scaled > most {
            return Err(self.too_much());
        }
        if self.scale() == 1 && scaled.fract() != 0.0 {
            return Err("it must be a whole number".into());
        }
        // More than nothing never becomes nothing: a tenth of a millisecond is a millisecond.
        let whole = if self == Self::Timeout { scaled.ceil() } else { scaled.round() };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, not NaN, and at most `most`, by what was just looked at"
        )]
        let value = whole as u64;
        Ok(value)
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Whole milliseconds, rounded up: what is left of a deadline is never nothing.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
