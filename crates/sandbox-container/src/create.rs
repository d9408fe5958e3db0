//! Making a sandbox: what it is lent, a container that the engine builds, the agent in it, a look from both sides, and its files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bailiwick_agent_host::link::Greeting;
use bailiwick_agent_host::mounts::have_their_places;
use bailiwick_agent_host::staged::{Below, Staged};
use bailiwick_agent_host::{Attended, Link, Parts, Places, carried, label, packs};
use bailiwick_sandbox::{Network, Outlet, SandboxError, SandboxSpec, judge};
use bailiwick_types::{SandboxId, Tier, Wallpart};
use bailiwick_wire::seat::{FromSeat, Seat, Seen};
use bollard::query_parameters::{CreateContainerOptions, StartContainerOptions};

use crate::backend::Inner;
use crate::container::Container;
use crate::engine::{Engine, EngineError};
use crate::lent::Lent;
use crate::look::{self, Outside};
use crate::plan::{By, Plan};
use crate::runtime::{self, Kernel};
use crate::stream::{self, Silence};
use crate::wall::Contained;
use crate::{ID, image, mounts, reap, report};

/// How long an agent may take until it has its place.
const PATIENCE: Duration = Duration::from_secs(20);

/// A container that stands.
pub(crate) struct Stands {
    pub(crate) container: Arc<Container>,
    pub(crate) link: Link,
    pub(crate) places: Places,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) seen: Seen,
    pub(crate) outside: Outside,
    pub(crate) report: Vec<Wallpart>,
    pub(crate) tier: Tier,
    pub(crate) silence: Silence,
}

/// Makes a sandbox, or refuses and leaves nothing behind.
pub(crate) async fn create(
    inner: &Arc<Inner>,
    spec: SandboxSpec,
) -> Result<Arc<Attended<Contained>>, SandboxError> {
    spec.check()?;
    let (now, random) = label::random()?;
    let id = SandboxId::from_parts(now, &random);
    let engine = inner.engine().await?;
    let outlet = match (&spec.network, &inner.options.egress) {
        (Network::Allow(_) | Network::Git | Network::Full, Some(egress)) => Some(egress.outlet(&spec)?),
        _ => None,
    };
    let Stands { container, link, places, variables, outside, report, tier, silence, .. } =
        stand(inner, engine, spec.clone(), id, outlet.clone()).await?;
    let accepted = match judge(&spec, &report, &inner.options.accept) {
        Ok(accepted) => accepted,
        Err(unheld) => {
            end(&container).await;
            return Err(bailiwick_sandbox::unenforceable(ID, &spec, &unheld, &[]));
        }
    };
    let mut receipt = bailiwick_sandbox::receipt(tier, &spec, &report);
    if let Some(outlet) = &outlet {
        // The demand itself is in the report already; what stands behind it is told, too.
        receipt.walls.extend(outlet.walls().into_iter().skip(1));
    }
    let begins_with = spec.snapshot.clone();
    let sandbox = Attended::new(Parts {
        id,
        spec,
        places,
        link,
        receipt,
        warnings: accepted.warnings,
        variables,
        outlet: outlet.clone(),
        patience: inner.options.patience,
        wall: Contained::new(inner.clone(), container, outside.group, silence),
    });
    let ready = async {
        if let Some(outlet) = outlet {
            carried::serve(&sandbox, outlet).await?;
        }
        match begins_with {
            Some(snapshot) => packs::unpack(&sandbox, &inner.snapshots(), &snapshot).await,
            None => Ok(()),
        }
    };
    if let Err(error) = ready.await {
        sandbox.end().await;
        return Err(error);
    }
    Ok(sandbox)
}

async fn end(container: &Container) {
    container.kill();
    container.ended().await;
}

fn failed(step: &str, error: &dyn std::fmt::Display) -> SandboxError {
    SandboxError::Failed { step: step.to_owned(), reason: error.to_string() }
}

/// Has the engine build a container, and the agent in it take its place. It is done to its end, also where nobody waits for it any
/// more: what the engine was asked for half-way would be nobody's to remove.
pub(crate) async fn stand(
    inner: &Arc<Inner>,
    engine: Arc<Engine>,
    spec: SandboxSpec,
    id: SandboxId,
    outlet: Option<Arc<dyn Outlet>>,
) -> Result<Stands, SandboxError> {
    let inner = inner.clone();
    let building = async move { build(&inner, &engine, &spec, id, outlet.as_deref()).await };
    tokio::spawn(building).await.unwrap_or_else(|error| Err(failed("build a container", &error)))
}

