//! A wish and the operator's settings make a spec, or a refusal before anything is created.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_config::SandboxSettings;
use bailiwick_sandbox::{
    Amount, Backend, Backends, Ceilings, Demand, Image, Limit, Limits, LimitsError, Mount, Overlay, Preset,
    Sandbox, SandboxError, SandboxSpec, Snapshot, SpecError, Ttl, judge, unenforceable,
};
use bailiwick_types::{CorrelationId, ErrorCode, Tier, parse_duration_ms, shortened};

use super::mounts::CheckedMount;
use super::roots::MountRoots;
use super::wish::SandboxWish;
use crate::{Origin, Refusal};

/// The longest name of a sandbox.
const LONGEST_NAME: usize = 63;

/// What the operator says about sandboxes.
#[derive(Debug, Clone)]
pub struct Rules<'a> {
    /// The settings.
    pub settings: &'a SandboxSettings,
    /// Our own folders and files, which are never mounted.
    pub own: Vec<PathBuf>,
    /// The directories of `fs.mounts`.
    pub roots: MountRoots,
}

impl<'a> Rules<'a> {
    /// For what mounts nothing.
    pub fn without_mounts(settings: &'a SandboxSettings) -> Self {
        Self { settings, own: Vec::new(), roots: MountRoots::default() }
    }
}

/// A wish that the operator allows. Nobody changes what is to be made behind that.
#[derive(Debug, Clone)]
pub struct Resolved {
    spec: SandboxSpec,
    /// What people call it.
    pub name: Option<String>,
    floor: Tier,
    backend: Option<String>,
    /// Somebody wants a wall of this strength: the strongest is taken then, and not the preferred one.
    wants_strong: bool,
    /// Walls that may be partial.
    lenient: Vec<Demand>,
}

/// Makes a spec of a wish.
pub fn resolve(
    wish: &SandboxWish,
    rules: &Rules<'_>,
    origin: Origin,
    snapshot: Option<Snapshot>,
    correlation: &CorrelationId,
) -> Result<Resolved, Refusal> {
    if !wish.secrets.is_empty() && origin == Origin::Wire {
        let message = "only the operator's own user lends secrets to a sandbox";
        return Err(Refusal::new(ErrorCode::Forbidden, message)
            .with_hint("use a command tool whose statics seal the secret, or leave it out"));
    }
    allowed_wish(wish, rules, origin, snapshot, correlation)
}

/// Makes a spec of what a command tool's document says. That is nobody's typed word, so what it mounts is held to the
/// operator's list; the secrets that its statics seal are covered by its pass, as those of any tool are.
pub(crate) fn resolve_tool(
    wish: &SandboxWish,
    rules: &Rules<'_>,
    correlation: &CorrelationId,
) -> Result<Resolved, Refusal> {
    allowed_wish(wish, rules, Origin::Wire, None, correlation)
}

