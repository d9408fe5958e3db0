//! The backend itself: what it was told to do, the backend behind it, and what a first look found.

use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_sandbox::mount::MOST_MOUNTS;
use bailiwick_sandbox::{
    Available, Backend, Command, Demand, Doing, Image, Images, Limits, Location, Network, Probe, Sandbox,
    SandboxError, SandboxSpec, Snapshot,
};
use bailiwick_types::{Tier, shortened};

use super::cache::Cache;
use super::{compile, create, module, nothing, outcome, probe};
use crate::{ID, order};

/// What a backend is told.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder of its own, where compiled code is kept.
    pub state: PathBuf,
    /// Walls that may be partial, because the operator said so.
    pub accept: Vec<Demand>,
    /// Who knows images; without, nothing can be run.
    pub images: Option<Arc<dyn Images>>,
    /// How many steps a command may take; without, only its time is bounded. Counting makes programs slower.
    pub fuel: Option<u64>,
    /// What compiling one module may use; one is compiled at a time.
    pub compile: Limits,
    /// The most bytes of compiled code that are kept.
    pub most_compiled: u64,
}

impl Options {
    /// With this folder.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
            accept: Vec::new(),
            images: None,
            fuel: None,
            compile: compile::limits(),
            most_compiled: 4 << 30,
        }
    }
}

/// The walls that the engine holds by itself, however much the backend behind holds of them: that one has to take them as they are.
pub(crate) const HELD_BY_THE_ENGINE: [Demand; 3] = [Demand::Network, Demand::Files, Demand::Processes];

/// How many mounts of a sandbox behind are ours: the program, the image and the compiled code.
const OURS: usize = 3;

/// The backend `wasm`.
#[derive(Debug, Clone)]
pub struct WasmBackend {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: Options,
    /// Whose sandboxes the engine runs in.
    pub(crate) behind: Arc<dyn Backend>,
    pub(crate) cache: Cache,
    probed: tokio::sync::Mutex<Option<Probe>>,
}

impl WasmBackend {
    /// A backend whose engine runs in sandboxes of the one behind, which must be this backend's alone and take walls that are only
    /// partial as they are ([`WasmBackend::accepts`]). Nothing is done before it is needed.
    pub fn new(options: Options, behind: Arc<dyn Backend>) -> Self {
        let cache = Cache::new(options.state.join("compiled"), options.most_compiled);
        let inner = Inner { options, behind, cache, probed: tokio::sync::Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// Which walls the backend behind has to take as they are: those that the operator lets be partial, and those that the engine holds.
    pub fn accepts(lenient: &[Demand]) -> Vec<Demand> {
        let own = HELD_BY_THE_ENGINE.iter().filter(|demand| !lenient.contains(demand));
        lenient.iter().chain(own).copied().collect()
    }
}

fn unsupported(what: String) -> SandboxError {
    SandboxError::Unsupported { backend: ID.to_owned(), what }
}

impl Backend for WasmBackend {
    fn id(&self) -> &str {
        ID
    }

    fn tier(&self) -> Tier {
        Tier::UserKernel
    }

    fn location(&self) -> Location {
        self.inner.behind.location()
    }

    fn priority(&self) -> u32 {
        75
    }

    fn probe(&self) -> Doing<'_, Probe> {
        Box::pin(async {
            let mut probed = self.inner.probed.lock().await;
            // What was in the way may have been passing, so only a yes is remembered.
            if let Some(probe) = probed.as_ref().filter(|probe| probe.availability == Available::Yes) {
                return probe.clone();
            }
            let probe = probe::look(&self.inner).await;
            *probed = Some(probe.clone());
            probe
        })
    }

    fn can_run(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        let name = match &spec.image {
            Image::Named(name) if module::is_named_so(name) => name,
            Image::Named(name) => {
                let name = shortened(name);
                return Err(unsupported(format!(
                    "the image `{name}`: it runs images whose names end with `.wasm`"
                )));
            }
            Image::Host => {
                return Err(unsupported(
                    "the host's own programs: it runs images whose names end with `.wasm`".to_owned(),
                ));
            }
        };
        if self.inner.options.images.is_none() && name != nothing::NAME {
            return Err(unsupported(format!("the image `{}`: there are no images here", shortened(name))));
        }
        if spec.network != Network::None {
            let what = "a network: programs in WebAssembly get no sockets; leave it at `none`";
            return Err(unsupported(what.to_owned()));
        }
        if !spec.expose.is_empty() {
            return Err(unsupported("exposed ports: programs in WebAssembly get no sockets".to_owned()));
        }
        if let Some(snapshot) = spec.snapshot.as_ref().filter(|snapshot| snapshot.backend != ID) {
            return Err(unsupported(format!("a snapshot of the backend `{}`", snapshot.backend)));
        }
        let places =
            spec.mounts.iter().map(|mount| &mount.to).chain(spec.overlays.iter().map(|overlay| &overlay.to));
        let is_ours = |place: &str| {
            place.strip_prefix(order::HIDDEN).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some(taken) = places.map(bailiwick_sandbox::SandboxPath::as_str).find(|place| is_ours(place)) {
            let why = "the sandbox has its own there".to_owned();
            return Err(SandboxError::Mount { path: taken.to_owned(), why });
        }
        if spec.mounts.len() > MOST_MOUNTS - OURS {
            let most = MOST_MOUNTS - OURS;
            return Err(unsupported(format!("{} mounts: it has room for {most}", spec.mounts.len())));
        }
        Ok(())
    }

    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async {
            self.can_run(&spec)?;
            create::create(&self.inner, spec).await
        })
    }

    fn simplest(&self) -> Result<(SandboxSpec, Command), SandboxError> {
        probe::simplest()
    }

    fn advice(&self, demand: Demand) -> Option<String> {
        self.inner.behind.advice(demand)
    }

    fn forget<'a>(&'a self, snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async {
            let theirs = outcome::to_behind(snapshot, self.inner.behind.id());
            self.inner
                .behind
                .forget(&theirs)
                .await
                .map_err(|error| outcome::named(error, self.inner.behind.id()))
        })
    }

    fn close(&self) -> Doing<'_, ()> {
        self.inner.behind.close()
    }
}
