//! The backend itself: what it was told, the engine that it finds when it is first needed, and what a first look found.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_agent_host::probe_cache::ProbeCache;
use bailiwick_agent_host::{Handle, folders, label, packs, staged};
use bailiwick_sandbox::{
    Available, Backend, Demand, Doing, Egress, Fits, Probe, Sandbox, SandboxError, SandboxSpec, Snapshot,
};
use bailiwick_types::Tier;

use crate::container::{Container, Ending, LeftOver};
use crate::engine::{self, Engine};
use crate::owner::Held;
use crate::{ID, create, lent, probe, reap, runtime};

/// What a backend is told.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder of its own, where snapshots and what containers are lent are kept. The engine has to see it, too.
    pub state: PathBuf,
    /// The engine's socket; without, the usual places of Docker and Podman are looked at.
    pub socket: Option<PathBuf>,
    /// The runtime that the engine is to use; without, its own choice.
    pub runtime: Option<String>,
    /// The directory for results of probes; without, each process makes its own.
    pub probe_cache: Option<PathBuf>,
    /// Walls that may be partial, because the operator said so.
    pub accept: Vec<Demand>,
    /// How long the first process of a sandbox may stand still when it is asked for something; then its sandbox is ended.
    pub patience: Duration,
    /// Who makes ways out; without, networks that need one are refused.
    pub egress: Option<Arc<dyn Egress>>,
}

impl Options {
    /// With this folder.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
            socket: None,
            runtime: None,
            probe_cache: None,
            accept: Vec::new(),
            patience: bailiwick_agent_host::attended::PATIENCE,
            egress: None,
        }
    }
}

/// Where snapshots are, below the backend's folder.
const SNAPSHOTS: &str = "snapshots";
/// For how long what a look found is believed.
const BELIEVED: Duration = Duration::from_mins(1);
/// For how long it is believed that there is no engine: somebody may be about to start it.
const DOUBTED: Duration = Duration::from_secs(5);

/// The backend `container`.
#[derive(Debug, Clone)]
pub struct ContainerBackend {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: Options,
    engine: tokio::sync::Mutex<Option<Arc<Engine>>>,
    probed: tokio::sync::Mutex<Option<(Probe, Instant)>>,
    /// How strong the wall was seen to be.
    tier: Mutex<Tier>,
    /// Containers that could not be removed yet.
    pub(crate) left: LeftOver,
    /// The ends of its containers that have not come.
    living: Mutex<Vec<Ending>>,
    /// What its own folders are called.
    owner: String,
    /// The file that says that this owner lives, once it has a container.
    held: OnceLock<Held>,
}

impl ContainerBackend {
    /// A backend. Nothing is asked of an engine before somebody begins or needs it; then what a crashed predecessor left is removed.
    pub fn new(options: Options) -> Self {
        lent::sweep(&options.state);
        staged::sweep();
        folders::sweep(&options.state.join(SNAPSHOTS));
        let inner = Inner {
            options,
            engine: tokio::sync::Mutex::new(None),
            probed: tokio::sync::Mutex::new(None),
            tier: Mutex::new(Tier::Container),
            left: LeftOver::default(),
            living: Mutex::default(),
            owner: label::fresh(),
            held: OnceLock::new(),
        };
        Self { inner: Arc::new(inner) }
    }
}

