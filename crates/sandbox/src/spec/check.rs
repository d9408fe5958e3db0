//! Whether a spec is one: every part looked at and bounded, before anything is made of it.

use std::collections::BTreeMap;
use std::time::Duration;

use bailiwick_types::{format_duration_ms, shortened};

use super::{Image, SandboxSpec, SpecError, Ttl};
use crate::command::LONGEST_ARGUMENT;

/// The most bytes of all variables together.
pub const MOST_ENVIRONMENT: usize = 256 * 1024;
/// The most labels.
pub const MOST_LABELS: usize = 32;
/// The most ports that may be exposed.
pub const MOST_PORTS: usize = 32;
/// The longest that a sandbox lives.
pub const MOST_TTL: Duration = Duration::from_hours(30 * 24);

const LONGEST_LABEL: usize = 63;
const LONGEST_LABEL_VALUE: usize = 256;
const LONGEST_IMAGE: usize = 1024;

impl SandboxSpec {
    /// Whether this can be made at all, whoever makes it.
    pub fn check(&self) -> Result<(), SpecError> {
        // Named one by one: a part that is added must be looked at here.
        let Self {
            image,
            snapshot: _,
            warm: _,
            env,
            mounts,
            overlays,
            network,
            secrets,
            limits,
            workdir,
            expose,
            labels,
            correlation: _,
            ttl,
            separate_uid: _,
        } = self;
        check_image(image)?;
        check_environment(env)?;
        let mounts: Vec<_> = mounts.iter().map(|mount| mount.asked().clone()).collect();
        let overlays: Vec<_> = overlays.iter().map(|overlay| overlay.asked().clone()).collect();
        crate::mount::check_mounts(&mounts, &overlays)?;
        network.rules()?;
        crate::secret::check(secrets, network)?;
        limits.check()?;
        check_workdir(workdir)?;
        check_ports(expose)?;
        check_labels(labels)?;
        check_ttl(ttl)
    }
}

/// Whether these can be the variables of a process, together with no others.
pub fn check_environment(env: &BTreeMap<String, String>) -> Result<(), SpecError> {
    let mut all = 0_usize;
    for (name, value) in env {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(SpecError::VariableName(shortened(name)));
        }
        if value.contains('\0') {
            return Err(SpecError::VariableValue(shortened(name)));
        }
        // `name=value` and the NUL behind it.
        let bytes = name.len().saturating_add(value.len()).saturating_add(2);
        if bytes > LONGEST_ARGUMENT {
            return Err(SpecError::VariableTooLong { name: shortened(name), bytes, most: LONGEST_ARGUMENT });
        }
        all = all.saturating_add(bytes);
    }
    if all > MOST_ENVIRONMENT {
        return Err(SpecError::Variables { bytes: all, most: MOST_ENVIRONMENT });
    }
    Ok(())
}

fn check_image(image: &Image) -> Result<(), SpecError> {
    let Image::Named(name) = image else { return Ok(()) };
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > LONGEST_IMAGE {
        "it is too long"
    } else if name.contains(char::is_control) {
        "it has a character in it that cannot be seen"
    } else {
        return Ok(());
    };
    Err(SpecError::Image { image: shortened(&bailiwick_types::visible(name)), why })
}

fn check_workdir(workdir: &crate::SandboxPath) -> Result<(), SpecError> {
    let first = workdir.as_str().split('/').nth(1).unwrap_or_default();
    if matches!(first, "proc" | "sys" | "dev") || crate::mount::is_backends(workdir) {
        return Err(SpecError::Workdir(shortened(workdir.as_str())));
    }
    Ok(())
}

fn check_ports(ports: &[u16]) -> Result<(), SpecError> {
    if ports.len() > MOST_PORTS {
        return Err(SpecError::TooMany { what: "ports", given: ports.len(), most: MOST_PORTS });
    }
    for (index, port) in ports.iter().enumerate() {
        if *port == 0 {
            return Err(SpecError::Port { port: 0, why: "nothing listens there" });
        }
        if ports.iter().skip(index + 1).any(|other| other == port) {
            return Err(SpecError::Port { port: *port, why: "it is named twice" });
        }
    }
    Ok(())
}

fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), SpecError> {
    if labels.len() > MOST_LABELS {
        return Err(SpecError::TooMany { what: "labels", given: labels.len(), most: MOST_LABELS });
    }
    for (label, value) in labels {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
        let why = if label.is_empty() || label.len() > LONGEST_LABEL {
            "its name must have 1 to 63 characters"
        } else if !label.chars().all(is_plain) {
            "its name may have letters, digits, `.`, `_`, `-` and `/` only"
        } else if value.len() > LONGEST_LABEL_VALUE {
            "its value has more than 256 bytes"
        } else if value.contains(char::is_control) {
            "its value has a character in it that cannot be seen"
        } else {
            continue;
        };
        return Err(SpecError::Label { label: shortened(&bailiwick_types::visible(label)), why });
    }
    Ok(())
}

fn check_ttl(ttl: &Ttl) -> Result<(), SpecError> {
    for (what, duration) in [("the idle time", ttl.idle), ("the whole time", ttl.absolute)] {
        if duration.is_zero() {
            return Err(SpecError::Ttl(what));
        }
        if duration > MOST_TTL {
            return Err(SpecError::TtlTooLong { what });
        }
    }
    Ok(())
}

pub(super) fn most_ttl() -> String {
    format_duration_ms(u64::try_from(MOST_TTL.as_millis()).unwrap_or(u64::MAX))
}

/// A duration as whole milliseconds.
pub(super) mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(crate::limits::millis(*duration))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
