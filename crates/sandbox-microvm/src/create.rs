//! Making a sandbox: its plan, its cgroups, a monitor within them, the agent in its seat, and a look from both sides.

use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_agent_host::link::Greeting;
use bailiwick_agent_host::{Attended, Link, LinkError, Parts, Places, carried, label};
use bailiwick_sandbox::{Image, Network, Outlet, SandboxError, SandboxSpec, Unpacked, judge, unenforceable};
use bailiwick_sys::cgroups::{Bounds, Controller};
use bailiwick_sys::privileges;
use bailiwick_types::{SandboxId, Tier, Wallpart};
use bailiwick_wire::agent::{FromAgent, ToAgent};
use bailiwick_wire::seat::{FromSeat, Seen};

use crate::attendant::{self, Started, Talk};
use crate::backend::Inner;
use crate::kept::{Kept, Shape};
use crate::life::Life;
use crate::monitor::{Accelerator, Size, Told};
use crate::orders::Orders;
use crate::plan::{self, Of, Plan};
use crate::qmp::Qmp;
use crate::ready::Kind;
use crate::report::About;
use crate::served::{Names, Server, Shares};
use crate::wall::{Machine, Runs};
use crate::{ID, failed, folders, outside, report, unavailable};

/// How long a machine may take until it stands: one that is emulated on a host that is busy takes long.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// How long it is waited for the end of a monitor whose machine did not stand.
const ENDED: Duration = Duration::from_millis(500);
/// Memory of a monitor beside that of its machine.
const OVERHEAD: u64 = 256 << 20;
/// The most threads of a monitor beside one for each processor.
const THREADS: u32 = 32;
/// What would help where a machine does not start.
const FIX: &str =
    "look at what the monitor and the machine's console said; `sandbox.microvm.kernel` names another kernel";

/// A sandbox that stands.
#[derive(Debug)]
pub(crate) struct Stands {
    pub(crate) life: Arc<Life>,
    pub(crate) link: Link,
    pub(crate) seen: Seen,
    pub(crate) report: Vec<Wallpart>,
    runs: Runs,
    shape: Shape,
    shares: Arc<Shares>,
}

/// How a machine is made to stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct By {
    pub(crate) accelerator: Accelerator,
    /// Within this time.
    pub(crate) within: Duration,
    /// Whether it may go on from one that is ready, or be kept as one.
    pub(crate) goes_on: bool,
}

impl By {
    /// As all machines are.
    pub(crate) const fn usual(accelerator: Accelerator) -> Self {
        Self { accelerator, within: PATIENCE, goes_on: true }
    }
}

/// What a sandbox is lent before it is made.
#[derive(Debug, Default)]
pub(crate) struct Lent {
    image: Option<Arc<dyn Unpacked>>,
    outlet: Option<Arc<dyn Outlet>>,
}

/// Makes a sandbox, or refuses and leaves nothing behind.
pub(crate) async fn create(
    inner: &Arc<Inner>,
    spec: SandboxSpec,
) -> Result<Arc<Attended<Machine>>, SandboxError> {
    spec.check()?;
    let (now, random) = Inner::random()?;
    let id = SandboxId::from_parts(now, &random);
    let accelerator = inner.accelerator().await?;
    let lent = lend(inner, &spec).await?;
    let places = Places::rooted(&spec);
    let stood = stand(inner, &spec, &lent, &places, By::usual(accelerator)).await?;
    let Stands { life, link, seen, report, runs, shape, shares } = stood;
    let accepted = match judge(&spec, &report, &inner.options.accept) {
        Ok(accepted) => accepted,
        Err(unheld) => {
            life.kill();
            life.removed().await;
            return Err(unenforceable(ID, &spec, &unheld, &[]));
        }
    };
    let mut receipt = bailiwick_sandbox::receipt(Tier::MicroVm, &spec, &report);
    if let Some(outlet) = &lent.outlet {
        // The demand itself is in the report already; what stands behind it is told, too.
        receipt.walls.extend(outlet.walls().into_iter().skip(1));
    }
    let is_kept = spec.snapshot.is_some();
    let Lent { image, outlet } = lent;
    let sandbox = Attended::new(Parts {
        id,
        spec,
        places,
        link,
        receipt,
        warnings: accepted.warnings,
        variables: image.as_ref().map_or_else(Vec::new, |image| image.variables().to_vec()),
        outlet: outlet.clone(),
        patience: inner.options.patience,
        wall: Machine::new(inner.clone(), life, runs, (seen, shape), shares, image),
    });
    let served = match outlet {
        // One that was kept listens already.
        Some(outlet) if is_kept => {
            carried::serve_arrivals(&sandbox.link, outlet, sandbox.link.arrivals());
            Ok(())
        }
        Some(outlet) => carried::serve(&sandbox, outlet).await,
        None => Ok(()),
    };
    if let Err(error) = served {
        sandbox.end().await;
        return Err(error);
    }
    Ok(sandbox)
}

