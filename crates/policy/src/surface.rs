//! What code finds when it runs: the globals a policy gives, the names it does not, and why.
//!
//! Generated from the registry. It is the list a cell has to install from, so that `bailiwick limits` and a running
//! tool cannot disagree.

use bailiwick_types::{ECMASCRIPT, LimitKind};
use serde_json::{Map, Value, json};

use crate::capability::{Capability, Grant};
use crate::{EffectivePolicy, HostRule, Method};

/// Names people expect from other runtimes and that never exist here.
const NEVER: &[(&str, &str, &str)] = &[
    ("require", "there are no modules: a tool is one file", "write the code into the tool"),
    ("import", "there are no modules: a tool is one file", "write the code into the tool"),
    ("process", "there is no process to see", "pass what you need as a parameter"),
    (
        "child_process",
        "no command runs on the host",
        "grant process.exec and use sandbox.exec, or write a command tool",
    ),
    ("fs", "files go through the gateway", "grant fileRead or fileWrite and use safety.fs"),
    ("Buffer", "this is not Node.js", "use Uint8Array, TextEncoder, atob and btoa"),
    ("XMLHttpRequest", "requests go through the gateway", "use fetch"),
    ("WebSocket", "only requests and their answers cross the wall", "use fetch"),
    ("SharedArrayBuffer", "shared memory makes precise clocks", "use ArrayBuffer"),
    ("Atomics", "shared memory makes precise clocks", "use ArrayBuffer"),
    (
        "WebAssembly",
        "code comes as source, so that it can be reviewed",
        "use a command tool in the wasm backend",
    ),
];

/// A name that a policy does not give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedName {
    /// The name.
    pub name: String,
    /// The capability that would bring it, if one would.
    pub capability: Option<Capability>,
    /// Why it is not there.
    pub why: String,
    /// What to do instead.
    pub instead: String,
}

/// The bounds of one request, which no document changes. The gateway takes them from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchBounds {
    /// All of a request, in milliseconds; never past the call's own deadline.
    pub total_ms: u64,
    /// Connecting, in milliseconds.
    pub connect_ms: u64,
    /// The body after decompression, in bytes.
    pub body_bytes: u64,
    /// Redirects followed.
    pub redirects: u32,
    /// The headers of an answer, in bytes.
    pub header_bytes: u64,
}

impl FetchBounds {
    /// The shipped bounds.
    pub const SHIPPED: Self = Self {
        total_ms: 10_000,
        connect_ms: 5_000,
        body_bytes: 5_000_000,
        redirects: 5,
        header_bytes: 65_536,
    };
}

/// Everything code can know about where it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface {
    /// The names that exist, dotted where only a part of an object does.
    pub globals: Vec<String>,
    /// The names that do not, with a reason.
    pub blocked: Vec<BlockedName>,
    /// The limits, and their ceilings.
    pub limits: Value,
    /// What fetch may do.
    pub fetch: Value,
}

impl Surface {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let Self { globals, blocked, limits, fetch } = self;
        let blocked: Vec<Value> = blocked
            .iter()
            .map(|BlockedName { name, capability, why, instead }| {
                let capability = capability.map(Capability::name);
                json!({"name": name, "capability": capability, "why": why, "instead": instead})
            })
            .collect();
        json!({"globals": globals, "blocked": blocked, "limits": limits, "fetch": fetch})
    }
}

/// The surface a policy gives.
pub fn surface(policy: &EffectivePolicy) -> Surface {
    let allowed = policy.allowed();
    let granted = allowed.iter().flat_map(|capability| capability.globals().iter().copied());
    let mut globals: Vec<String> = ECMASCRIPT.iter().copied().chain(granted).map(str::to_owned).collect();
    globals.sort_unstable();

    let absent = Capability::ALL.iter().filter(|capability| !allowed.contains(**capability));
    let mut blocked: Vec<BlockedName> =
        absent.flat_map(|capability| names_without(policy, *capability)).collect();
    blocked.extend(NEVER.iter().map(|(name, why, instead)| BlockedName {
        name: (*name).to_owned(),
        capability: None,
        why: (*why).to_owned(),
        instead: (*instead).to_owned(),
    }));

    Surface { globals, blocked, limits: limits_json(policy), fetch: fetch_json(policy) }
}

fn names_without(policy: &EffectivePolicy, capability: Capability) -> impl Iterator<Item = BlockedName> {
    let decision = policy.decide(&capability, crate::Answers::default());
    let denial = decision.denial();
    let reason = denial.map_or("", |denial| denial.reason.meaning());
    let fix = denial.and_then(|denial| denial.fix.as_ref());
    let instead = match (capability.grant(), fix) {
        _ if !capability.is_available() => "pass what you need as a parameter or a static".to_owned(),
        (_, None) => "ask the operator; nothing a tool declares would grant it".to_owned(),
        // Naming the hosts is narrower than what the bare capability would take.
        (Grant::Network, Some(_)) => "network: allowlist, and list the hosts".to_owned(),
        (_, Some(fix)) => format!("overrides: {} ({})", fix.overrides, fix.risk),
    };
    capability.globals().iter().map(move |name| BlockedName {
        name: (*name).to_owned(),
        capability: Some(capability),
        why: format!("`{capability}`: {reason}"),
        instead: instead.clone(),
    })
}

fn limits_json(policy: &EffectivePolicy) -> Value {
    let ceilings = &policy.baseline().ceilings.limits;
    let mut map = Map::new();
    for kind in LimitKind::ALL {
        let key = kind.json_key();
        map.insert(format!("{key}Max"), json!(ceilings.get(*kind)));
        map.insert(key, json!(policy.limits().get(*kind)));
    }
    Value::Object(map)
}

fn fetch_json(policy: &EffectivePolicy) -> Value {
    let FetchBounds { total_ms, connect_ms, body_bytes, redirects, header_bytes } = FetchBounds::SHIPPED;
    json!({
        "available": policy.allowed().contains(Capability::NetFetch),
        "network": policy.network().word(),
        "hosts": policy.hosts().map(|(rule, _)| HostRule::to_json(rule)).collect::<Vec<_>>(),
        "methods": Method::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>(),
        "perCall": policy.limits().fetches.get(),
        "atOnce": policy.limits().fetches_at_once.get(),
        "totalMs": total_ms,
        "connectMs": connect_ms,
        "bodyBytes": body_bytes,
        "redirects": redirects,
        "headerBytes": header_bytes,
    })
}
