//! Making a sandbox: cgroups, a jail of the strongest kind that can be had here, a look at what stands, and its files.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_sandbox::{Network, SandboxError, SandboxSpec, judge};
use bailiwick_sys::cgroups::{Bounds, Controller, Group};
use bailiwick_sys::{packets, privileges};
use bailiwick_types::{Receipt, SandboxId, Wallpart};
use bailiwick_wire::jail::{FromJail, Own, Plan, Standing};

use super::ID;
use super::backend::{Inner, Most};
use super::jail::Jail;
use super::keeper::KeeperError;
use super::layout::{self, Layout};
use super::link::{self, Link};
use super::sandbox::ProcessSandbox;
use super::{report, scratch};
use crate::plan;

/// How long a jail may take until it stands.
const PATIENCE: Duration = Duration::from_secs(20);
/// A file of the sandbox's own for every so many bytes of its disk.
const BYTES_A_FILE: u64 = 4096;
/// As many at least.
const FEWEST_FILES: u64 = 1024;
/// Memory that a sandbox needs beside its commands: the agent, and what the kernel keeps for it.
const OVERHEAD: u64 = 2 << 20;

/// A jail that stands.
pub(crate) struct Stands {
    pub(crate) jail: Jail,
    pub(crate) link: Link,
    pub(crate) layout: Layout,
    pub(crate) standing: Standing,
    pub(crate) report: Vec<Wallpart>,
}

/// Makes a sandbox, or refuses and leaves nothing behind.
pub(crate) async fn create(inner: &Arc<Inner>, spec: SandboxSpec) -> Result<ProcessSandbox, SandboxError> {
    spec.check()?;
    let (now, random) = Inner::random()?;
    let id = SandboxId::from_parts(now, &random);
    let Stands { jail, link, layout, report, .. } = stand(inner, &spec).await?;
    let accepted = match judge(&spec, &report, &inner.options.accept) {
        Ok(accepted) => accepted,
        Err(unheld) => {
            jail.kill();
            jail.ended().await;
            return Err(bailiwick_sandbox::unenforceable(ID, &spec, &unheld, &[]));
        }
    };
    let receipt: Receipt = bailiwick_sandbox::receipt(bailiwick_types::Tier::Process, &spec, &report);
    let sandbox =
        ProcessSandbox::new(id, inner.clone(), spec, layout, link, jail, receipt, accepted.warnings);
    if let Some(snapshot) = sandbox.begins_with() {
        let filled = super::snapshots::unpack(&sandbox, &snapshot).await;
        if let Err(error) = filled {
            sandbox.end().await;
            return Err(error);
        }
    }
    Ok(sandbox)
}

