//! A machine of its own as the wall of a sandbox with an agent in it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bailiwick_agent_host::life::Ends as _;
use bailiwick_agent_host::link::Hushed;
use bailiwick_agent_host::{Account, Attended, Stand, Stood, Wall, carried, label};
use bailiwick_sandbox::{Duplex, SandboxError, SandboxSpec, Snapshot, Unpacked};
use bailiwick_types::SnapshotId;
use bailiwick_wire::seat::Seen;

use crate::attendant::{self, Started, Talk};
use crate::backend::Inner;
use crate::create::{self, PATIENCE, Serving, Start};
use crate::kept::{Kept, Memory, Shape};
use crate::life::Life;
use crate::monitor::Monitor;
use crate::orders::Orders;
use crate::qmp::Qmp;
use crate::served::{Names, Server, Shares};
use crate::{ID, failed, unsupported};

/// Why a machine of Firecracker is not kept.
const NOT_KEPT: &str = "keeping a machine of Firecracker: its streams are virtual sockets, which do not go on with its memory; \
                        `sandbox.microvm.monitor` = \"qemu\" has machines that can be kept";
/// How long an agent may take to be hushed.
const HUSH: Duration = Duration::from_secs(30);

/// A machine that runs, as it is talked to.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The monitor itself, where it can be talked to.
    pub(crate) qmp: Option<tokio::sync::Mutex<Qmp>>,
    pub(crate) orders: Orders,
    pub(crate) server: Serving,
}

impl Runs {
    fn qmp(&self) -> Result<&tokio::sync::Mutex<Qmp>, String> {
        self.qmp.as_ref().ok_or_else(|| NOT_KEPT.to_owned())
    }
}

/// A machine that sleeps: its memory in a file.
#[derive(Debug)]
struct Asleep {
    hushed: Hushed,
    memory: Memory,
    names: Names,
}

/// A machine that runs, or is kept.
#[derive(Debug)]
pub(crate) struct Machine {
    backend: Arc<Inner>,
    life: Arc<Life>,
    /// None while it sleeps.
    runs: tokio::sync::RwLock<Option<Runs>>,
    asleep: tokio::sync::Mutex<Option<Asleep>>,
    seen: Seen,
    shape: Shape,
    shares: Arc<Shares>,
    /// Held so that it stays.
    image: Option<Arc<dyn Unpacked>>,
}

impl Machine {
    /// A machine that runs.
    pub(crate) fn new(
        backend: Arc<Inner>,
        life: Arc<Life>,
        runs: Runs,
        (seen, shape): (Seen, Shape),
        shares: Arc<Shares>,
        image: Option<Arc<dyn Unpacked>>,
    ) -> Self {
        let (runs, asleep) = (tokio::sync::RwLock::new(Some(runs)), tokio::sync::Mutex::default());
        Self { backend, life, runs, asleep, seen, shape, shares, image }
    }

    /// Hushes its agent, so that nobody is within a message while it is kept.
    async fn hush(attended: &Attended<Self>) -> Result<Hushed, String> {
        match tokio::time::timeout(HUSH, attended.link.hush()).await {
            Ok(hushed) => hushed.map_err(|error| error.to_string()),
            Err(_) => Err("its first process did not answer in time".to_owned()),
        }
    }

    /// Stops it where nothing of it is under way, and writes all of it to a file. Gives what its kernel knows of files.
    async fn write(runs: &Runs, file: &std::fs::File) -> Result<Names, String> {
        runs.orders.hush().await?;
        let names = runs.server.lock().unwrap_or_else(PoisonError::into_inner).known();
        let names =
            names.ok_or("it has files open on the host that were removed, which nobody finds again")?;
        runs.qmp()?.lock().await.keep(file).await?;
        Ok(names)
    }

    /// Lets one that was stopped go on where it is.
    async fn unstop(runs: &Runs) -> Result<(), String> {
        runs.qmp()?.lock().await.go_on().await?;
        runs.orders.go_on().await
    }

    /// Keeps it: its memory is in a file, and QEMU ends.
    async fn fall_asleep(&self, attended: &Attended<Self>) -> Result<(), String> {
        let mut asleep = self.asleep.lock().await;
        if asleep.is_some() {
            return Ok(());
        }
        let (memory, file) =
            Memory::make(self.life.state.folder.join("memory")).map_err(|error| error.to_string())?;
        let mut held = self.runs.write().await;
        let Some(runs) = held.as_ref() else { return Err("it is not running".to_owned()) };
        let hushed = Self::hush(attended).await?;
        let names = match Self::write(runs, &file).await {
            Ok(names) => names,
            Err(why) => {
                // One that has ended over it is gone, and says so to whoever asks next.
                if let Err(gone) = Self::unstop(runs).await {
                    tracing::debug!(gone, "a machine does not go on after it was not kept");
                    self.life.kill();
                }
                let _gone = hushed.go_on().await;
                return Err(why);
            }
        };
        self.life.keep(true);
        self.life.end_program();
        if tokio::time::timeout(PATIENCE, self.life.is_over()).await.is_err() {
            self.life.kill();
            return Err("QEMU did not end after all of its machine was kept".to_owned());
        }
        held.take();
        *asleep = Some(Asleep { hushed, memory, names });
        Ok(())
    }

