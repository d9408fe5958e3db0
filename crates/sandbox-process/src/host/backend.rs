//! The backend itself: what it was told to do, the keeper that it starts when it is first needed, and what a first look found.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_agent_host::{Handle, folders, label, packs};
use bailiwick_sandbox::{
    Backend, Demand, Doing, Egress, Fits, Images, Probe, Sandbox, SandboxError, SandboxSpec, Snapshot,
};
use bailiwick_sys::cgroups::Home;
use bailiwick_sys::privileges;
use bailiwick_types::Tier;
use bailiwick_wire::jail::{Own, Place};

use super::keeper::{Keeper, KeeperError};
use super::{ID, scratch};
use crate::plan;

/// What a backend is told.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder of its own, where snapshots are kept.
    pub state: PathBuf,
    /// Walls that may be partial, because the operator said so.
    pub accept: Vec<Demand>,
    /// The strongest namespaces that are tried for; less for tests.
    pub most: Most,
    /// Whether folders are laid over one another; for tests, as where the kernel does not.
    pub laying: Laying,
    /// How long the first process of a sandbox may stand still when it is asked for something; then its sandbox is ended.
    pub patience: Duration,
    /// Who makes ways out; without, networks that need one are refused.
    pub egress: Option<Arc<dyn Egress>>,
    /// Who knows images; without, there are only the host's own programs.
    pub images: Option<Arc<dyn Images>>,
}

/// Where snapshots are, below the backend's folder.
const SNAPSHOTS: &str = "snapshots";

/// The strongest that is tried for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Most {
    /// Everything.
    #[default]
    Everything,
    /// As where no user namespace can be made.
    NoUserNamespace,
    /// As where no namespace can be made at all.
    NoNamespaces,
}

/// Whether folders are laid over one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Laying {
    /// Where the kernel does it.
    #[default]
    WherePossible,
    /// As where it does not: images are copied, and overlays of the host's folders are refused.
    Never,
}

impl Options {
    /// With this folder.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
            accept: Vec::new(),
            most: Most::Everything,
            laying: Laying::WherePossible,
            patience: bailiwick_agent_host::attended::PATIENCE,
            egress: None,
            images: None,
        }
    }
}

/// The backend `process`.
#[derive(Debug, Clone)]
pub struct ProcessBackend {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: Options,
    pub(crate) home: Home,
    pub(crate) places: Vec<Place>,
    keeper: Mutex<Option<Arc<Keeper>>>,
    /// Which namespaces were seen to work, and when.
    pub(crate) level: Mutex<Option<Level>>,
    probed: tokio::sync::Mutex<Option<(Probe, Option<Level>)>>,
    /// What its own folders are called.
    owner: String,
}

/// A level of namespaces that was seen to work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) own: Own,
    seen: Instant,
}

/// For how long a level below the strongest is believed to be the best that can be had: what was in the way may have been
/// passing.
const BELIEVED: Duration = Duration::from_mins(1);

impl Level {
    /// Seen to work now.
    pub(crate) fn now(own: Own) -> Self {
        Self { own, seen: Instant::now() }
    }

    /// Whether there is no reason to look again.
    pub(crate) fn holds(self, most: Most) -> bool {
        let Self { own, seen } = self;
        attempts(most).first() == Some(&own) || seen.elapsed() < BELIEVED
    }
}

/// Which namespaces to try for, strongest first.
pub(crate) fn attempts(most: Most) -> Vec<Own> {
    let is_root = privileges::identity().0 == 0;
    let all: &[Own] = match most {
        Most::Everything => &[Own::All, Own::AllButUser, Own::Nothing],
        Most::NoUserNamespace => &[Own::AllButUser, Own::Nothing],
        Most::NoNamespaces => &[Own::Nothing],
    };
    all.iter().copied().filter(|own| is_root || *own != Own::AllButUser).collect()
}

impl ProcessBackend {
    /// A backend. What a crashed predecessor left is removed now; everything else waits until it is needed.
    pub fn new(options: Options) -> Self {
        let home = Home::find();
        home.sweep(label::is_left);
        scratch::sweep(&options.state);
        folders::sweep(&options.state.join(SNAPSHOTS));
        let inner = Inner {
            options,
            home,
            places: plan::of_the_host(),
            keeper: Mutex::new(None),
            level: Mutex::new(None),
            probed: tokio::sync::Mutex::new(None),
            owner: label::fresh(),
        };
        Self { inner: Arc::new(inner) }
    }
}

impl Inner {
    /// The keeper; started if it is not there or has ended.
    pub(crate) fn keeper(&self) -> Result<Arc<Keeper>, KeeperError> {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keeper) = keeper.as_ref().filter(|keeper| !keeper.is_gone()) {
            return Ok(keeper.clone());
        }
        let fresh = Arc::new(Keeper::start()?);
        *keeper = Some(fresh.clone());
        Ok(fresh)
    }

    /// Which namespaces were seen to work last.
    pub(crate) fn level(&self) -> Option<Level> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the snapshots of this backend are. They end with their owner: nobody else knows their ids.
    pub(crate) fn snapshots(&self) -> PathBuf {
        self.options.state.join(SNAPSHOTS).join(&self.owner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        folders::remove(&self.snapshots());
    }
}

impl Backend for ProcessBackend {
    fn id(&self) -> &str {
        ID
    }

    fn tier(&self) -> Tier {
        Tier::Process
    }

    fn priority(&self) -> u32 {
        10
    }

    fn probe(&self) -> Doing<'_, Probe> {
        Box::pin(async {
            let mut probed = self.inner.probed.lock().await;
            if let Some((probe, Some(level))) = probed.as_ref()
                && level.holds(self.inner.options.most)
            {
                return probe.clone();
            }
            let probe = super::probe::look(&self.inner).await;
            *probed = Some((probe.clone(), self.inner.level()));
            probe
        })
    }

    fn advice(&self, demand: Demand) -> Option<String> {
        let advice = match demand {
            Demand::Memory | Demand::Cpu => {
                "run as root, or in a delegated cgroup v2 (systemd-run --user --scope -p Delegate=yes bailiwick …); in a \
                 container, mount its cgroup writable"
            }
            _ => {
                "allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, \
                 kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that allows clone and \
                 mount in them"
            }
        };
        Some(advice.to_owned())
    }

    fn can_run(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        let Options { images, egress, .. } = &self.inner.options;
        let fits = Fits {
            backend: ID,
            has_images: images.is_some(),
            has_egress: egress.is_some(),
            no_overlays: None,
            no_host_network: None,
        };
        fits.check(spec)
    }

    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async {
            self.can_run(&spec)?;
            let sandbox = super::create::create(&self.inner, spec).await?;
            Ok(Box::new(Handle::new(sandbox)) as Box<dyn Sandbox>)
        })
    }

    fn forget<'a>(&'a self, snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async { packs::forget(&self.inner.snapshots(), snapshot) })
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(async {
            let keeper = self.inner.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(keeper) = keeper else { return };
            // Whoever still holds a sandbox has a dead one from now on: they end with the keeper.
            let ends = keeper.ends();
            keeper.end();
            for mut end in ends {
                let _gone = end.wait_for(Option::is_some).await;
            }
        })
    }
}
