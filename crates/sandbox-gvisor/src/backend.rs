//! The backend itself: what it was told, where it keeps what it has to, and what a look found.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_agent_host::life::Living;
use bailiwick_agent_host::probe_cache::ProbeCache;
use bailiwick_agent_host::{Handle, folders, label, staged};
use bailiwick_sandbox::{
    Backend, Demand, Doing, Egress, Fits, Images, Probe, Sandbox, SandboxError, SandboxSpec, Snapshot,
};
use bailiwick_sys::cgroups::Home;
use bailiwick_sys::privileges;
use bailiwick_types::Tier;

use crate::life::Life;
use crate::runsc::Runsc;
use crate::{ID, kept};

/// How gVisor can run programs: by catching their system calls, or by a machine of its own where there is KVM.
pub const PLATFORMS: [&str; 3] = ["systrap", "kvm", "ptrace"];

/// What a backend is told.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder of its own, below which everything is that it makes.
    pub state: PathBuf,
    /// The program `runsc`: where it is, or its name, which is looked for where programs of the system are.
    pub program: PathBuf,
    /// How it runs programs: one of [`PLATFORMS`].
    pub platform: String,
    /// The directory for results of probes; without, each process makes its own.
    pub probe_cache: Option<PathBuf>,
    /// Walls that may be partial, because the operator said so.
    pub accept: Vec<Demand>,
    /// How long the first process of a sandbox may stand still when it is asked for something; then its sandbox is ended.
    pub patience: Duration,
    /// Who makes ways out; without, networks that need one are refused.
    pub egress: Option<Arc<dyn Egress>>,
    /// Who knows images; without, there are only the host's own programs.
    pub images: Option<Arc<dyn Images>>,
}

impl Options {
    /// With this folder.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
            program: PathBuf::from("runsc"),
            platform: "systrap".to_owned(),
            probe_cache: None,
            accept: Vec::new(),
            patience: bailiwick_agent_host::attended::PATIENCE,
            egress: None,
            images: None,
        }
    }
}

/// Where a program is looked for that is given by its name.
const WHERE: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// Where the folders of this backend's owners are, below its own.
const FOLDER: &str = "gvisor";
/// For how long it is believed what a look found, unless the program comes or goes: what was in the way may have been passing.
const BELIEVED: Duration = Duration::from_mins(1);

/// The backend `gvisor`.
#[derive(Debug, Clone)]
pub struct GvisorBackend {
    inner: Arc<Inner>,
}

/// What a look found, and when.
#[derive(Debug)]
struct Probed {
    probe: Probe,
    when: Instant,
    /// Whether the program was there.
    had_program: bool,
}

/// What its sandboxes share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: Options,
    pub(crate) home: Home,
    pub(crate) runsc: Runsc,
    probed: tokio::sync::Mutex<Option<Probed>>,
    /// The containers that may still be there.
    pub(crate) living: Living<Life>,
    /// Everything that this owner made.
    folder: PathBuf,
}

impl GvisorBackend {
    /// A backend. What a crashed predecessor left is removed now; everything else waits until it is needed.
    pub fn new(options: Options) -> Self {
        let home = Home::find();
        home.sweep(label::is_left);
        let above = options.state.join(FOLDER);
        folders::sweep(&above);
        staged::sweep();
        let folder = above.join(label::fresh());
        let runsc = Runsc {
            program: found(&options.program),
            platform: options.platform.clone(),
            root: folder.join("root"),
            is_rootless: privileges::identity().0 != 0,
        };
        let (probed, living) = (tokio::sync::Mutex::new(None), Living::default());
        Self { inner: Arc::new(Inner { options, home, runsc, probed, living, folder }) }
    }
}

fn found(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        return program.to_owned();
    }
    let places = WHERE.iter().map(|folder| Path::new(folder).join(program));
    places.into_iter().find(|place| place.is_file()).unwrap_or_else(|| program.to_owned())
}

impl Inner {
    /// A folder of this owner's.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Where the result of a probe is kept for other processes.
    fn probe_cache(&self) -> Option<ProbeCache> {
        let Options { probe_cache, platform, accept, .. } = &self.options;
        let directory = probe_cache.as_deref()?;
        Some(ProbeCache::new(directory, ID, &(platform, accept), &[&self.runsc.program]))
    }

    /// Where its snapshots are. They end with their owner: nobody else knows their ids.
    pub(crate) fn snapshots(&self) -> PathBuf {
        self.folder("snapshots")
    }

    /// Why there is no sandbox to be had.
    pub(crate) fn unavailable(&self, reason: String) -> SandboxError {
        let fix = if self.runsc.program.is_file() {
            "set `sandbox.gvisor.platform` to one that this machine has; `runsc help platforms` lists them"
        } else {
            "install gVisor's `runsc`, or set `sandbox.gvisor.program` to where it is"
        };
        SandboxError::Unavailable { backend: ID.to_owned(), reason, fix: Some(fix.to_owned()) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        folders::remove(&self.folder);
    }
}

impl Backend for GvisorBackend {
    fn id(&self) -> &str {
        ID
    }

    fn tier(&self) -> Tier {
        Tier::UserKernel
    }

    fn priority(&self) -> u32 {
        60
    }

    fn probe(&self) -> Doing<'_, Probe> {
        Box::pin(async {
            let mut probed = self.inner.probed.lock().await;
            let had_program = self.inner.runsc.program.is_file();
            if let Some(before) = probed.as_ref()
                && before.when.elapsed() < BELIEVED
                && before.had_program == had_program
            {
                return before.probe.clone();
            }
            let look = async { (crate::probe::look(&self.inner).await, self.tier()) };
            let (probe, _) = ProbeCache::read_or(self.inner.probe_cache().as_ref(), look).await;
            *probed = Some(Probed { probe: probe.clone(), when: Instant::now(), had_program });
            probe
        })
    }

    fn advice(&self, demand: Demand) -> Option<String> {
        crate::report::advice(demand, self.inner.runsc.is_rootless).map(str::to_owned)
    }

    fn can_run(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        let Options { images, egress, .. } = &self.inner.options;
        let fits = Fits {
            backend: ID,
            has_images: images.is_some(),
            has_egress: egress.is_some(),
            no_overlays: Some("what is written over a folder would be in the sandbox's own memory"),
            no_host_network: Some("its sandboxes have a network of their own"),
        };
        fits.check(spec)
    }

    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async {
            self.can_run(&spec)?;
            let sandbox = crate::create::create(&self.inner, spec).await?;
            Ok(Box::new(Handle::new(sandbox)) as Box<dyn Sandbox>)
        })
    }

    fn forget<'a>(&'a self, snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async { kept::forget(&self.inner.snapshots(), snapshot) })
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(self.inner.living.close())
    }
}