async fn lend(inner: &Inner, spec: &SandboxSpec) -> Result<Lent, SandboxError> {
    let mut lent = Lent::default();
    if let (Image::Named(name), Some(images)) = (&spec.image, &inner.options.images) {
        lent.image = Some(images.find(name).await?);
    }
    if let (Network::Allow(_) | Network::Git | Network::Full, Some(egress)) =
        (&spec.network, &inner.options.egress)
    {
        lent.outlet = Some(egress.outlet(spec)?);
    }
    Ok(lent)
}

/// Makes a sandbox that stands, fresh or as a snapshot has it.
pub(crate) async fn stand(
    inner: &Arc<Inner>,
    spec: &SandboxSpec,
    lent: &Lent,
    places: &Places,
    by: By,
) -> Result<Stands, SandboxError> {
    inner.begins().await?;
    let from = spec.snapshot.as_ref().map(|snapshot| inner.snapshots.find(snapshot)).transpose()?;
    let as_root = privileges::identity().0 == 0;
    let of = Of { spec, image: lent.image.as_deref(), outlet: lent.outlet.as_deref(), as_root };
    let plan = plan::plan(of, places)?;
    let digest = of.image.map(Unpacked::digest);
    let accelerator = by.accelerator;
    let shape = Shape::of(spec, digest, of.outlet.is_some(), plan.size, accelerator);
    if let Some(kept) = &from {
        kept.shape.check(&shape)?;
    }
    let name = label::fresh();
    let folder = inner.folder("boxes").join(&name);
    folders::private(&folder).map_err(|error| failed("make the folder of a sandbox", &error))?;
    let size = plan.size;
    let bounds = Bounds {
        memory: (size.memory << 20).saturating_add(OVERHEAD),
        cpu: spec.limits.cpu.value,
        pids: Some(THREADS + size.processors),
    };
    let wanted = [Controller::Memory, Controller::Cpu, Controller::Account, Controller::Pids];
    let group = inner.home.make(&name, bounds, &wanted);
    let life = Life::new(name, folder, group);
    inner.know(&life);
    let mut awaited = Awaited(Some(life.clone()));
    let settled = settle(inner, &life, &plan, from.as_deref(), by).await;
    awaited.0 = None;
    let looked = settled.and_then(|settled| {
        let outside = outside::look(settled.number, &life.name);
        let outside = outside.map_err(|why| failed("look at a machine from outside", &why))?;
        Ok((settled, outside))
    });
    let (Settled { link, seen, runs, shares, .. }, outside) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            life.kill();
            life.tidy();
            life.removed().await;
            return Err(error);
        }
    };
    life.tidy();
    let report = {
        let group = life.group();
        let (has_way_out, has_image) = (lent.outlet.is_some(), lent.image.is_some());
        report::on(About {
            spec,
            seen: &seen,
            outside: &outside,
            group: &group,
            monitor: inner.monitor,
            accelerator,
            size,
            has_way_out,
            has_image,
        })
    };
    Ok(Stands { life, link, seen, report, runs, shape, shares })
}