    /// Goes on where it was kept.
    async fn wake_up(&self) -> Result<(), String> {
        let mut asleep = self.asleep.lock().await;
        let Some(Asleep { hushed, memory, names }) = asleep.as_mut() else { return Ok(()) };
        if self.life.is_killed() {
            return Err("it was ended".to_owned());
        }
        let server = Server::new(self.shares.clone(), names.clone());
        let memory = memory.open().map_err(|error| format!("its memory cannot be opened: {error}"))?;
        let how = Start {
            accelerator: self.shape.accelerator,
            size: self.shape.size,
            server,
            memory: Some(memory),
        };
        let started =
            create::start(&self.backend, &self.life, how).await.map_err(|error| error.to_string())?;
        let Started { streams, handle, server, mut said, ended, .. } = started;
        self.life.runs(handle, ended);
        let goes_on = async {
            let Talk { mut greeting, orders, qmp } = attendant::streams(streams).await?;
            let mut qmp = Qmp::begin(qmp.ok_or(NOT_KEPT)?).await?;
            qmp.go_on_from_memory().await?;
            orders.go_on().await?;
            hushed.is_heard_over(&mut greeting).await.map_err(|error| error.to_string())?;
            Ok::<_, String>((greeting, orders, qmp))
        };
        let (greeting, orders, qmp) = match tokio::time::timeout(PATIENCE, goes_on).await {
            Ok(Ok(goes_on)) => goes_on,
            Ok(Err(why)) => {
                self.life.end_program();
                self.life.is_over().await;
                return Err(format!("{why}: {}", said.text().await));
            }
            Err(_) => {
                self.life.kill();
                return Err(format!("it did not go on within {PATIENCE:?}: {}", said.text().await));
            }
        };
        let Some(Asleep { hushed, .. }) = asleep.take() else { return Ok(()) };
        self.life.keep(false);
        *self.runs.write().await = Some(Runs { qmp: Some(tokio::sync::Mutex::new(qmp)), orders, server });
        hushed.go_on_over(greeting).await.map_err(|error| error.to_string())
    }
}

impl Wall for Machine {
    fn backend(&self) -> &str {
        ID
    }

    fn kill(&self) {
        self.life.kill();
    }

    async fn ended(&self) {
        self.life.removed().await;
    }

    /// Who was killed for want of memory is known to its own kernel only; the rest is counted around its monitor.
    async fn account(&self) -> Account {
        let outside = self.life.state.account();
        let kills = match self.runs.try_read().as_deref() {
            Ok(Some(runs)) => runs.orders.count().await,
            _ => None,
        };
        Account { kills: kills.or(outside.kills), ..outside }
    }

    fn forget_peak(&self) {
        self.life.state.group().forget_peak();
    }

    async fn stand(&self, attended: &Attended<Self>, how: Stand) -> Result<Stood, String> {
        match how {
            Stand::Still => self.fall_asleep(attended).await?,
            Stand::Going => self.wake_up().await?,
        }
        Ok(Stood::ByWall)
    }

    fn never_sleeps(&self) -> Option<String> {
        (self.backend.monitor == Monitor::Firecracker).then(|| NOT_KEPT.to_owned())
    }

    async fn connect(&self, attended: &Attended<Self>, port: u16) -> Result<Box<dyn Duplex>, SandboxError> {
        carried::connect(attended, port).await
    }

    fn stays(&self, _: &SandboxSpec) -> Option<String> {
        Some("nobody looks into its kernel for what one user of it left to the next".to_owned())
    }

    async fn snapshot(&self, attended: &Attended<Self>) -> Result<Snapshot, SandboxError> {
        if let Some(why) = self.never_sleeps() {
            return Err(unsupported(why));
        }
        let step = "keep a machine";
        // One that sleeps is woken.
        drop(attended.ask().await?);
        let (now, random) = label::random()?;
        let id = SnapshotId::from_parts(now, &random);
        let (memory, file) = self.backend.snapshots.begin(id)?;
        let held = self.runs.read().await;
        let Some(runs) = held.as_ref() else { return Err(failed(step, &"it is not running")) };
        // Nobody in it is told anything until it goes on.
        let _still = attended.stillness.hold();
        let hushed = Self::hush(attended).await.map_err(|why| failed(step, &why))?;
        let next = attended.link.next_number();
        let written = Self::write(runs, &file).await;
        let goes_on = Self::unstop(runs).await;
        hushed.go_on().await.map_err(|error| failed(step, &error))?;
        let names = written.map_err(|why| failed(step, &why))?;
        goes_on.map_err(|why| {
            self.life.kill();
            failed(step, &why)
        })?;
        let kept = Kept {
            next,
            seen: self.seen.clone(),
            shape: self.shape.clone(),
            names,
            shares: self.shares.clone(),
            _image: self.image.clone(),
            memory,
        };
        self.backend.snapshots.finish(id, kept)
    }

    fn forget(&self, snapshot: &Snapshot) -> Result<(), SandboxError> {
        self.backend.snapshots.forget(snapshot)
    }

    async fn another(&self, spec: SandboxSpec) -> Result<Arc<Attended<Self>>, SandboxError> {
        create::create(&self.backend, spec).await
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.life.kill();
    }
}
