//! The values settings have, and how each is shown.

use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick_policy::{AskWhen, CapabilityPattern, GuestPath, HostRule, NetworkMode, Sourced};
use bailiwick_types::{LimitKind, RiskLevel, Tier, format_duration_ms, format_size};
use serde_json::json;

/// A setting's value, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// An address and port.
    Listen(SocketAddr),
    /// Milliseconds.
    Duration(u64),
    /// A limit.
    Limit(LimitKind, u64),
    /// A risk level.
    Level(RiskLevel),
    /// A network mode.
    Mode(NetworkMode),
    /// Network modes.
    Modes(Vec<NetworkMode>),
    /// Capability patterns.
    Patterns(Vec<Sourced<CapabilityPattern>>),
    /// Host rules.
    Hosts(Vec<Sourced<Arc<HostRule>>>),
    /// Absolute folders.
    Folders(Vec<GuestPath>),
    /// When to ask; nothing is "never".
    Ask(Option<AskWhen>),
    /// Plain texts.
    Texts(Vec<String>),
    /// One plain text.
    Text(String),
    /// Yes or no.
    Switch(bool),
    /// A number of things.
    Count(u64),
    /// Bytes.
    Size(u64),
    /// Bytes; none is derived from the machine.
    SizeOrAuto(Option<u64>),
    /// Thousandths of a core.
    Cores(u32),
    /// How strong a wall is.
    Tier(Tier),
}

impl Value {
    /// As it would be written in JSON (and, for all of these, in TOML).
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Listen(address) => json!(address.to_string()),
            Self::Duration(ms) => json!(format_duration_ms(*ms)),
            Self::Limit(kind, value) => match kind.unit() {
                bailiwick_types::Unit::Count => json!(value),
                unit => json!(unit.format(*value)),
            },
            Self::Level(level) => json!(level.name()),
            Self::Mode(mode) => json!(mode.word()),
            Self::Modes(modes) => json!(modes.iter().map(|mode| mode.word()).collect::<Vec<_>>()),
            Self::Patterns(patterns) => {
                json!(patterns.iter().map(|pattern| pattern.value.text()).collect::<Vec<_>>())
            }
            Self::Hosts(rules) => json!(rules.iter().map(|rule| rule.value.to_json()).collect::<Vec<_>>()),
            Self::Folders(folders) => json!(folders.iter().map(ToString::to_string).collect::<Vec<_>>()),
            Self::Ask(when) => json!(when.map_or("never", AskWhen::word)),
            Self::Texts(texts) => json!(texts),
            Self::Text(text) => json!(text),
            Self::Switch(on) => json!(on),
            Self::Count(count) => json!(count),
            Self::SizeOrAuto(None) => json!("auto"),
            Self::Size(bytes) | Self::SizeOrAuto(Some(bytes)) => json!(format_size(*bytes)),
            Self::Cores(thousandths) => json!(f64::from(*thousandths) / 1000.0),
            Self::Tier(tier) => json!(tier.name()),
        }
    }
}
