//! The backend itself: what it was told, where it keeps what it has to, and what a look found.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_agent_host::life::Living;
use bailiwick_agent_host::{Handle, folders, label, remembered};
use bailiwick_sandbox::{
    Available, Backend, Demand, Doing, Egress, Fits, Images, PROBE_DEADLINE, Probe, Sandbox, SandboxError,
    SandboxSpec, Snapshot,
};
use bailiwick_sys::cgroups::Home;
use bailiwick_types::Tier;

use crate::kept::Snapshots;
use crate::life::Life;
use crate::monitor::{Accelerator, Begins, Monitor, Size};
use crate::ready::{Kind, Ready};
use crate::verdict::{self, Verdict};
use crate::{ID, kernel, unavailable};

/// Whether machines may be emulated by a program: slow, and no wall that QEMU's makers vouch for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Emulation {
    /// They run on KVM, or not at all.
    #[default]
    Never,
    /// They are emulated where KVM does not work.
    WithoutKvm,
    /// They are emulated, and KVM is left alone.
    Always,
}

/// Who makes machines, as the operator says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// QEMU, or Firecracker where there is no QEMU.
    #[default]
    Auto,
    /// QEMU.
    Qemu,
    /// Firecracker, whose machines run on KVM only and are not kept.
    Firecracker,
}

/// What a backend is told.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder of its own, below which everything is that it makes.
    pub state: PathBuf,
    /// The program `qemu-system-x86_64`: where it is, or its name, which is looked for where programs of the system are.
    pub program: PathBuf,
    /// The program `firecracker`, in the same way.
    pub firecracker: PathBuf,
    /// Which of the two makes machines.
    pub monitor: Choice,
    /// The kernel of machines: its file, or the folder in which the newest is taken.
    pub kernel: PathBuf,
    /// Whether machines may be emulated.
    pub emulation: Emulation,
    /// Where it keeps what outlives an owner: what was found out about KVM, and machines that are ready. None for the folder of its own.
    pub cache: Option<PathBuf>,
    /// How long the first machine on KVM may take until it stands; none for many times as long as it takes where KVM works.
    pub first: Option<Duration>,
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
            program: PathBuf::from("qemu-system-x86_64"),
            firecracker: PathBuf::from("firecracker"),
            monitor: Choice::Auto,
            kernel: PathBuf::from("/boot"),
            emulation: Emulation::Never,
            cache: None,
            first: None,
            accept: Vec::new(),
            patience: bailiwick_agent_host::attended::PATIENCE,
            egress: None,
            images: None,
        }
    }
}

/// What would help where there is no kernel for machines.
const FIX: &str =
    "install a kernel for machines (Debian: linux-image-cloud-amd64), or set `sandbox.microvm.kernel` to one";
/// Where the folders of this backend's owners are, below its own.
const FOLDER: &str = "microvm";
/// For how long it is believed that there is no sandbox to be had: what was in the way may have been passing.
const BELIEVED: Duration = Duration::from_mins(1);
/// Where the host's KVM is.
const KVM: &str = "/dev/kvm";

/// The backend `microvm`.
#[derive(Debug, Clone)]
pub struct MicrovmBackend {
    inner: Arc<Inner>,
}

/// What its sandboxes share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: Options,
    pub(crate) home: Home,
    /// Who makes machines.
    pub(crate) monitor: Monitor,
    /// Its program, found.
    pub(crate) program: PathBuf,
    pub(crate) snapshots: Snapshots,
    pub(crate) ready: Ready,
    begins: tokio::sync::Mutex<Option<(PathBuf, Arc<Begins>)>>,
    probed: tokio::sync::Mutex<Option<(Probe, Instant)>>,
    verdict: tokio::sync::Mutex<Option<Verdict>>,
    /// The machines that may still be there.
    pub(crate) living: Living<Life>,
    /// What outlives an owner.
    cache: PathBuf,
    /// Everything that this owner made.
    folder: PathBuf,
}

impl MicrovmBackend {
    /// A backend. What a crashed predecessor left is removed now; everything else waits until it is needed.
    pub fn new(options: Options) -> Self {
        let home = Home::find();
        home.sweep(label::is_left);
        let above = options.state.join(FOLDER);
        folders::sweep(&above);
        let folder = above.join(label::fresh());
        let cache = options.cache.clone().unwrap_or(above);
        let (monitor, program) = Monitor::choose(&options);
        let inner = Inner {
            ready: Ready::below(&cache),
            monitor,
            program,
            home,
            snapshots: Snapshots::new(&folder.join("snapshots")),
            begins: tokio::sync::Mutex::default(),
            probed: tokio::sync::Mutex::default(),
            verdict: tokio::sync::Mutex::default(),
            living: Living::default(),
            cache,
            folder,
            options,
        };
        Self { inner: Arc::new(inner) }
    }
}

impl Inner {
    /// A folder of this owner's.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What machines begin with: the kernel and our agent. Read again only when there is another kernel.
    pub(crate) async fn begins(&self) -> Result<Arc<Begins>, SandboxError> {
        if !self.program.is_file() {
            let reason = format!("there is no program {}", self.program.display());
            return Err(unavailable(reason, self.monitor.fix()));
        }
        let no_kernel =
            |error: std::io::Error| unavailable(format!("there is no kernel for machines: {error}"), FIX);
        let file = kernel::find(&self.options.kernel).map_err(no_kernel)?;
        let mut begins = self.begins.lock().await;
        if let Some((known, begins)) = begins.as_ref()
            && *known == file
        {
            return Ok(begins.clone());
        }
        let agent = bailiwick_agent_program::bytes();
        let agent = agent
            .map_err(|error| unavailable(error.to_string(), "build it where there is a static C library"))?;
        let (monitor, place) = (self.monitor, file.clone());
        // A kernel is read and unpacked, which takes a moment.
        let held = tokio::task::spawn_blocking(move || {
            let kernel = kernel::read(&place, monitor.modules()).map_err(no_kernel)?;
            monitor.begins(&kernel, agent).map_err(|why| {
                unavailable(format!("{} is no kernel for {}: {why}", place.display(), monitor.name()), FIX)
            })
        });
        let held = held.await.map_err(|error| crate::failed("hold the kernel of machines", &error))?;
        let held = Arc::new(held?);
        *begins = Some((file, held.clone()));
        Ok(held)
    }

