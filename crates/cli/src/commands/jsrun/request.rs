//! The request of `jsrun`: defaults, ceilings and what is refused, in one place.

use bailiwick::{PureCall, Tenant};
use serde_json::{Map, Value};

/// The default and the ceiling of `wall_ms`.
const WALL_MS: (u64, u64) = (1_000, 30_000);

/// The default and the ceiling of `output_kb`.
const OUTPUT_KB: (u64, u64) = (64, 16_384);

/// A request that can be run.
pub(in crate::commands) struct Request {
    pub(super) call: PureCall,
    pub(super) wall_ms: u64,
    pub(super) output_kb: u64,
}

impl Request {
    /// Reads one; the error is the message of `INVALID_INPUT`.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() as u64 > super::LONGEST {
            return Err(format!("the request is longer than {} bytes", super::LONGEST));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|error| format!("the request is not UTF-8: {error}"))?;
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("the request is not JSON: {error}"))?;
        let Value::Object(fields) = value else { return Err("the request is not a JSON object".to_owned()) };
        let source = match fields.get("source") {
            Some(Value::String(source)) if !source.is_empty() => source.clone(),
            Some(Value::String(_)) => return Err("`source` is empty".to_owned()),
            Some(_) => return Err("`source` is not a string".to_owned()),
            None => return Err("`source` is missing".to_owned()),
        };
        let input = match fields.get("input") {
            None => String::new(),
            Some(Value::String(input)) => input.clone(),
            Some(_) => return Err("`input` is not a string".to_owned()),
        };
        let none = Map::new();
        let limits = match fields.get("limits") {
            None => &none,
            Some(Value::Object(limits)) => limits,
            Some(_) => return Err("`limits` is not an object".to_owned()),
        };
        let wall_ms = limit(limits, "wall_ms", WALL_MS)?;
        let output_kb = limit(limits, "output_kb", OUTPUT_KB)?;
        let call =
            PureCall { source, input, wall_ms, output_bytes: output_kb * 1024, tenant: Tenant::default() };
        Ok(Self { call, wall_ms, output_kb })
    }
}

/// A limit: absent, zero or negative means the default, above the ceiling means the ceiling.
fn limit(limits: &Map<String, Value>, name: &str, (default, ceiling): (u64, u64)) -> Result<u64, String> {
    let Some(value) = limits.get(name) else { return Ok(default) };
    let Value::Number(number) = value else { return Err(format!("`limits.{name}` is not a number")) };
    if let Some(whole) = number.as_u64() {
        return Ok(if whole == 0 { default } else { whole.min(ceiling) });
    }
    match number.as_f64() {
        Some(number) if number < 1.0 => Ok(default),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between one and the ceiling"
        )]
        #[expect(clippy::cast_precision_loss, reason = "the ceilings are small")]
        Some(number) => Ok(number.min(ceiling as f64) as u64),
        None => Err(format!("`limits.{name}` is not a number")),
    }
}
