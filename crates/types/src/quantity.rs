//! Durations, sizes and counts as people write them: `5s`, `64MiB`, `50_000_000`.
//!
//! A size suffix without `i` counts in powers of two as well: on a memory limit nobody means the decimal
//! megabyte, and two readings of `64M` would be worse than one.

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Not a number followed by a unit of this kind.
    #[error("`{text}` is not a {kind}; write {example}")]
    Malformed {
        /// What was expected: `duration`, `size`, `count`.
        kind: &'static str,
        /// What was given.
        text: String,
        /// How it is written.
        example: &'static str,
    },
    /// The number does not fit.
    #[error("`{text}` is too large a {kind}")]
    TooLarge {
        /// What was expected.
        kind: &'static str,
        /// What was given.
        text: String,
    },
}

const DURATION: (&str, &str) =
    ("duration", "a number and one of ms, s, m, h, d, for example 500ms, 5s or 2m");
const SIZE: (&str, &str) = ("size", "a number and one of B, KiB, MiB, GiB, for example 256KiB or 64MiB");
const COUNT: (&str, &str) = ("count", "a whole number, for example 20 or 50_000_000");

/// Milliseconds of a duration such as `500ms`, `5s`, `2m`, `1h`, `30d`.
pub fn parse_duration_ms(text: &str) -> Result<u64, QuantityError> {
    let factor = |unit: &str| match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" | "min" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    parse(text, DURATION, factor)
}

/// Bytes of a size such as `512`, `64KiB`, `64M`, `1GiB`.
pub fn parse_size(text: &str) -> Result<u64, QuantityError> {
    let factor = |unit: &str| match unit.to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "k" | "kb" | "kib" => Some(1 << 10),
        "m" | "mb" | "mib" => Some(1 << 20),
        "g" | "gb" | "gib" => Some(1 << 30),
        _ => None,
    };
    parse(text, SIZE, factor)
}

/// A plain whole number; `_` may group its digits.
pub fn parse_count(text: &str) -> Result<u64, QuantityError> {
    parse(text, COUNT, |unit| unit.is_empty().then_some(1))
}

fn parse(
    text: &str,
    (kind, example): (&'static str, &'static str),
    factor: impl Fn(&str) -> Option<u64>,
) -> Result<u64, QuantityError> {
    let shown = || crate::shortened(text);
    let malformed = || QuantityError::Malformed { kind, text: shown(), example };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(split);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(malformed());
    }
    let factor = factor(unit.trim_start()).ok_or_else(malformed)?;
    let too_large = || QuantityError::TooLarge { kind, text: shown() };
    let number: u64 = digits.replace('_', "").parse().map_err(|_| too_large())?;
    number.checked_mul(factor).ok_or_else(too_large)
}

/// Milliseconds as a person would write them.
pub fn format_duration_ms(ms: u64) -> String {
    largest_unit(ms, &[(3_600_000, "h"), (60_000, "m"), (1_000, "s")], "ms")
}

/// Bytes as a person would write them.
pub fn format_size(bytes: u64) -> String {
    largest_unit(bytes, &[(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")], "B")
}

fn largest_unit(value: u64, units: &[(u64, &str)], smallest: &str) -> String {
    units
        .iter()
        .find(|(factor, _)| value != 0 && value.is_multiple_of(*factor))
        .map_or_else(|| format!("{value}{smallest}"), |(factor, unit)| format!("{}{unit}", value / factor))
}
