//! What a policy reached at an earlier time, kept as JSON and compared after a restart.
//!
//! It answers one question: what does a policy of today allow that the one of then did not? It holds no
//! [`EffectivePolicy`] and must never become one: nothing is decided by what was remembered. A memory that cannot be
//! read in full is an error, and whoever asked has to take the policy of today for wider.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick_types::{LimitError, LimitKind, Limits, RiskLevel, ToolName, shortened};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::capability::{Capability, CapabilitySet};
use crate::diff::gained;
use crate::effective::{EffectivePolicy, Files, Net, Powers};
use crate::host::{HostPattern, HostRule, PathGlob, PortRule, Purpose};
use crate::network::{Method, MethodSet};
use crate::risk::Exposure;
use crate::{AskWhen, GuestPath, NetworkMode};

/// What a policy reached, without where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    pub(crate) allowed: CapabilitySet,
    pub(crate) mode: NetworkMode,
    pub(crate) hosts: Vec<Arc<HostRule>>,
    pub(crate) never: Vec<Arc<HostRule>>,
    pub(crate) reserved: Vec<Arc<HostRule>>,
    pub(crate) own_listeners: Vec<SocketAddr>,
    pub(crate) ask_net: Option<AskWhen>,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) delete: bool,
    pub(crate) base: Option<GuestPath>,
    pub(crate) read_roots: Vec<GuestPath>,
    pub(crate) ask_fs: Option<AskWhen>,
    pub(crate) limits: Limits,
    pub(crate) exposure: Exposure,
}