fn allowed_wish(
    wish: &SandboxWish,
    rules: &Rules<'_>,
    origin: Origin,
    snapshot: Option<Snapshot>,
    correlation: &CorrelationId,
) -> Result<Resolved, Refusal> {
    let settings = rules.settings;
    let mut spec = SandboxSpec::new(limits(wish, settings)?);
    if let Some(network) = &wish.network {
        spec.network =
            network.parse().map_err(|error: SpecError| Refusal::from(SandboxError::from(error)))?;
    }
    if !settings.network.iter().any(|mode| mode == spec.network.mode()) {
        let message = format!("the operator does not allow the network `{}`", spec.network.mode());
        let hint = format!("allowed are {}; the key is sandbox.network", settings.network.join(", "));
        return Err(Refusal::new(ErrorCode::Forbidden, message).with_hint(hint));
    }
    let looked = |mount: &Mount| {
        let checked = CheckedMount::check(mount, rules, origin).map_err(|error| {
            Refusal::from(error).with_hint("mount a folder that holds just what the command needs")
        });
        checked.map(CheckedMount::into_mount)
    };
    for mount in &wish.mounts {
        spec.mounts.push(looked(mount)?);
    }
    for Overlay { from, to } in &wish.overlays {
        // What is seen through an overlay is read, and may be changed once somebody has looked at it.
        let mount = looked(&Mount { from: from.clone(), to: to.clone(), writable: true })?;
        spec.overlays.push(mount.into_overlay()?);
    }
    if let Some(image) = &wish.image {
        spec.image = Image::Named(image.clone());
    }
    spec.expose.clone_from(&wish.expose);
    if !wish.secrets.is_empty() && !settings.authority {
        let message = "sealed secrets need an authority of the sandbox: without one nothing can be put into TLS, and the \
             operator has not opted in";
        return Err(Refusal::new(ErrorCode::Unenforceable, message).with_hint(
            "the operator opts in with sandbox.authority = true: then TLS of sandboxes is ended by the proxy, and their \
             requests are seen",
        ));
    }
    spec.secrets.clone_from(&wish.secrets);
    if wish.commit && origin == Origin::Wire {
        let message = "what a command changed is taken by a person, after a look at it";
        return Err(Refusal::new(ErrorCode::Forbidden, message).with_hint(
            "keep the sandbox, look at the changes, and commit them with a key that may approve",
        ));
    }
    spec.env.clone_from(&wish.env);
    if let Some(workdir) = &wish.workdir {
        spec.workdir = workdir.clone();
    }
    spec.labels.clone_from(&wish.labels);
    spec.correlation = Some(correlation.clone());
    spec.ttl = Ttl {
        idle: lives("idle", wish.idle.as_deref(), settings.idle_ms)?,
        absolute: lives("absolute", wish.absolute.as_deref(), settings.absolute_ms)?,
    };
    spec.snapshot = snapshot;
    spec.separate_uid = settings.require.iter().any(|word| word == Demand::Uid.name());
    spec.check().map_err(|error| Refusal::from(SandboxError::from(error)))?;
    Ok(Resolved {
        spec,
        name: wish.name.as_deref().map(name).transpose()?,
        floor: match wish.tier {
            Some(tier) if tier.meets(settings.floor) => tier,
            _ => settings.floor,
        },
        backend: wish.backend.clone(),
        wants_strong: wish.tier.is_some() || settings.floor != Tier::Process,
        lenient: lenient(settings),
    })
}

impl Resolved {
    /// What is to be made.
    pub const fn spec(&self) -> &SandboxSpec {
        &self.spec
    }

    /// The backend that will make it.
    pub async fn pick(&self, backends: &Backends) -> Result<Arc<dyn Backend>, Refusal> {
        let picked = match &self.backend {
            Some(id) => backends.named(id, self.floor, &self.spec).await,
            None if self.wants_strong => backends.select(self.floor, None, &self.spec).await,
            None => backends.preferred(&self.spec).await,
        };
        Ok(picked?)
    }

    /// Makes it. One whose receipt is below the floor, or lacks what is demanded, is ended again, whatever its backend had said.
    pub async fn create(&self, backend: &dyn Backend) -> Result<Box<dyn Sandbox>, Refusal> {
        held(self.floor, &self.spec, &self.lenient, backend.create(self.spec.clone()).await?).await
    }
}

/// A sandbox whose receipt says that it is at least this strong and holds all that is demanded. Another one is ended before anything
/// runs in it.
pub(super) async fn held(
    floor: Tier,
    spec: &SandboxSpec,
    lenient: &[Demand],
    sandbox: Box<dyn Sandbox>,
) -> Result<Box<dyn Sandbox>, Refusal> {
    let sandbox = at_least(floor, sandbox).await?;
    let Err(unheld) = judge(spec, &sandbox.receipt().walls, lenient) else {
        return Ok(sandbox);
    };
    let error = unenforceable(sandbox.backend(), spec, &unheld, &[]);
    let message = format!("{error}: {}", ended(sandbox).await);
    Err(error.hint().into_iter().fold(Refusal::new(error.code(), message), Refusal::with_hint))
}

async fn at_least(floor: Tier, sandbox: Box<dyn Sandbox>) -> Result<Box<dyn Sandbox>, Refusal> {
    let (tier, backend) = (sandbox.receipt().tier, sandbox.backend().to_owned());
    if tier.meets(floor) {
        return Ok(sandbox);
    }
    let end = ended(sandbox).await;
    let message = format!("the backend `{backend}` made a sandbox that is {tier}, below {floor}: {end}");
    Err(Refusal::new(ErrorCode::Unenforceable, message).with_hint(format!(
        "bailiwick doctor --backend {backend} tells what it is here; name another with --backend"
    )))
}

