//! Making a sandbox: cgroups, a jail of the strongest kind that can be had here, a look at what stands, and its files.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_agent_host::link::Greeting;
use bailiwick_agent_host::masks::MASKS;
use bailiwick_agent_host::mounts::{have_their_places, refusal};
use bailiwick_agent_host::places::SYSTEM;
use bailiwick_agent_host::{Attended, Lent, Link, LinkError, Parts, Places, folders, label, packs};
use bailiwick_sandbox::outlet::{NAMES, PROXY};
use bailiwick_sandbox::{Image, Network, SandboxError, SandboxSpec, Unpacked, judge};
use bailiwick_sys::cgroups::{Bounds, Controller, Group};
use bailiwick_sys::held::HeldFile;
use bailiwick_sys::{Errno, packets, privileges};
use bailiwick_types::{SandboxId, Wallpart, shortened};
use bailiwick_wire::jail::{FromJail, Listens, Own, Place, Plan, Standing};

use super::ID;
use super::backend::{Inner, Laying, Level, Options, attempts};
use super::handed::HandedOver;
use super::jail::Jail;
use super::keeper::KeeperError;
use super::layout;
use super::served::Served;
use super::wall::Jailed;
use super::{report, scratch};
use crate::plan;

/// How long a jail may take until it stands.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same where an image may have to be copied.
const PATIENCE_FOR_A_COPY: Duration = Duration::from_mins(2);
/// A file of the sandbox's own for every so many bytes of its disk.
const BYTES_A_FILE: u64 = 4096;
/// As many at least.
const FEWEST_FILES: u64 = 1024;
/// Memory that the cgroup has beside the limit: for the agent, and for what the kernel keeps for it. Commands can take what the
/// agent leaves of it, so it is small.
pub(crate) const OVERHEAD: u64 = 4 << 20;

/// A jail that stands.
pub(crate) struct Stands {
    pub(crate) jail: Jail,
    pub(crate) link: Link,
    pub(crate) places: Places,
    pub(crate) standing: Standing,
    pub(crate) report: Vec<Wallpart>,
    pub(crate) beside: Beside,
}

/// What a sandbox is lent, and what it has handed over.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// The image that is its root; it stays as long as this is held.
    pub(crate) image: Option<Arc<dyn Unpacked>>,
    /// Its way out.
    pub(crate) served: Option<Served>,
    /// Where it hands over more.
    pub(crate) hand: Option<tokio::sync::Mutex<OwnedFd>>,
    /// What is written over each overlay.
    pub(crate) uppers: Vec<OwnedFd>,
}

/// Makes a sandbox, or refuses and leaves nothing behind.
pub(crate) async fn create(
    inner: &Arc<Inner>,
    spec: SandboxSpec,
) -> Result<Arc<Attended<Jailed>>, SandboxError> {
    spec.check()?;
    let (now, random) = label::random()?;
    let id = SandboxId::from_parts(now, &random);
    if spec.snapshot.is_some() && changes_elsewhere(&spec) {
        return Err(unpacked_elsewhere());
    }
    let Options { images, egress, .. } = &inner.options;
    let lent = Lent::find(&spec, images.as_ref(), egress.as_ref()).await?;
    let Stands { jail, link, places, report, beside, .. } = stand(inner, &spec, &lent).await?;
    let accepted = match judge(&spec, &report, &inner.options.accept) {
        Ok(accepted) => accepted,
        Err(unheld) => {
            jail.kill();
            jail.ended().await;
            return Err(bailiwick_sandbox::unenforceable(ID, &spec, &unheld, &[]));
        }
    };
    // A way out that is not served is none.
    let outlet = lent.outlet.filter(|_| beside.served.is_some());
    let lent = Lent { outlet, image: lent.image };
    let receipt = lent.receipt(bailiwick_types::Tier::Process, &spec, &report);
    let begins_with = spec.snapshot.clone();
    let parts = Parts {
        id,
        spec,
        places,
        link,
        receipt,
        warnings: accepted.warnings,
        variables: lent.variables(),
        outlet: lent.outlet,
        patience: inner.options.patience,
        wall: Jailed::new(inner.clone(), jail, beside),
    };
    let sandbox = Attended::new(parts);
    if let Some(snapshot) = begins_with {
        let filled = packs::unpack(&sandbox, &inner.snapshots(), &snapshot).await;
        if let Err(error) = filled {
            sandbox.end().await;
            return Err(error);
        }
    }
    Ok(sandbox)
}

/// Whether a sandbox can change files elsewhere than in its own folders, which are all that a snapshot holds.
pub(crate) fn changes_elsewhere(spec: &SandboxSpec) -> bool {
    spec.image != Image::Host || !spec.overlays.is_empty()
}