    /// How long the first machine on KVM may take until it stands.
    pub(crate) fn first(&self) -> Duration {
        self.options.first.unwrap_or(self.monitor.first())
    }

    /// What machines of a size have in common here.
    pub(crate) async fn kind(&self, size: Size, accelerator: Accelerator) -> Result<Kind, SandboxError> {
        let begins = self.begins().await?;
        let kernel = kernel::find(&self.options.kernel).unwrap_or_default();
        let files = remembered::circumstances(&[&self.program, &kernel]);
        Ok(Kind::of(&files, &begins.sum, size, accelerator))
    }

    /// What is remembered beyond an owner is believed, so nobody else may be able to write it.
    fn is_own_cache(&self) -> Result<(), SandboxError> {
        let made = folders::private(&self.cache).and_then(|()| folders::is_own(&self.cache));
        made.map_err(|error| {
            let reason = format!("{} cannot hold what machines go on from: {error}", self.cache.display());
            unavailable(reason, "give `sandbox.microvm.cache` a folder of this user's own, with mode 0700")
        })
    }

    /// How machines run here, or why they do not. Whether KVM works is found out by starting a machine, once.
    pub(crate) async fn accelerator(self: &Arc<Self>) -> Result<Accelerator, SandboxError> {
        self.is_own_cache()?;
        if self.monitor == Monitor::Firecracker {
            let fix = "use a machine whose KVM works, or QEMU: set `sandbox.microvm.monitor` to qemu";
            return match self.why_no_kvm().await? {
                None => Ok(Accelerator::Kvm),
                Some(why) => Err(unavailable(why, fix)),
            };
        }
        if self.options.emulation == Emulation::Always {
            return Ok(Accelerator::Emulated);
        }
        match (self.why_no_kvm().await?, self.options.emulation) {
            (None, _) => Ok(Accelerator::Kvm),
            (Some(_), Emulation::WithoutKvm | Emulation::Always) => Ok(Accelerator::Emulated),
            (Some(why), Emulation::Never) => Err(unavailable(
                why,
                "use a machine whose KVM works, or let machines be emulated: set `sandbox.microvm.emulation` to true",
            )),
        }
    }

    async fn why_no_kvm(self: &Arc<Self>) -> Result<Option<String>, SandboxError> {
        if let Err(error) = std::fs::OpenOptions::new().read(true).write(true).open(KVM) {
            return Ok(Some(format!("{KVM} cannot be opened: {error}")));
        }
        let kernel = kernel::find(&self.options.kernel).unwrap_or_default();
        let of = remembered::circumstances(&[&self.program, &kernel]);
        let mut known = self.verdict.lock().await;
        if let Some(verdict) = known.as_ref().filter(|verdict| verdict.counts(&of)) {
            return Ok(verdict.why_not.clone());
        }
        let verdict = if let Some(verdict) = verdict::recall(&self.cache, &of) {
            verdict
        } else {
            let verdict = Verdict::now(of, crate::probe::why_no_kvm(self).await?);
            verdict::remember(&self.cache, &verdict);
            verdict
        };
        *known = Some(verdict.clone());
        Ok(verdict.why_not)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        folders::remove(&self.folder);
    }
}

impl Backend for MicrovmBackend {
    fn id(&self) -> &str {
        ID
    }

    fn tier(&self) -> Tier {
        Tier::MicroVm
    }

    fn priority(&self) -> u32 {
        100
    }

    fn probe(&self) -> Doing<'_, Probe> {
        Box::pin(async {
            let mut probed = self.inner.probed.lock().await;
            if let Some((probe, when)) = probed.as_ref()
                && when.elapsed() < BELIEVED
                && (probe.availability != Available::Yes || self.inner.program.is_file())
            {
                return probe.clone();
            }
            let probe = crate::probe::look(&self.inner).await;
            *probed = Some((probe.clone(), Instant::now()));
            probe
        })
    }

    fn patience(&self) -> Duration {
        match self.inner.options.emulation {
            Emulation::Never => PROBE_DEADLINE,
            // The operator asked for what is slow: KVM is tried, and then a kernel is started by a program.
            Emulation::WithoutKvm | Emulation::Always => self.inner.first() + crate::create::PATIENCE,
        }
    }

    fn advice(&self, demand: Demand) -> Option<String> {
        let is_a_cgroups = matches!(demand, Demand::Memory | Demand::Cpu);
        is_a_cgroups
            .then(|| "let this program make cgroups: in a container, mount its cgroup writable".to_owned())
    }

    fn can_run(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        let Options { images, egress, .. } = &self.inner.options;
        let fits = Fits {
            backend: ID,
            has_images: images.is_some(),
            has_egress: egress.is_some(),
            no_overlays: Some("what is written over a folder would be in the machine's own memory"),
            no_host_network: Some("its machines have no network card"),
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
        Box::pin(async { self.inner.snapshots.forget(snapshot) })
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(self.inner.living.close())
    }
}