/// Makes a jail of the strongest kind that can be had.
pub(crate) async fn stand(inner: &Arc<Inner>, spec: &SandboxSpec) -> Result<Stands, SandboxError> {
    let known = *inner.level.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(own) = known {
        return attempt(inner, spec, own).await.map_err(Unbuilt::into_error);
    }
    let mut failures = Vec::new();
    for own in attempts(inner.options.most) {
        match attempt(inner, spec, own).await {
            Ok(stands) => {
                *inner.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(own);
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

/// Which namespaces to try for, strongest first.
fn attempts(most: Most) -> Vec<Own> {
    let is_root = privileges::identity().0 == 0;
    let all: &[Own] = match most {
        Most::Everything => &[Own::All, Own::AllButUser, Own::Nothing],
        Most::NoUserNamespace => &[Own::AllButUser, Own::Nothing],
        Most::NoNamespaces => &[Own::Nothing],
    };
    all.iter().copied().filter(|own| is_root || *own != Own::AllButUser).collect()
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

async fn attempt(inner: &Arc<Inner>, spec: &SandboxSpec, own: Own) -> Result<Stands, Unbuilt> {
    let name = inner.name();
    let folder = (own == Own::Nothing).then(|| scratch::place(&inner.options.state, &name));
    let group = Arc::new(Mutex::new(make_group(inner, spec, own, &name)));
    let layout = match &folder {
        Some(folder) => {
            scratch::make(folder).map_err(|error| Unbuilt::Other(failed("make its folder", &error)))?;
            Layout::moved(spec, folder)
        }
        None => Layout::rooted(spec),
    };
    let plan = plan_of(inner, spec, own, &layout, &group).map_err(Unbuilt::Other)?;
    let (ours, theirs) =
        packets::stream_pair().map_err(|error| Unbuilt::Other(failed("make a pair of sockets", &error)))?;
    let keeper = inner.keeper()?;
    let made = keeper.make(plan.clone(), theirs, group.clone(), folder.clone()).await;
    let started = match made {
        Ok(started) => started,
        Err(error) => {
            if let Some(folder) = &folder {
                // Nothing was started in it.
                scratch::remove(folder);
            }
            return Err(error.into());
        }
    };
    let stream = (own == Own::Nothing).then(|| ours.try_clone()).transpose();
    let stream = stream.map_err(|error| Unbuilt::Other(failed("hold on to its stream", &error)))?;
    let jail = Jail::new(started, group.clone(), stream);
    let greeted = tokio::time::timeout(PATIENCE, link::greet(ours)).await;
    let (standing, link) = match greeted {
        Ok(Ok((FromJail::Built(standing), link))) => (*standing, link),
        Ok(Ok((FromJail::Unbuilt { step, errno }, _))) => {
            jail.kill();
            jail.ended().await;
            return Err(unbuilt(&step, errno, spec));
        }
        Ok(Err(error)) => {
            jail.kill();
            let status = jail.ended().await;
            return Err(Unbuilt::Wall(format!("{error} before it stood (status {status})")));
        }
        Err(_) => {
            jail.kill();
            jail.ended().await;
            return Err(Unbuilt::Wall(format!("it did not stand after {PATIENCE:?}")));
        }
    };
    let report = {
        let group = group.lock().unwrap_or_else(PoisonError::into_inner);
        report::on(&plan, &standing, &group)
    };
    Ok(Stands { jail, link, layout, standing, report })
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
        // Its files are in memory, and counted there.
        memory: limits.memory.value.saturating_add(limits.disk.value).saturating_add(OVERHEAD),
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
    own: Own,
    layout: &Layout,
    group: &Mutex<Group>,
) -> Result<Plan, SandboxError> {
    let mut places = inner.places.clone();
    let is_root = privileges::identity().0 == 0;
    let mounts = layout::mounts(&spec.mounts, is_root)
        .map_err(|(path, why)| SandboxError::Mount { path: path.display().to_string(), why })?;
    let mut readable: Vec<String> = plan::SYSTEM.map(str::to_owned).to_vec();
    readable.extend(["/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs"].map(str::to_owned));
    readable.extend(spec.mounts.iter().filter_map(|mount| mount.from.to_str().map(str::to_owned)));
    let mut folders = layout.own_found();
    if own == Own::Nothing {
        folders.extend(
            spec.mounts
                .iter()
                .filter(|mount| mount.writable)
                .filter_map(|one| one.from.to_str().map(str::to_owned)),
        );
    }
    places.extend(mounts);
    let group = group.lock().unwrap_or_else(PoisonError::into_inner);
    let doors = group.doors().iter().map(|door| door.display().to_string()).collect();
    let most = spec.limits.processes.value;
    let disk = spec.limits.disk.value;
    // Where the user's processes are not counted for the sandbox alone, a limit of its own would count all of them.
    let by_user = own == Own::All && most > 0;
    Ok(Plan {
        own,
        own_network: spec.network != Network::Host,
        inside: plan::INSIDE,
        outside: if is_root { plan::OUTSIDE.to_vec() } else { Vec::new() },
        places: if own == Own::Nothing { Vec::new() } else { places },
        masks: plan::MASKS.map(str::to_owned).to_vec(),
        disk,
        files: (disk / BYTES_A_FILE).max(FEWEST_FILES),
        folders,
        resets: spec.warm,
        readable,
        workdir: layout.found(&spec.workdir),
        processes: by_user.then_some(most),
        doors,
        address_space: None,
    })
}