/// The refusal to keep half of what a sandbox has changed.
pub(crate) fn unpacked_elsewhere() -> SandboxError {
    let what =
        "a snapshot of a sandbox with an image or an overlay: it would hold only a part of the changes";
    SandboxError::Unsupported { backend: ID.to_owned(), what: what.to_owned() }
}

/// Makes a jail of the strongest kind that can be had.
pub(crate) async fn stand(
    inner: &Arc<Inner>,
    spec: &SandboxSpec,
    lent: &Lent,
) -> Result<Stands, SandboxError> {
    if let Some(level) = inner.level().filter(|level| level.holds(inner.options.most)) {
        return attempt(inner, spec, lent, level.own).await.map_err(Unbuilt::into_error);
    }
    let mut failures = Vec::new();
    for own in attempts(inner.options.most) {
        match attempt(inner, spec, lent, own).await {
            Ok(stands) => {
                *inner.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(Level::now(own));
                return Ok(stands);
            }
            // A wall that cannot be built here: a weaker one is tried, and its report says what it is.
            Err(Unbuilt::Wall(why)) => failures.push(why),
            Err(Unbuilt::Other(error)) => return Err(error),
        }
    }
    Err(SandboxError::Unavailable {
        backend: ID.to_owned(),
        reason: failures.join("; "),
        fix: Some("bailiwick doctor --fix tells what would help".to_owned()),
    })
}

enum Unbuilt {
    /// The machine does not let it be built.
    Wall(String),
    /// Something else.
    Other(SandboxError),
}

impl Unbuilt {
    fn into_error(self) -> SandboxError {
        match self {
            Self::Wall(reason) => {
                SandboxError::Failed { step: "build the walls of a sandbox".to_owned(), reason }
            }
            Self::Other(error) => error,
        }
    }
}

impl From<KeeperError> for Unbuilt {
    fn from(error: KeeperError) -> Self {
        match error {
            KeeperError::NotStarted { .. } => Self::Wall(error.to_string()),
            KeeperError::NotEntered | KeeperError::TooLong(_) => Self::Other(SandboxError::Failed {
                step: "make a sandbox".to_owned(),
                reason: error.to_string(),
            }),
            KeeperError::Failed(_) | KeeperError::Gone | KeeperError::Late => {
                Self::Other(SandboxError::Unavailable {
                    backend: ID.to_owned(),
                    reason: error.to_string(),
                    fix: None,
                })
            }
        }
    }
}

async fn attempt(inner: &Arc<Inner>, spec: &SandboxSpec, lent: &Lent, own: Own) -> Result<Stands, Unbuilt> {
    if own == Own::Nothing && changes_elsewhere(spec) {
        return Err(Unbuilt::Other(SandboxError::Unsupported {
            backend: ID.to_owned(),
            what: "an image or an overlay on this machine: it can make no mount namespace".to_owned(),
        }));
    }
    let name = label::fresh();
    let folder = (own == Own::Nothing).then(|| scratch::place(&inner.options.state, &name));
    let group = Arc::new(Mutex::new(make_group(inner, spec, own, &name)));
    let places = match &folder {
        Some(folder) => {
            scratch::make(folder).map_err(|error| Unbuilt::Other(failed("make its folder", &error)))?;
            Places::moved(spec, folder)
        }
        None => Places::rooted(spec),
    };
    let (plan, given) = plan_of(inner, spec, lent, own, &places, &group).map_err(Unbuilt::Other)?;
    let (ours, theirs) =
        packets::stream_pair().map_err(|error| Unbuilt::Other(failed("make a pair of sockets", &error)))?;
    let mut descriptors = vec![theirs];
    let mut hand = None;
    if plan.hands {
        let (ours, theirs) = packets::packet_pair()
            .map_err(|error| Unbuilt::Other(failed("make a pair of sockets", &error)))?;
        descriptors.push(theirs);
        hand = Some(ours);
    }
    descriptors.extend(given);
    let keeper = inner.keeper()?;
    let made = keeper.make(plan.clone(), descriptors, group.clone(), folder.clone()).await;
    let started = match made {
        Ok(started) => started,
        Err(error) => {
            if let Some(folder) = &folder {
                // Nothing was started in it.
                folders::remove(folder);
            }
            return Err(error.into());
        }
    };
    let stream = (own == Own::Nothing).then(|| ours.try_clone()).transpose();
    let stream = stream.map_err(|error| Unbuilt::Other(failed("hold on to its stream", &error)))?;
    let jail = Jail::new(started, group.clone(), stream);
    let patience = if plan.image.is_some() { PATIENCE_FOR_A_COPY } else { PATIENCE };
    let greeted = tokio::time::timeout(patience, greet(ours)).await;
    let (standing, link) = match greeted {
        Ok(Ok((FromJail::Built(standing), link))) => (*standing, link),
        Ok(Ok((FromJail::Unbuilt { step, errno }, _))) => {
            jail.kill();
            jail.ended().await;
            return Err(unbuilt(&step, errno, spec));
        }
        Ok(Ok((FromJail::TooLarge { bytes, files, why }, _))) => {
            jail.kill();
            jail.ended().await;
            return Err(Unbuilt::Other(no_room(&plan, spec, (bytes, files), why)));
        }
        Ok(Err(error)) => {
            jail.kill();
            let status = jail.ended().await;
            return Err(Unbuilt::Wall(format!("{error} before it stood (status {status})")));
        }
        Err(_) => {
            jail.kill();
            jail.ended().await;
            return Err(Unbuilt::Wall(format!("it did not stand after {patience:?}")));
        }
    };
    let report = {
        let group = group.lock().unwrap_or_else(PoisonError::into_inner);
        report::on(&plan, &spec.limits, &standing, &group)
    };
    let beside = beside(&plan, lent, &standing, hand).map_err(Unbuilt::Other)?;
    Ok(Stands { jail, link, places, standing, report, beside })
}