/// Ends a sandbox in which nothing may run, and tells of it.
async fn ended(sandbox: Box<dyn Sandbox>) -> String {
    match sandbox.terminate().await {
        Ok(()) => "it was ended, and nothing ran in it".to_owned(),
        Err(error) => format!("nothing ran in it, and it could not be ended: {error}"),
    }
}

/// The backends that the operator lets commands run on.
pub fn allowed(all: impl IntoIterator<Item = Arc<dyn Backend>>, settings: &SandboxSettings) -> Backends {
    let listed = |backend: &Arc<dyn Backend>| settings.backends.iter().any(|id| id == backend.id());
    Backends::new(all.into_iter().filter(listed)).with_lenient(lenient(settings))
}

/// The walls that may stand in part, since the operator said so.
pub fn lenient(settings: &SandboxSettings) -> Vec<Demand> {
    let named = |demand: &Demand| settings.accept.iter().any(|word| word == demand.name());
    Demand::ALL.into_iter().filter(named).collect()
}

fn limits(wish: &SandboxWish, settings: &SandboxSettings) -> Result<Limits, Refusal> {
    let read = || -> Result<Limits, LimitsError> {
        let preset: Preset = wish.preset.as_deref().unwrap_or(&settings.preset).parse()?;
        let typed = wish
            .limits
            .iter()
            .try_fold(Limits::preset(preset), |limits, (limit, text)| limits.with(*limit, text.as_str()))?;
        typed.within(&ceilings(settings)?)
    };
    read().map_err(|error| {
        let hint = match &error {
            LimitsError::Ceiling { what, .. } => {
                Some(format!("ask for less; the operator's key is sandbox.ceilings.{what}"))
            }
            _ => None,
        };
        hint.into_iter().fold(Refusal::from(SandboxError::from(error)), Refusal::with_hint)
    })
}

/// How much the operator lets one sandbox use.
pub fn ceilings(settings: &SandboxSettings) -> Result<Ceilings, LimitsError> {
    let most = &settings.ceilings;
    let ceilings = Ceilings::NONE
        .with(Limit::Cpu, f64::from(most.cpu) / 1000.0)?
        .with(Limit::Memory, most.memory)?
        .with(Limit::Disk, most.disk)?
        .with(Limit::Timeout, Amount::Text(&format!("{}ms", most.timeout_ms)))?
        .with(Limit::Processes, u64::from(most.processes))?
        .with(Limit::Output, most.output)?;
    let required = |limit: &Limit| settings.require.iter().any(|word| word == limit.name());
    Ok(Limit::ALL.into_iter().filter(required).fold(ceilings, Ceilings::requiring))
}

/// How long it lives: as was said, and no longer than the operator lets it.
fn lives(which: &str, said: Option<&str>, most_ms: u64) -> Result<Duration, Refusal> {
    let Some(text) = said else { return Ok(Duration::from_millis(most_ms)) };
    let ms = parse_duration_ms(text).map_err(|error| {
        Refusal::new(ErrorCode::InvalidInput, format!("the time to live ({which}): {error}"))
    })?;
    if ms == 0 || ms > most_ms {
        let message = format!(
            "a time to live ({which}) of {text} is not between nothing and the operator's {}",
            bailiwick_types::format_duration_ms(most_ms)
        );
        return Err(Refusal::new(ErrorCode::InvalidInput, message)
            .with_hint(format!("the operator's key is sandbox.{which}")));
    }
    Ok(Duration::from_millis(ms))
}

pub(super) fn name(text: &str) -> Result<String, Refusal> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    let message = format!("`{}` cannot be the name of a sandbox", shortened(text));
    Err(Refusal::new(ErrorCode::InvalidInput, message)
        .with_hint(format!("write up to {LONGEST_NAME} letters, digits, `-`, `_` and `.`")))
}

impl From<SandboxError> for Refusal {
    fn from(error: SandboxError) -> Self {
        let refusal = Self::new(error.code(), error.to_string());
        error.hint().into_iter().fold(refusal, Self::with_hint)
    }
}

#[cfg(test)]
pub(crate) mod tests;
