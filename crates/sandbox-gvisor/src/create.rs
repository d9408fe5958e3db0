//! Making a sandbox: its root, its cgroups, `runsc` within them, the agent in its seat, and a look from both sides.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_agent_host::life::{Awaited, Ends as _, State};
use bailiwick_agent_host::{Attended, Lent, Link, LinkError, Parts, Places, carried, folders, label};
use bailiwick_sandbox::{SandboxError, SandboxSpec, Unpacked, judge, unenforceable};
use bailiwick_sys::cgroups::{Bounds, Controller, Group};
use bailiwick_sys::privileges;
use bailiwick_types::{SandboxId, Tier, Wallpart};
use bailiwick_wire::seat::{FromSeat, Seen};

use crate::backend::{Inner, Options};
use crate::kept::{self, Known, Shape};
use crate::layout::{self, Layout, Of};
use crate::life::Life;
use crate::report::About;
use crate::runsc::{Said, Started};
use crate::wall::Sentry;
use crate::{ID, bundle, failed, outside, report};

/// How long a sandbox may take until it stands.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Memory that a sandbox has beside the limit while it starts: for its kernel, the gofer, and the program that started them.
pub(crate) const WHILE_IT_STARTS: u64 = 128 << 20;
/// How much more than when it stood gVisor itself may take: its kernel keeps something for every process, file and page of a guest.
const GROWTH: u64 = 4 << 20;

/// A sandbox that stands.
#[derive(Debug)]
pub(crate) struct Stands {
    pub(crate) life: Arc<Life>,
    pub(crate) link: Link,
    pub(crate) seen: Seen,
    pub(crate) report: Vec<Wallpart>,
    shape: Shape,
}

/// Makes a sandbox, or refuses and leaves nothing behind.
pub(crate) async fn create(
    inner: &Arc<Inner>,
    spec: SandboxSpec,
) -> Result<Arc<Attended<Sentry>>, SandboxError> {
    spec.check()?;
    let (now, random) = label::random()?;
    let id = SandboxId::from_parts(now, &random);
    let Options { images, egress, accept, patience, .. } = &inner.options;
    let lent = Lent::find(&spec, images.as_ref(), egress.as_ref()).await?;
    let places = Places::rooted(&spec);
    let Stands { life, link, seen, report, shape } = stand(inner, &spec, &lent, &places).await?;
    let accepted = match judge(&spec, &report, accept) {
        Ok(accepted) => accepted,
        Err(unheld) => {
            life.kill();
            life.removed().await;
            return Err(unenforceable(ID, &spec, &unheld, &[]));
        }
    };
    let receipt = lent.receipt(Tier::UserKernel, &spec, &report);
    let (is_kept, variables) = (spec.snapshot.is_some(), lent.variables());
    let Lent { image, outlet } = lent;
    let wall = Sentry::new(inner.clone(), life, seen, shape, image);
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
) -> Result<Stands, SandboxError> {
    let agent = bailiwick_agent_program::place(&inner.folder("agent"))
        .map_err(|error| inner.unavailable(error.to_string()))?;
    let from = spec.snapshot.as_ref().map(|snapshot| kept::find(&inner.snapshots(), snapshot)).transpose()?;
    let name = label::fresh();
    let folder = inner.folder("boxes").join(&name);
    let made = folders::private(&folder).and_then(|()| folders::private(&inner.runsc.root));
    made.map_err(|error| failed("make the folder of a sandbox", &error))?;
    let of = Of {
        spec,
        image: lent.image.as_deref(),
        outlet: lent.outlet.as_deref(),
        agent: &agent,
        as_root: privileges::identity().0 == 0,
    };
    let layout = lay(of, places, &folder, from.as_ref());
    let (layout, shape) = match layout {
        Ok(layout) => layout,
        Err(error) => {
            folders::remove(&folder);
            return Err(error);
        }
    };
    let bounds = Bounds {
        // The sandbox's own files are in memory, and count within it.
        memory: spec.limits.memory.value.saturating_add(WHILE_IT_STARTS),
        cpu: spec.limits.cpu.value,
        pids: None,
    };
    let wanted = [Controller::Memory, Controller::Cpu, Controller::Account, Controller::Freezer];
    let group = inner.home.make(&name, bounds, &wanted);
    let life = Life::new(State::new(name, folder, group));
    inner.living.know(&life);
    let awaited = Awaited::new(life.clone());
    let settled = settle(inner, &life, &layout, from.as_ref()).await;
    awaited.is_over();
    let looked = settled.and_then(|settled| {
        layout.is_unchanged()?;
        let outside = outside::look(&life.state.folder, &life.state.name);
        let outside = outside.map_err(|why| failed("look at a sandbox from outside", &why))?;
        Ok((settled, outside))
    });
    let ((link, seen), outside) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            life.kill();
            life.removed().await;
            return Err(error);
        }
    };
    let report = {
        let group = life.state.group();
        let has_way_out = lent.outlet.is_some();
        let of_gvisor = hold(&group, spec.limits.memory.value);
        report::on(About { spec, seen: &seen, outside: &outside, group: &group, has_way_out, of_gvisor })
    };
    Ok(Stands { life, link, seen, report, shape })
}