/// Waits for what a jail says of itself, then hands the stream over to talk to its agent.
async fn greet(stream: OwnedFd) -> Result<(FromJail, Link), LinkError> {
    let ended = |_| LinkError::Ended;
    let stream = std::os::unix::net::UnixStream::from(stream);
    stream.set_nonblocking(true).map_err(ended)?;
    let (reader, writer) = tokio::net::UnixStream::from_std(stream).map_err(ended)?.into_split();
    let mut greeting = Greeting::new(Box::new(reader), Box::new(writer));
    let said = greeting.next().await?;
    Ok((said, greeting.link()))
}

/// The refusal of an image that has to be copied and does not fit.
fn no_room(plan: &Plan, spec: &SandboxSpec, (bytes, files): (u64, u64), why: String) -> SandboxError {
    let image = match &spec.image {
        Image::Named(name) => shortened(name),
        Image::Host => String::new(),
    };
    let enough = bytes.max(files.saturating_mul(BYTES_A_FILE));
    SandboxError::NoRoom { image, why, bytes, files, disk: plan.disk, most: plan.files, enough }
}

/// What belongs to a jail that stands, and what it has handed over.
fn beside(
    plan: &Plan,
    lent: &Lent,
    standing: &Standing,
    hand: Option<OwnedFd>,
) -> Result<Beside, SandboxError> {
    let mut beside = Beside { image: lent.image.clone(), ..Beside::default() };
    let Some(hand) = hand.filter(|_| standing.root) else { return Ok(beside) };
    let HandedOver { listeners, uppers } =
        HandedOver::take(&hand, plan).map_err(|errno| failed("take what it hands over", &errno))?;
    if let Some(outlet) = &lent.outlet {
        let served = Served::start(outlet, listeners);
        beside.served = Some(served.map_err(|error| failed("serve its way out", &error))?);
    }
    beside.uppers = uppers;
    beside.hand = Some(tokio::sync::Mutex::new(hand));
    Ok(beside)
}

/// A jail that could not be built: because of the machine, or because of what was asked for.
fn unbuilt(step: &str, errno: i32, spec: &SandboxSpec) -> Unbuilt {
    use bailiwick_sys::Step;
    let system = std::io::Error::from_raw_os_error(errno);
    if step == Step::ChangedMeanwhile.says() {
        let path = spec.mounts.first().map(|mount| mount.from.display().to_string()).unwrap_or_default();
        return Unbuilt::Other(SandboxError::Mount {
            path,
            why: "it is not what was checked a moment ago".to_owned(),
        });
    }
    let of_the_mounts = [Step::BindMount.says(), Step::MakePlace.says()];
    let of_layers =
        [Step::LayOver.says(), Step::MapMount.says(), Step::WritePlace.says(), Step::CopyImage.says()];
    let is_of_layers = of_the_mounts.contains(&step) || of_layers.contains(&step);
    if let Image::Named(name) = &spec.image
        && is_of_layers
    {
        // A weaker wall would not make a better root of it.
        return Unbuilt::Other(failed(
            &format!("make a root of the image `{}`", shortened(name)),
            &format!("{step}: {system}"),
        ));
    }
    if let Some(overlay) = spec.overlays.first()
        && is_of_layers
    {
        let path = overlay.from.display().to_string();
        return Unbuilt::Other(SandboxError::Mount { path, why: format!("{step}: {system}") });
    }
    if !spec.mounts.is_empty() && of_the_mounts.contains(&step) {
        let paths: Vec<String> = spec.mounts.iter().map(|mount| mount.from.display().to_string()).collect();
        return Unbuilt::Other(SandboxError::Mount {
            path: paths.join("`, `"),
            why: format!("{step}: {system}"),
        });
    }
    Unbuilt::Wall(format!("{step}: {system}"))
}

