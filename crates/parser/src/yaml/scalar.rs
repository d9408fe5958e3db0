//! What a scalar is, by the core schema of YAML 1.2.

use crate::Reason;

/// What a value can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Integer,
    Float,
    Text,
    List,
    Map,
}

/// A scalar that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scalar {
    /// The text that it is.
    Text,
    /// What it is as JSON.
    Json(String),
}

/// An integer of so many digits is written as it is; a longer one only as well as a number can hold it.
const DIGITS: usize = 30;

/// More than a number can hold: what reads it as one gets infinity.
const INFINITE: &str = "1e999";

impl Scalar {
    /// Reads a scalar, plain or in quotes, with a tag or without.
    pub(super) fn read(value: &str, plain: bool, tag: Option<Kind>) -> Result<Self, Reason> {
        let kind = match tag {
            None if !plain => Kind::Text,
            None => kind_of(value),
            Some(Kind::Text) => Kind::Text,
            Some(Kind::Float) if kind_of(value) == Kind::Integer => Kind::Float,
            Some(wanted) if kind_of(value) == wanted => wanted,
            Some(_) => return Err(Reason::Malformed),
        };
        match kind {
            Kind::Null => Ok(Self::Json("null".to_owned())),
            Kind::Bool => Ok(Self::Json(value.to_ascii_lowercase())),
            Kind::Integer | Kind::Float => number(value).map(Self::Json).ok_or(Reason::BadNumber),
            Kind::Text | Kind::List | Kind::Map => Ok(Self::Text),
        }
    }
}

/// What a plain scalar is.
pub(super) fn kind_of(value: &str) -> Kind {
    match value {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return Kind::Bool,
        ".nan" | ".NaN" | ".NAN" => return Kind::Float,
        _ => {}
    }
    let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Kind::Float;
    }
    let all = |digits: &str, is: fn(&u8) -> bool| !digits.is_empty() && digits.as_bytes().iter().all(is);
    if value.strip_prefix("0x").is_some_and(|digits| all(digits, u8::is_ascii_hexdigit))
        || value.strip_prefix("0o").is_some_and(|digits| all(digits, |byte| (b'0'..=b'7').contains(byte)))
        || all(unsigned, u8::is_ascii_digit)
    {
        return Kind::Integer;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        None => (unsigned, None),
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_mantissa = digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty());
    if has_mantissa && exponent.is_none_or(|exponent| all(exponent, u8::is_ascii_digit)) {
        Kind::Float
    } else {
        Kind::Text
    }
}

/// A number as JSON writes it; none for what is no number.
fn number(value: &str) -> Option<String> {
    let negative = value.starts_with('-');
    let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value);
    let sign = if negative { "-" } else { "" };
    let radix = |digits: &str, radix: u32| {
        digits
            .chars()
            .filter_map(|c| c.to_digit(radix))
            .fold(0.0, |sum: f64, digit| sum.mul_add(f64::from(radix), f64::from(digit)))
    };
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return written(sign, radix(digits, 16));
    }
    if let Some(digits) = unsigned.strip_prefix("0o") {
        return written(sign, radix(digits, 8));
    }
    if unsigned.eq_ignore_ascii_case(".inf") {
        return Some(format!("{sign}{INFINITE}"));
    }
    if unsigned.len() <= DIGITS && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let digits = unsigned.trim_start_matches('0');
        return Some(format!("{sign}{}", if digits.is_empty() { "0" } else { digits }));
    }
    written(sign, unsigned.parse().ok()?)
}

fn written(sign: &str, number: f64) -> Option<String> {
    if number.is_nan() {
        return None;
    }
    if number.is_infinite() {
        return Some(format!("{sign}{INFINITE}"));
    }
    if number != 0.0 && !(1e-7..1e21).contains(&number) {
        return Some(format!("{sign}{number:e}"));
    }
    Some(format!("{sign}{number}"))
}