/// Holds a sandbox that stands to the limit and to what gVisor itself was seen to take; gives the latter. A guest's memory and files are
/// in a file in memory, so what is anonymous, or the kernel's, is gVisor's own.
fn hold(group: &Group, memory: u64) -> Option<u64> {
    let of_gvisor = group.private_memory()?.saturating_add(GROWTH);
    group.hold_memory(memory.saturating_add(of_gvisor)).ok()?;
    Some(of_gvisor)
}

type Kept = (Known, PathBuf);

/// Its root and its bundle, in its folder.
fn lay(
    of: Of<'_>,
    places: &Places,
    folder: &std::path::Path,
    from: Option<&Kept>,
) -> Result<(Layout, Shape), SandboxError> {
    let root = folder.join("rootfs");
    let layout = layout::lay(of, places, root.clone())?;
    let digest = of.image.map(Unpacked::digest);
    let shape = Shape::of(of.spec, digest, of.outlet.is_some(), layout.seat.user);
    if let Some((known, _)) = from {
        known.shape.check(&shape)?;
    }
    let config = bundle::config(&root, &layout.mounted);
    folders::write(&folder.join("config.json"), config.to_string().as_bytes())
        .map_err(|error| failed("write the bundle of a sandbox", &error))?;
    Ok((layout, shape))
}

/// Starts it, and waits until its agent has taken its place, or goes on.
async fn settle(
    inner: &Arc<Inner>,
    life: &Arc<Life>,
    layout: &Layout,
    from: Option<&Kept>,
) -> Result<(Link, Seen), SandboxError> {
    let image = from.map(|(_, image)| image.as_path());
    let state = &life.state;
    let started = inner.runsc.start(&state.name, &state.folder, image, &state.group());
    let Started { mut greeting, child, handle, said } = match started {
        Ok(started) => started,
        Err(why) => {
            life.tidy(inner.runsc.clone());
            return Err(inner.unavailable(why));
        }
    };
    life.runs(child, handle);
    life.tidy(inner.runsc.clone());
    let stood = tokio::time::timeout(PATIENCE, async {
        if let Some((known, _)) = from {
            let link = greeting.go_on(known.next).await?;
            return Ok((link, FromSeat::Taken(Box::new(known.seen.clone()))));
        }
        greeting.say(&layout.seat).await?;
        let taken = greeting.next::<FromSeat>().await?;
        Ok((greeting.link(), taken))
    });
    match stood.await {
        Ok(Ok((link, FromSeat::Taken(seen)))) => {
            life.stands();
            Ok((link, *seen))
        }
        Ok(Ok((_, FromSeat::Untaken { step, errno }))) => {
            let system = std::io::Error::from_raw_os_error(errno);
            Err(inner.unavailable(format!("its first process could not {step}: {system}")))
        }
        Ok(Err(error)) => {
            // What it has to say comes with its end.
            life.kill();
            life.is_over().await;
            Err(inner.unavailable(trouble(&error, &said)))
        }
        Err(_) => {
            Err(inner.unavailable(format!("a sandbox did not stand after {PATIENCE:?}: {}", said.text())))
        }
    }
}

fn trouble(error: &LinkError, said: &Said) -> String {
    format!("runsc made no sandbox ({error}): {}", said.text())
}