fn failed(step: &str, error: &dyn std::fmt::Display) -> SandboxError {
    SandboxError::Failed { step: step.to_owned(), reason: error.to_string() }
}

fn make_group(inner: &Inner, spec: &SandboxSpec, own: Own, name: &str) -> Group {
    let limits = &spec.limits;
    let most = limits.processes.value;
    let bounds = Bounds {
        // The sandbox's own files are in memory, and count within it.
        memory: limits.memory.value.saturating_add(OVERHEAD),
        cpu: limits.cpu.value,
        pids: (most > 0).then(|| most.saturating_add(1)),
    };
    let mut wanted = vec![Controller::Memory, Controller::Cpu, Controller::Account, Controller::Freezer];
    // In a user namespace of its own, processes are counted for it alone.
    if own != Own::All {
        wanted.push(Controller::Pids);
    }
    inner.home.make(name, bounds, &wanted)
}

fn plan_of(
    inner: &Inner,
    spec: &SandboxSpec,
    lent: &Lent,
    own: Own,
    own_places: &Places,
    group: &Mutex<Group>,
) -> Result<(Plan, Vec<OwnedFd>), SandboxError> {
    let mut places = if lent.image.is_some() { plan::of_an_image() } else { inner.places.clone() };
    let is_root = privileges::identity().0 == 0;
    let mut held: Vec<HeldFile> = spec.mounts.iter().map(|mount| mount.source().clone()).collect();
    let image = lent.image.as_ref().map(|image| image.root());
    let image = image.map(|root| {
        let source = HeldFile::open(&root).map_err(|errno| refusal(&root, &errno.to_string()))?;
        held.push(source.clone());
        layout::lower(&root, &source, "/", is_root)
    });
    let image = image.transpose()?;
    held.extend(spec.overlays.iter().map(|overlay| overlay.source().clone()));
    let overlays = spec
        .overlays
        .iter()
        .map(|overlay| layout::lower(&overlay.from, overlay.source(), overlay.to.as_str(), is_root));
    let overlays = overlays.collect::<Result<Vec<_>, _>>()?;
    let (mut given, mut texts) = (Vec::new(), Vec::new());
    if let Some(outlet) = &lent.outlet {
        for (at, text) in outlet.files() {
            places.retain(|place| !matches!(place, Place::File { at: known, .. } if known == at.as_str()));
            given.push(at.as_str().to_owned());
            texts.push(text_of(&text).map_err(|errno| failed("hold a file of its root", &errno))?);
        }
    }
    let listens =
        lent.outlet.as_ref().map(|outlet| Listens { proxy: PROXY, names: NAMES, ports: outlet.ports() });
    let hands = listens.is_some() || !overlays.is_empty() || !spec.expose.is_empty();
    have_their_places(&spec.mounts)?;
    let mounts = layout::mounts(&spec.mounts, is_root)?;
    let mut readable: Vec<String> = SYSTEM.map(str::to_owned).to_vec();
    readable.extend(["/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs"].map(str::to_owned));
    // Where there is no root of its own, nothing is put into it; what was asked for is left open where it is.
    if own == Own::Nothing {
        places.clear();
    }
    places.extend(mounts);
    let group = group.lock().unwrap_or_else(PoisonError::into_inner);
    let doors = group.doors().iter().map(|door| door.display().to_string()).collect();
    let most = spec.limits.processes.value;
    let disk = spec.limits.scratch();
    // Where the user's processes are not counted for the sandbox alone, a limit of its own would count all of them.
    let by_user = own == Own::All && most > 0;
    let plan = Plan {
        own,
        own_network: spec.network != Network::Host,
        inside: plan::INSIDE,
        outside: if is_root { plan::OUTSIDE.to_vec() } else { Vec::new() },
        places,
        masks: MASKS.map(str::to_owned).to_vec(),
        disk,
        files: (disk / BYTES_A_FILE).max(FEWEST_FILES),
        folders: own_places.own_found(),
        resets: spec.warm,
        readable,
        processes: by_user.then_some(most),
        doors,
        image,
        lays: inner.options.laying == Laying::WherePossible,
        overlays,
        listens,
        given,
        hands,
        data: group.holds(Controller::Memory).is_err().then_some(spec.limits.memory.value),
    };
    for source in held {
        texts.push(source.descriptor().map_err(|errno| failed("hand over what is mounted", &errno))?);
    }
    Ok((plan, texts))
}

/// A text that can be handed to another process.
fn text_of(text: &str) -> Result<OwnedFd, Errno> {
    use rustix::fs::{MemfdFlags, memfd_create};
    let file = memfd_create("text", MemfdFlags::CLOEXEC)?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(file)
}