/// A machine that somebody waits for. Where they stop waiting before it stands, nobody else would end it.
struct Awaited(Option<Arc<Life>>);

impl Drop for Awaited {
    fn drop(&mut self) {
        let Some(life) = self.0.take() else { return };
        life.kill();
        // Without a runtime nobody removes what was made for it; the next start does.
        if tokio::runtime::Handle::try_current().is_ok() {
            life.tidy();
        }
    }
}

/// A machine whose agent is in its seat.
struct Settled {
    link: Link,
    seen: Seen,
    runs: Runs,
    number: u32,
    shares: Arc<Shares>,
}

/// How a machine is started: fresh, or with a memory.
pub(crate) struct Start {
    pub(crate) accelerator: Accelerator,
    pub(crate) size: Size,
    pub(crate) server: Server,
    pub(crate) memory: Option<File>,
}

/// Starts a monitor in the cgroups of a machine.
pub(crate) async fn start(inner: &Inner, life: &Arc<Life>, how: Start) -> Result<Started, SandboxError> {
    let Start { accelerator, size, server, memory } = how;
    let begins = inner.begins().await?;
    let as_root = privileges::identity().0 == 0;
    let prepared = {
        let group = life.group();
        let told = Told {
            name: &life.name,
            folder: &life.folder,
            program: &inner.program,
            accelerator,
            begins: &begins,
            size,
            group: &group,
            as_root,
            memory,
        };
        inner.monitor.prepare(told)
    };
    let trouble = |why| unavailable(format!("{}: {why}", inner.monitor.name()), FIX);
    let (command, ends) = prepared.map_err(trouble)?;
    attendant::start(command, ends, server).await.map_err(trouble)
}