/// Why a memory cannot be read. The policy of today counts as wider than what nobody can read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RememberedError {
    /// It has not the shape that is written today.
    #[error("the remembered policy has another shape: {0}; run the test again")]
    Shape(String),
    /// A word that is not known, or not any more.
    #[error("the remembered policy names the {what} `{text}`, which is not known; run the test again")]
    Unknown {
        /// What it should have been.
        what: &'static str,
        /// What stands there.
        text: String,
    },
    /// A limit that does not hold.
    #[error("the remembered policy has a limit that cannot be: {0}; run the test again")]
    Limit(#[from] LimitError),
    /// A limit about which it says nothing.
    #[error("the remembered policy says nothing about the limit `{0}`; run the test again")]
    NoLimit(&'static str),
}

fn unknown(what: &'static str, text: &str) -> RememberedError {
    RememberedError::Unknown { what, text: shortened(text) }
}

impl Remembered {
    /// A policy as JSON: all that a later one is compared with, the same for the same powers.
    pub fn of(policy: &EffectivePolicy) -> Value {
        let rules = |rules: &[Arc<HostRule>]| rules.iter().map(|rule| rule.to_json()).collect::<Vec<_>>();
        // Destructured so that nothing that is compared can be left out of what is kept.
        let Self {
            allowed,
            mode,
            hosts,
            never,
            reserved,
            own_listeners,
            ask_net,
            read,
            write,
            delete,
            base,
            read_roots,
            ask_fs,
            limits,
            exposure,
        } = Self::from_policy(policy);
        let Exposure { unsealed_secrets, callees } = exposure;
        let limits: BTreeMap<&str, u64> =
            LimitKind::ALL.iter().map(|kind| (kind.key(), limits.get(*kind))).collect();
        json!({
            "capabilities": {
                "allowed": allowed.iter().map(Capability::name).collect::<Vec<_>>(),
                "denied": policy.denied().iter().map(Capability::name).collect::<Vec<_>>(),
            },
            "network": {
                "mode": mode.word(),
                "hosts": rules(&hosts),
                "never": rules(&never),
                "reserved": rules(&reserved),
                "ownListeners": own_listeners.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "ask": ask_net.map(AskWhen::word),
            },
            "files": {
                "read": read,
                "write": write,
                "delete": delete,
                "basePath": base.as_ref().map(ToString::to_string),
                "readRoots": read_roots.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "ask": ask_fs.map(AskWhen::word),
            },
            "limits": limits,
            "exposure": {
                "unsealedSecrets": unsealed_secrets,
                "callees": callees
                    .iter()
                    .map(|(name, level)| json!({"name": name, "level": level}))
                    .collect::<Vec<_>>(),
            },
        })
    }

    /// Reads what [`Remembered::of`] wrote.
    pub fn parse(value: &Value) -> Result<Self, RememberedError> {
        let written = Written::deserialize(value)
            .map_err(|error| RememberedError::Shape(shortened(&error.to_string())))?;
        let Written { capabilities, network, files, limits, exposure } = written;
        // Read for its names only: what is denied is not compared.
        set(&capabilities.denied)?;
        let callees = exposure.callees.into_iter().map(|callee| (callee.name, callee.level)).collect();
        Ok(Self {
            allowed: set(&capabilities.allowed)?,
            mode: word("network mode", &network.mode, &NetworkMode::WORDS)?,
            hosts: each(&network.hosts, rule)?,
            never: each(&network.never, rule)?,
            reserved: each(&network.reserved, rule)?,
            own_listeners: each(&network.own_listeners, |text| {
                text.parse().map_err(|_| unknown("listener", text))
            })?,
            ask_net: ask(network.ask.as_deref())?,
            read: files.read,
            write: files.write,
            delete: files.delete,
            base: files.base_path.as_deref().map(path).transpose()?,
            read_roots: each(&files.read_roots, |text| path(text))?,
            ask_fs: ask(files.ask.as_deref())?,
            limits: all_limits(&limits)?,
            exposure: Exposure { unsealed_secrets: exposure.unsealed_secrets, callees },
        })
    }

    /// What a policy allows that this one did not, one line each: as [`crate::diff`] says it. None means that it is
    /// no wider.
    pub fn widened_in(&self, now: &EffectivePolicy) -> Vec<String> {
        gained(self, now)
    }

    /// What a policy reaches.
    pub(crate) fn from_policy(policy: &EffectivePolicy) -> Self {
        let EffectivePolicy {
            baseline,
            profile: _,
            layers: _,
            powers,
            net,
            files,
            limits,
            limits_from: _,
            exposure,
        } = policy;
        let Powers { allowed, deny: _, allow_from: _, deny_from: _ } = powers;
        let Net { mode, hosts, ask: ask_net } = net;
        let Files { read, write, delete, base, ask: ask_fs } = files;
        Self {
            allowed: *allowed,
            mode: mode.value,
            hosts: hosts.iter().map(|rule| rule.value.clone()).collect(),
            never: baseline.never.iter().map(|rule| rule.value.clone()).collect(),
            reserved: baseline.reserved.iter().map(|rule| rule.value.clone()).collect(),
            own_listeners: baseline.own_listeners.clone(),
            ask_net: ask_net.map(|ask| ask.value),
            read: read.value,
            write: write.value,
            delete: delete.value,
            base: base.as_ref().map(|base| base.value.clone()),
            read_roots: baseline.read_roots.clone(),
            ask_fs: ask_fs.map(|ask| ask.value),
            limits: *limits,
            exposure: exposure.clone(),
        }
    }

    /// Whether an allow-list reached every public host on every port, as `strict` does.
    pub(crate) fn lists_everything(&self) -> bool {
        self.mode == NetworkMode::Allowlist
            && self.hosts.iter().any(|rule| {
                let HostRule { pattern, port, methods, paths, private: _ } = &**rule;
                *pattern == HostPattern::Any
                    && *port == PortRule::Any
                    && *methods == MethodSet::ALL
                    && paths.is_empty()
            })
    }
}

/// The JSON as it is written. A field more or less is another shape.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    capabilities: WrittenCapabilities,
    network: WrittenNetwork,
    files: WrittenFiles,
    limits: BTreeMap<String, u64>,
    exposure: WrittenExposure,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenCapabilities {
    allowed: Vec<String>,
    denied: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenNetwork {
    mode: String,
    hosts: Vec<WrittenRule>,
    never: Vec<WrittenRule>,
    reserved: Vec<WrittenRule>,
    own_listeners: Vec<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    ask: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenFiles {
    read: bool,
    write: bool,
    delete: bool,
    // Absent is not the same as null: what is missing may have been a bound.
    #[serde(deserialize_with = "Option::deserialize")]
    base_path: Option<String>,
    read_roots: Vec<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    ask: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenExposure {
    unsealed_secrets: Vec<String>,
    callees: Vec<WrittenCallee>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenCallee {
    name: ToolName,
    level: RiskLevel,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenRule {
    Short(String),
    Long(WrittenLongRule),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLongRule {
    host: String,
    #[serde(default)]
    port: Option<WrittenPort>,
    #[serde(default)]
    methods: Option<Vec<String>>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    private: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenPort {
    Number(u16),
    Word(String),
}

fn each<T, R>(
    list: &[T],
    read: impl Fn(&T) -> Result<R, RememberedError>,
) -> Result<Vec<R>, RememberedError> {
    list.iter().map(read).collect()
}

fn set(names: &[String]) -> Result<CapabilitySet, RememberedError> {
    names.iter().map(|name| Capability::from_name(name).ok_or_else(|| unknown("capability", name))).collect()
}

fn word<T: Copy>(what: &'static str, text: &str, words: &[(&str, T)]) -> Result<T, RememberedError> {
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| unknown(what, text))
}

fn ask(text: Option<&str>) -> Result<Option<AskWhen>, RememberedError> {
    text.map(|text| word("time to ask", text, &AskWhen::WORDS)).transpose()
}

fn path(text: &str) -> Result<GuestPath, RememberedError> {
    GuestPath::parse(text).map_err(|_| unknown("path", text))
}

/// A rule as it was written. It grants nothing here, so it may be as wide as it was.
fn rule(written: &WrittenRule) -> Result<Arc<HostRule>, RememberedError> {
    let parse = |host: &str| HostRule::parse(host, Purpose::Refuse).map_err(|_| unknown("host", host));
    let WrittenLongRule { host, port, methods, paths, private } = match written {
        WrittenRule::Short(host) => return parse(host).map(Arc::new),
        WrittenRule::Long(long) => long,
    };
    let mut rule = parse(host)?;
    rule.port = match port {
        None => PortRule::SchemeDefault,
        Some(WrittenPort::Number(port)) => PortRule::Exact(*port),
        Some(WrittenPort::Word(word)) if word == "*" => PortRule::Any,
        Some(WrittenPort::Word(word)) => return Err(unknown("port", word)),
    };
    if let Some(methods) = methods {
        let methods = each(methods, |word| Method::parse(word).ok_or_else(|| unknown("method", word)))?;
        rule.methods = MethodSet::of(methods).ok_or_else(|| unknown("list of methods", "[]"))?;
    }
    rule.paths = each(paths, |text| PathGlob::parse(text).map_err(|_| unknown("path", text)))?;
    rule.private = *private;
    Ok(Arc::new(rule))
}

fn all_limits(written: &BTreeMap<String, u64>) -> Result<Limits, RememberedError> {
    if let Some(odd) = written.keys().find(|key| LimitKind::from_key(key).is_none()) {
        return Err(unknown("limit", odd));
    }
    let mut limits = Limits::shipped_defaults();
    for kind in LimitKind::ALL {
        let value = written.get(kind.key()).ok_or(RememberedError::NoLimit(kind.key()))?;
        limits.set(*kind, *value)?;
    }
    Ok(limits)
}
