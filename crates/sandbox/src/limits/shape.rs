//! Limits as JSON: every key says what it counts in. What is read is checked as if it had been typed.

use std::time::Duration;

use super::millis;
use super::{Bound, Limits, LimitsError, Preset};

/// The shape on the wire. What is left out is as in the standard preset.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct LimitsShape {
    cpu_millis: Bound<u32>,
    memory_bytes: Bound<u64>,
    disk_bytes: Bound<u64>,
    timeout_ms: Bound<u64>,
    processes: Bound<u32>,
    output_bytes: Bound<u64>,
}

impl Default for LimitsShape {
    fn default() -> Self {
        Limits::preset(Preset::Standard).into()
    }
}

impl From<Limits> for LimitsShape {
    fn from(limits: Limits) -> Self {
        let Limits { cpu, memory, disk, timeout, processes, output } = limits;
        Self {
            cpu_millis: cpu,
            memory_bytes: memory,
            disk_bytes: disk,
            timeout_ms: Bound { value: millis(timeout.value), from: timeout.from },
            processes,
            output_bytes: output,
        }
    }
}

impl TryFrom<LimitsShape> for Limits {
    type Error = LimitsError;

    fn try_from(shape: LimitsShape) -> Result<Self, Self::Error> {
        let LimitsShape { cpu_millis, memory_bytes, disk_bytes, timeout_ms, processes, output_bytes } = shape;
        let limits = Self {
            cpu: cpu_millis,
            memory: memory_bytes,
            disk: disk_bytes,
            timeout: Bound { value: Duration::from_millis(timeout_ms.value), from: timeout_ms.from },
            processes,
            output: output_bytes,
        };
        limits.check()?;
        Ok(limits)
    }
}