async fn build(
    inner: &Inner,
    engine: &Arc<Engine>,
    spec: &SandboxSpec,
    id: SandboxId,
    outlet: Option<&dyn Outlet>,
) -> Result<Stands, SandboxError> {
    if let Some(why) = engine.unusable() {
        return Err(why);
    }
    let agent = agent(inner)?;
    let begins = image::find(engine, &spec.image).await?;
    // Until the container stands: it has mounts of its own then.
    let staged = if engine.sees_our_mounts {
        Staged::new(&spec.mounts, Below::Left)?
    } else {
        Staged::by_their_names(&spec.mounts, "the engine is in another mount namespace")?
    };
    have_their_places(&spec.mounts)?;
    let mounts = mounts::checked(&spec.mounts, &staged, engine.kind)?;
    let name = label::fresh();
    let lent = Lent::write(&inner.options.state, &name, outlet)?;
    let places = Places::rooted_with(spec, begins.volumes.iter().cloned());
    let runtime = inner.options.runtime.as_deref();
    let by = By { kind: engine.kind, runtime };
    let plan = Plan::of(spec, &places, &agent, begins, mounts, lent.bounds.clone(), by);
    let labels = HashMap::from([
        (reap::OWNER.to_owned(), name.clone()),
        (reap::WHERE.to_owned(), reap::place()),
        (reap::HELD.to_owned(), inner.held()?.to_owned()),
        (reap::SANDBOX.to_owned(), id.to_string()),
    ]);
    let body = plan.body(by, labels);
    let options = CreateContainerOptions { name: Some(name), platform: String::new() };
    let asking = engine.docker.create_container(Some(options), body);
    let made = engine
        .ask("make a container", asking)
        .await
        .map_err(|error| unmade(error, spec, &staged, runtime))?;
    let container = Container::new(engine.clone(), made.id, lent, inner.left.clone());
    inner.lives(&container);
    let silence = Silence::default();
    let stood = settle(&container, (spec, &staged), &places, &silence, runtime);
    let (seen, link) = match stood.await {
        Ok(stood) => stood,
        Err(error) => {
            end(&container).await;
            return Err(error);
        }
    };
    let tier = runtime::tier(runtime, &seen.kernel);
    let kernel = if tier == Tier::Container { Kernel::Ours } else { Kernel::Own };
    let outside = match look::at(&container, &plan, &agent, kernel).await {
        Ok(Outside { wrong: Some(why), .. }) => {
            drop(link);
            end(&container).await;
            return Err(failed("look at a container", &why));
        }
        Ok(outside) => outside,
        Err(error) => {
            drop(link);
            end(&container).await;
            return Err(error.into());
        }
    };
    if let Some(group) = outside.group.as_ref().filter(|_| kernel == Kernel::Ours) {
        // Engines do not set it, and only root may; the report reads it back and says `partial` where it is not set.
        let _not_ours = group.bound_sockets(plan.memory);
    }
    let report = report::on(engine, &plan, &seen, &outside, outlet.is_some());
    let variables = plan.begins.variables;
    Ok(Stands { container, link, places, variables, seen, outside, report, tier, silence })
}

/// The agent's program, where the engine can find it.
fn agent(inner: &Inner) -> Result<PathBuf, SandboxError> {
    let placed = bailiwick_agent_program::place(&inner.options.state.join("agent"));
    placed.map_err(|error| SandboxError::Unavailable {
        backend: ID.to_owned(),
        reason: error.to_string(),
        fix: None,
    })
}

/// A container that could not be made or started: because of what was asked for, or because of the engine.
fn unmade(error: EngineError, spec: &SandboxSpec, staged: &Staged, runtime: Option<&str>) -> SandboxError {
    if let EngineError::Refused { message, .. } = &error {
        if let Some(why) = runtime::unusable(runtime, message) {
            return why;
        }
        let mut named = spec.mounts.iter().zip(staged.names());
        let is_named = |name: &Path| message.contains(&name.display().to_string());
        if let Some((mount, _)) = named.find(|(_, name)| is_named(name)) {
            return SandboxError::Mount { path: mount.from.display().to_string(), why: message.clone() };
        }
    }
    error.into()
}

/// Starts a container with its stream attached, and gives its agent its place.
async fn settle(
    container: &Container,
    (spec, staged): (&SandboxSpec, &Staged),
    places: &Places,
    silence: &Silence,
    runtime: Option<&str>,
) -> Result<(Seen, Link), SandboxError> {
    let Container { engine, id, .. } = container;
    let mut greeting = stream::attach(engine, id, silence.clone()).await?;
    let starting = engine.docker.start_container(id, None::<StartContainerOptions>);
    engine.ask("start a container", starting).await.map_err(|error| {
        let is_refused = matches!(error, EngineError::Refused { .. });
        let why = unmade(error, spec, staged, runtime);
        if is_refused && matches!(why, SandboxError::Unavailable { .. }) {
            engine.is_unusable(&why);
        }
        why
    })?;
    let most = spec.limits.processes.value;
    let seat = Seat {
        user: None,
        folders: places.own_found(),
        resets: spec.warm,
        // On this machine's kernel its user is that of every container, and the engine's bound counts for this one alone.
        processes: (most > 0 && runtime::expected(runtime) == Kernel::Own).then_some(most),
        filter: true,
        supervises: spec.network != Network::Host && runtime::expected(runtime) == Kernel::Ours,
        laid: Vec::new(),
        away: Vec::new(),
    };
    let taking = async {
        greeting.say(&seat).await?;
        greeting.next::<FromSeat>().await
    };
    let unseated = |why: String| failed("give the agent its place in a container", &why);
    match tokio::time::timeout(PATIENCE, taking).await {
        Ok(Ok(FromSeat::Taken(seen))) => Ok((*seen, Greeting::link(greeting))),
        Ok(Ok(FromSeat::Untaken { step, errno })) => {
            Err(unseated(format!("{step}: {}", std::io::Error::from_raw_os_error(errno))))
        }
        Ok(Err(error)) => Err(unseated(silence.get().cloned().unwrap_or_else(|| error.to_string()))),
        Err(_) => Err(unseated(format!("it had none after {PATIENCE:?}"))),
    }
}