impl Inner {
    /// The engine: the one that is known, if it still answers, or one that is found now. What dead owners left there is removed.
    pub(crate) async fn engine(&self) -> Result<Arc<Engine>, SandboxError> {
        let mut known = self.engine.lock().await;
        if let Some(engine) = known.as_ref()
            && engine.silence().await.is_none()
        {
            if !self.left.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                reap::reap(engine, &self.options.state, &self.left).await?;
            }
            return Ok(engine.clone());
        }
        *known = None;
        let engine = Arc::new(engine::find(self.options.socket.as_deref()).await?);
        reap::reap(&engine, &self.options.state, &self.left).await?;
        *known = Some(engine.clone());
        Ok(engine)
    }

    /// Where the result of a probe is kept for other processes, if there is an engine.
    async fn probe_cache(&self) -> Option<ProbeCache> {
        let Options { probe_cache, runtime, accept, .. } = &self.options;
        let directory = probe_cache.as_deref()?;
        let engine = self.engine().await.ok()?;
        Some(ProbeCache::new(directory, ID, &(&engine.version, runtime, accept), &[&engine.socket]))
    }

    /// The name of the file that this owner holds as long as it lives.
    pub(crate) fn held(&self) -> Result<&str, SandboxError> {
        if self.held.get().is_none() {
            let held = Held::new(&self.options.state).map_err(|error| SandboxError::Failed {
                step: "hold the file of an owner".to_owned(),
                reason: error.to_string(),
            })?;
            // Where two were made at once, the other is nobody's, and found by the next.
            let _other = self.held.set(held);
        }
        Ok(self.held.get().map_or("", |held| held.name.as_str()))
    }

    /// Keeps a container in mind, until it is gone.
    pub(crate) fn lives(&self, container: &Arc<Container>) {
        let mut living = self.living.lock().unwrap_or_else(PoisonError::into_inner);
        living.retain(|ending| !ending.is_over());
        living.push(container.ending());
    }

    /// Where the snapshots of this backend are. They end with their owner: nobody else knows their ids.
    pub(crate) fn snapshots(&self) -> PathBuf {
        self.options.state.join(SNAPSHOTS).join(&self.owner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        folders::remove(&self.snapshots());
        let living = self.living.get_mut().unwrap_or_else(PoisonError::into_inner);
        let is_all_gone = living.iter().all(Ending::is_over)
            && self.left.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        // Where something of it may still be there, the next owner finds the file, and looks.
        if let Some(held) = self.held.take().filter(|_| is_all_gone)
            && let Err(error) = held.remove()
        {
            tracing::debug!(%error, "the file of an owner stays until the next start");
        }
    }
}

impl Backend for ContainerBackend {
    fn id(&self) -> &str {
        ID
    }

    fn tier(&self) -> Tier {
        *self.inner.tier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_be(&self) -> Tier {
        runtime::promised(self.inner.options.runtime.as_deref())
    }

    fn priority(&self) -> u32 {
        50
    }

    fn probe(&self) -> Doing<'_, Probe> {
        Box::pin(async {
            let mut probed = self.inner.probed.lock().await;
            if let Some((probe, when)) = probed.as_ref() {
                let believed = if probe.availability == Available::Yes { BELIEVED } else { DOUBTED };
                if when.elapsed() < believed {
                    return probe.clone();
                }
            }
            let cache = self.inner.probe_cache().await;
            let (probe, tier) = ProbeCache::read_or(cache.as_ref(), probe::look(&self.inner)).await;
            *self.inner.tier.lock().unwrap_or_else(PoisonError::into_inner) = tier;
            *probed = Some((probe.clone(), Instant::now()));
            probe
        })
    }

    fn advice(&self, demand: Demand) -> Option<String> {
        runtime::advice(demand, self.inner.options.runtime.as_deref())
    }

    fn can_run(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        let fits = Fits {
            backend: ID,
            // The engine has its own, beside ours.
            has_images: true,
            has_egress: self.inner.options.egress.is_some(),
            no_overlays: Some("engines have no mounts that a sandbox sees as if it could change them"),
            no_host_network: None,
        };
        fits.check(spec)
    }

    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async {
            self.can_run(&spec)?;
            let sandbox = create::create(&self.inner, spec).await?;
            Ok(Box::new(Handle::new(sandbox)) as Box<dyn Sandbox>)
        })
    }

    fn forget<'a>(&'a self, snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async { packs::forget(&self.inner.snapshots(), snapshot) })
    }

    fn begin(&self) -> Doing<'_, ()> {
        Box::pin(async {
            // Whoever finds the engine removes what others left there.
            if let Err(error) = self.inner.engine().await {
                tracing::debug!(%error, "containers that others may have left are looked for later");
            }
        })
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(async {
            let living =
                std::mem::take(&mut *self.inner.living.lock().unwrap_or_else(PoisonError::into_inner));
            for ending in &living {
                ending.begin();
            }
            for ending in living {
                ending.wait().await;
            }
        })
    }
}

#[cfg(test)]
mod tests;
