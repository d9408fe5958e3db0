//! A spec as it is asked for at a server, or why it cannot be. It must never ask for more than the spec says, nor leave out
//! what the spec has.

use bailiwick_core::sandboxes::SandboxWish;
use bailiwick_sandbox::spec::MOST_LABELS;
use bailiwick_sandbox::{From, Image, Limit, Limits, Network, Preset, SandboxError, SandboxSpec, Ttl};
use bailiwick_types::{SandboxId, format_duration_ms, shortened};
use std::collections::BTreeMap;
use std::time::Duration;

use crate::{ID, MARK};

/// Whether a spec can be asked for at another machine at all.
pub(crate) fn can_cross(spec: &SandboxSpec) -> Result<(), SandboxError> {
    // Named one by one: a part that is added must be sent, or refused here.
    let SandboxSpec {
        image,
        snapshot,
        env: _,
        mounts,
        overlays,
        network,
        secrets,
        limits: _,
        workdir: _,
        // How one is at birth is not remembered there: a reset says that it cannot be proven.
        warm: _,
        expose,
        labels,
        correlation: _,
        ttl: _,
        // The receipt that comes back is held to it.
        separate_uid: _,
    } = spec;
    let what = if labels.contains_key(MARK) {
        "what another server's backend `remote` asks for: it would be handed on without an end".to_owned()
    } else if let Some(mount) = mounts.first() {
        format!("the mount `{mount}`: that folder is on this machine, and the sandbox is on another")
    } else if let Some(overlay) = overlays.first() {
        format!("the overlay `{overlay}`: that folder is on this machine, and the sandbox is on another")
    } else if let Some(secret) = secrets.first() {
        format!("the secret `{}`: no secret leaves this machine", shortened(&secret.secret))
    } else if let Some(port) = expose.first() {
        format!("the port {port}: a server forwards ports of its own machine only")
    } else if *network == Network::Host {
        "the network `host`: it would be that of another machine".to_owned()
    } else if let Some(snapshot) = snapshot.as_ref().filter(|snapshot| snapshot.backend != ID) {
        format!("a snapshot of the backend `{}`", shortened(&snapshot.backend))
    } else if let Image::Named(name) = image
        && name.starts_with(['/', '.', '~'])
    {
        format!(
            "the image `{}`: that path is of this machine, and the sandbox is on another",
            shortened(name)
        )
    } else if labels.len() >= MOST_LABELS {
        format!("{} labels: one of the {MOST_LABELS} is its own", labels.len())
    } else {
        return Ok(());
    };
    Err(SandboxError::Unsupported { backend: ID.to_owned(), what })
}

/// Whether everything that holds here about a network would hold there.
pub(crate) fn is_held_there(spec: &SandboxSpec, rules_here: &[&str]) -> Result<(), SandboxError> {
    if spec.network == Network::None || rules_here.is_empty() {
        return Ok(());
    }
    Err(SandboxError::Unenforceable {
        backend: ID.to_owned(),
        unheld: vec![format!(
            "network: {} of this machine, which another server does not know",
            rules_here.join(" and ")
        )],
        fix: "run it with no network, which is the default, or on a backend of this machine".to_owned(),
    })
}

/// What is asked for, under our own id, at this backend of the server's.
pub(crate) fn wish(spec: &SandboxSpec, id: SandboxId, backend: Option<&str>) -> SandboxWish {
    let (preset, limits) = limits(&spec.limits);
    let Ttl { idle, absolute } = spec.ttl;
    let mut labels = spec.labels.clone();
    labels.insert(MARK.to_owned(), id.to_string());
    SandboxWish {
        // By this name it is found again where the answer was lost.
        name: Some(id.to_string()),
        backend: backend.map(str::to_owned),
        preset: Some(preset.name().to_owned()),
        limits,
        image: match &spec.image {
            Image::Host => None,
            Image::Named(name) => Some(name.clone()),
        },
        network: Some(spec.network.to_string()),
        env: spec.env.clone(),
        workdir: Some(spec.workdir.clone()),
        snapshot: spec.snapshot.as_ref().map(|snapshot| snapshot.id.to_string()),
        labels,
        idle: Some(lasting(idle)),
        absolute: Some(lasting(absolute)),
        correlation: spec.correlation.clone(),
        ..SandboxWish::default()
    }
}

/// A time to live in whole milliseconds, and never longer than it is.
fn lasting(time: Duration) -> String {
    format_duration_ms(u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1))
}

/// A preset, and what differs from it. A limit of the preset stays one that nobody insisted on; one that is not as any preset has
/// it is asked for as it is, since less than that would be another sandbox and more would be a wider one.
fn limits(limits: &Limits) -> (Preset, BTreeMap<Limit, String>) {
    let is_of = |preset: Preset, limit: Limit| {
        limits.from(limit) == From::Preset && limits.get(limit) == Limits::preset(preset).get(limit)
    };
    let alike = |preset: &Preset| Limit::ALL.into_iter().filter(|limit| is_of(*preset, *limit)).count();
    let preset = Preset::ALL.into_iter().max_by_key(alike).unwrap_or_default();
    let differ = Limit::ALL.into_iter().filter(|limit| !is_of(preset, *limit));
    (preset, differ.map(|limit| (limit, limit.told(limits.get(limit)))).collect())
}

#[cfg(test)]
mod tests;
