//! Making a sandbox: its plan, its cgroups, a monitor within them, the agent in its seat, and a look from both sides.

use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_agent_host::life::{Awaited, Ends as _, State};
use bailiwick_agent_host::{Attended, Lent, Link, Parts, Places, carried, folders, label};
use bailiwick_sandbox::{SandboxError, SandboxSpec, Unpacked, judge, unenforceable};
use bailiwick_sys::cgroups::{Bounds, Controller};
use bailiwick_sys::privileges;
use bailiwick_types::{SandboxId, Tier, Wallpart};
use bailiwick_wire::seat::{FromSeat, Seen};

use crate::attendant::{self, Started, Talk};
use crate::backend::{Inner, Options};
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
use crate::{ID, failed, outside, report, unavailable};

/// How long a machine may take until it stands: one that is emulated on a host that is busy takes long.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// How long it is waited for the end of a monitor whose machine did not stand.
const ENDED: Duration = Duration::from_millis(500);
/// Memory of a monitor beside that of its machine.
pub(crate) const OF_THE_MONITOR: u64 = 256 << 20;
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

/// Makes a sandbox, or refuses and leaves nothing behind.
pub(crate) async fn create(
    inner: &Arc<Inner>,
    spec: SandboxSpec,
) -> Result<Arc<Attended<Machine>>, SandboxError> {
    spec.check()?;
    let (now, random) = label::random()?;
    let id = SandboxId::from_parts(now, &random);
    let accelerator = inner.accelerator().await?;
    let Options { images, egress, accept, patience, .. } = &inner.options;
    let lent = Lent::find(&spec, images.as_ref(), egress.as_ref()).await?;
    let places = Places::rooted(&spec);
    let stood = stand(inner, &spec, &lent, &places, By::usual(accelerator)).await?;
    let Stands { life, link, seen, report, runs, shape, shares } = stood;
    let accepted = match judge(&spec, &report, accept) {
        Ok(accepted) => accepted,
        Err(unheld) => {
            life.kill();
            life.removed().await;
            return Err(unenforceable(ID, &spec, &unheld, &[]));
        }
    };
    let receipt = lent.receipt(Tier::MicroVm, &spec, &report);
    let (is_kept, variables) = (spec.snapshot.is_some(), lent.variables());
    let Lent { image, outlet } = lent;
    let wall = Machine::new(inner.clone(), life, runs, (seen, shape), shares, image);
    let (warnings, patience) = (accepted.warnings, *patience);
    let parts = Parts { id, spec, places, link, receipt, warnings, variables, outlet, patience, wall };
    carried::begin(parts, is_kept).await
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
        memory: (size.memory << 20).saturating_add(OF_THE_MONITOR),
        cpu: spec.limits.cpu.value,
        pids: Some(THREADS + size.processors),
    };
    let wanted = [Controller::Memory, Controller::Cpu, Controller::Account, Controller::Pids];
    let group = inner.home.make(&name, bounds, &wanted);
    let life = Life::new(State::new(name, folder, group));
    inner.living.know(&life);
    let awaited = Awaited::new(life.clone());
    let settled = settle(inner, &life, &plan, from.as_deref(), by).await;
    awaited.is_over();
    let looked = settled.and_then(|settled| {
        let outside = outside::look(settled.number, &life.state.name);
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
        let group = life.state.group();
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
        let group = life.state.group();
        let told = Told {
            name: &life.state.name,
            folder: &life.state.folder,
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
                let link = greeting.go_on(kept.next).await.map_err(|error| error.to_string())?;
                return Ok((link, FromSeat::Taken(Box::new(kept.seen.clone())), orders, qmp));
            }
            From::Ready(_) => {
                talked(&mut qmp)?.go_on_from_memory().await?;
                orders.go_on().await?;
            }
            From::Start(Some(kind)) => {
                keep_ready(inner, &life.state.name, kind, &orders, talked(&mut qmp)?).await?;
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

/// Whoever serves files, shared with the thread that does.
pub(crate) type Serving = Arc<Mutex<Server>>;