/// Where a machine comes from.
enum From<'a> {
    /// A sandbox that was kept.
    Kept(&'a Kept),
    /// One that is ready.
    Ready(File),
    /// Its kernel is started; it is kept for the next of this kind.
    Start(Option<&'a Kind>),
}

/// Starts it, and waits until its agent has taken its place, or goes on. One that is ready and does not go on is forgotten.
async fn settle(
    inner: &Arc<Inner>,
    life: &Arc<Life>,
    plan: &Plan,
    from: Option<&Kept>,
    by: By,
) -> Result<Settled, SandboxError> {
    let how = (by.accelerator, by.within);
    if let Some(kept) = from {
        return settle_from(inner, life, plan, From::Kept(kept), how).await;
    }
    if !by.goes_on || !inner.monitor.keeps() {
        return settle_from(inner, life, plan, From::Start(None), how).await;
    }
    let kind = inner.kind(plan.size, by.accelerator).await?;
    if let Some(memory) = inner.ready.find(&kind) {
        match settle_from(inner, life, plan, From::Ready(memory), how).await {
            Err(SandboxError::Unavailable { reason, .. }) if !life.is_killed() => {
                tracing::warn!(reason, "a machine that was ready does not go on; one is started");
                inner.ready.forget(&kind);
                // The end of the first would be taken for that of the second.
                life.is_over().await;
            }
            done => return done,
        }
    }
    settle_from(inner, life, plan, From::Start(Some(&kind)), how).await
}

async fn settle_from(
    inner: &Arc<Inner>,
    life: &Arc<Life>,
    plan: &Plan,
    from: From<'_>,
    (accelerator, within): (Accelerator, Duration),
) -> Result<Settled, SandboxError> {
    let (shares, names) = match &from {
        From::Kept(kept) => (kept.shares.clone(), kept.names.clone()),
        _ => (plan.shares.clone(), Names::new(plan.shares.list.len())),
    };
    let server = Server::new(shares.clone(), names);
    let memory = match &from {
        From::Kept(kept) => Some(kept.memory.open()),
        From::Ready(file) => Some(file.try_clone()),
        From::Start(_) => None,
    };
    let memory = memory.transpose().map_err(|error| failed("open the memory of a machine", &error))?;
    let how = Start { accelerator, size: plan.size, server, memory };
    let started = start(inner, life, how).await?;
    let Started { streams, handle, number, server, mut said, ended } = started;
    life.runs(handle, ended);
    let name = inner.monitor.name();
    let trouble = |why: &str, said: &str| {
        unavailable(format!("{name} made no machine that stands ({why}): {said}"), FIX)
    };
    let stood = async {
        let Talk { mut greeting, orders, qmp } = attendant::streams(streams).await?;
        let mut qmp = match qmp {
            Some(qmp) => Some(Qmp::begin(qmp).await?),
            None => None,
        };
        match from {
            From::Kept(kept) => {
                talked(&mut qmp)?.go_on_from_memory().await?;
                orders.go_on().await?;
                let link = go_on(greeting, kept.next).await.map_err(|error| error.to_string())?;
                return Ok((link, FromSeat::Taken(Box::new(kept.seen.clone())), orders, qmp));
            }
            From::Ready(_) => {
                talked(&mut qmp)?.go_on_from_memory().await?;
                orders.go_on().await?;
            }
            From::Start(Some(kind)) => {
                keep_ready(inner, &life.name, kind, &orders, talked(&mut qmp)?).await?;
            }
            From::Start(None) => {}
        }
        let taken = async {
            greeting.say(&plan.machine).await?;
            greeting.say(&plan.seat).await?;
            greeting.next::<FromSeat>().await
        };
        let taken = taken.await.map_err(|error| error.to_string())?;
        Ok::<_, String>((greeting.link(), taken, orders, qmp))
    };
    let in_time = tokio::time::timeout(within, stood).await;
    match in_time.unwrap_or_else(|_| Err(format!("it did not stand after {within:?}"))) {
        Ok((link, FromSeat::Taken(seen), orders, qmp)) => {
            let runs = Runs { qmp: qmp.map(tokio::sync::Mutex::new), orders, server };
            Ok(Settled { link, seen: *seen, runs, number, shares })
        }
        Ok((_, FromSeat::Untaken { step, errno }, ..)) => {
            let system = std::io::Error::from_raw_os_error(errno);
            life.kill();
            Err(trouble(&format!("its first process could not {step}: {system}"), &said.text().await))
        }
        Err(why) => {
            // What it has to say comes with its end. Whoever asked may try another one in its place.
            life.end_program();
            // One that the kernel does not let go of is not waited for.
            let _still_there = tokio::time::timeout(ENDED, life.is_over()).await;
            Err(trouble(&why, &said.text().await))
        }
    }
}

/// The stream to a monitor that can be talked to.
fn talked(qmp: &mut Option<Qmp>) -> Result<&mut Qmp, String> {
    qmp.as_mut().ok_or_else(|| "its monitor cannot be talked to".to_owned())
}

/// Waits until a machine is up, keeps it for the next of its kind, and lets it go on. One that cannot be kept goes on all the same.
async fn keep_ready(
    inner: &Inner,
    owner: &str,
    kind: &Kind,
    orders: &Orders,
    qmp: &mut Qmp,
) -> Result<(), String> {
    orders.is_up().await?;
    let kept = async {
        let (memory, file) = inner.ready.begin(owner).map_err(|error| error.to_string())?;
        qmp.keep(&file).await?;
        inner.ready.finish(kind, memory).map_err(|error| error.to_string())
    };
    if let Err(why) = kept.await {
        tracing::warn!(why, "a machine that is ready could not be kept for the next one");
    }
    qmp.go_on().await?;
    orders.go_on().await
}

/// Goes on with an agent that was kept: it lets go of everything that somebody else had asked for.
async fn go_on(greeting: Greeting, next: u32) -> Result<Link, LinkError> {
    let link = greeting.link_from(next);
    let mut ask = link.open()?;
    link.say(&ToAgent::Forget { id: ask.id }).await?;
    match ask.next().await {
        Some(FromAgent::Done { .. }) => Ok(link),
        Some(_) => Err(LinkError::Broken("it gave an answer to something else".to_owned())),
        None => Err(link.why()),
    }
}

/// Whoever serves files, shared with the thread that does.
pub(crate) type Serving = Arc<Mutex<Server>>;
