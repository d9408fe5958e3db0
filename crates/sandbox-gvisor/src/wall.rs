//! A kernel of its own as the wall of a sandbox with an agent in it.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_agent_host::life::Ends as _;
use bailiwick_agent_host::link::Hushed;
use bailiwick_agent_host::{Account, Attended, Stand, Stood, Wall, carried, folders, label};
use bailiwick_sandbox::{Duplex, SandboxError, SandboxSpec, Snapshot, Unpacked};
use bailiwick_types::SnapshotId;
use bailiwick_wire::seat::Seen;

use crate::backend::Inner;
use crate::create::{self, PATIENCE};
use crate::kept::{self, Known, Shape};
use crate::life::Life;
use crate::runsc::Started;
use crate::{ID, failed, unsupported};

/// How long a checkpoint may take: as long as a disk needs for the memory of a large sandbox.
const CHECKPOINT: Duration = Duration::from_mins(5);

/// What an ordinary user does not have.
pub(crate) const ROOTLESS: &str =
    "keeping a sandbox with its processes as an ordinary user: `runsc restore` is for root only";

/// A container that runs on a kernel of its own, or is kept.
#[derive(Debug)]
pub(crate) struct Sentry {
    backend: Arc<Inner>,
    life: Arc<Life>,
    seen: Seen,
    shape: Shape,
    /// The stream to an agent whose sandbox is kept.
    asleep: tokio::sync::Mutex<Option<Hushed>>,
    /// Held so that it stays.
    _image: Option<Arc<dyn Unpacked>>,
}

impl Sentry {
    /// A container that runs.
    pub(crate) fn new(
        backend: Arc<Inner>,
        life: Arc<Life>,
        seen: Seen,
        shape: Shape,
        image: Option<Arc<dyn Unpacked>>,
    ) -> Self {
        Self { backend, life, seen, shape, asleep: tokio::sync::Mutex::new(None), _image: image }
    }

    /// Where its memory is while it is kept.
    fn memory(&self) -> std::path::PathBuf {
        self.life.state.folder.join("memory")
    }

    /// Hushes its agent, so that nobody is within a message while it is kept.
    async fn hush(&self, attended: &Attended<Self>) -> Result<Hushed, String> {
        match tokio::time::timeout(PATIENCE, attended.link.hush()).await {
            Ok(hushed) => hushed.map_err(|error| error.to_string()),
            Err(_) => Err("its first process did not answer in time".to_owned()),
        }
    }

    /// Writes everything of it to a folder.
    async fn checkpoint(&self, to: &Path, more: &[&str]) -> Result<(), String> {
        let mut words = vec![OsStr::new("checkpoint"), OsStr::new("--image-path"), to.as_os_str()];
        // Written and read faster than it would be compressed.
        words.push(OsStr::new("--compression=none"));
        words.extend(more.iter().map(OsStr::new));
        words.push(OsStr::new(&self.life.state.name));
        self.backend.runsc.ask(&words, CHECKPOINT).await.map(|_| ())
    }

    /// Keeps it: its memory is in files, and its kernel ends.
    async fn fall_asleep(&self, attended: &Attended<Self>) -> Result<(), String> {
        let mut asleep = self.asleep.lock().await;
        if asleep.is_some() {
            return Ok(());
        }
        let memory = self.memory();
        folders::remove(&memory);
        folders::private(&memory).map_err(|error| error.to_string())?;
        let hushed = self.hush(attended).await?;
        self.life.keep(true);
        if let Err(why) = self.checkpoint(&memory, &[]).await {
            self.life.keep(false);
            // One that has ended over it is gone, and says so to whoever asks next.
            let _gone = hushed.go_on().await;
            return Err(why);
        }
        let over = tokio::time::timeout(PATIENCE, self.life.is_over()).await;
        if over.is_err() {
            self.life.kill();
            return Err("its kernel did not end after all of it was kept".to_owned());
        }
        *asleep = Some(hushed);
        Ok(())
    }

    /// Goes on where it was kept.
    async fn wake_up(&self) -> Result<(), String> {
        let mut asleep = self.asleep.lock().await;
        let Some(hushed) = asleep.as_mut() else { return Ok(()) };
        if self.life.is_killed() {
            return Err("it was ended".to_owned());
        }
        let runsc = &self.backend.runsc;
        // It forgets what has ended by itself; one that was killed over it did not.
        let state = &self.life.state;
        if runsc.knows(&state.name) {
            runsc.forget(&state.name, PATIENCE).await?;
        }
        let memory = self.memory();
        // A kernel takes more while it starts; the bound is the same again before a command goes on.
        let bound = state.group().held().memory;
        if let Some(bound) = bound {
            let more = bound.saturating_add(create::WHILE_IT_STARTS);
            state.group().hold_memory(more).map_err(|error| error.to_string())?;
        }
        let started = runsc.start(&state.name, &state.folder, Some(&memory), &state.group())?;
        let Started { mut greeting, child, handle, said } = started;
        self.life.runs(child, handle);
        let heard = tokio::time::timeout(PATIENCE, hushed.is_heard_over(&mut greeting)).await;
        match heard {
            Ok(Ok(())) => self.life.stands(),
            Ok(Err(error)) => {
                // What is kept stays, and can be tried again.
                self.life.end();
                let ended = tokio::time::timeout(PATIENCE, self.life.is_over()).await;
                let more = if ended.is_err() { "; and its program did not end" } else { "" };
                return Err(format!("{error}: {}{more}", said.text()));
            }
            Err(_) => {
                self.life.kill();
                return Err(format!("it did not go on within {PATIENCE:?}: {}", said.text()));
            }
        }
        if let Some(Err(error)) = bound.map(|bound| state.group().hold_memory(bound)) {
            self.life.kill();
            return Err(format!("it could not be held to its memory again: {error}"));
        }
        let Some(hushed) = asleep.take() else { return Ok(()) };
        self.life.keep(false);
        hushed.go_on_over(greeting).await.map_err(|error| error.to_string())?;
        folders::remove(&memory);
        Ok(())
    }
}

impl Wall for Sentry {
    fn backend(&self) -> &str {
        ID
    }

    fn kill(&self) {
        self.life.kill();
    }

    async fn ended(&self) {
        self.life.removed().await;
    }

    async fn account(&self) -> Account {
        self.life.state.account()
    }

    fn forget_peak(&self) {
        self.life.state.group().forget_peak();
    }

    async fn stand(&self, attended: &Attended<Self>, how: Stand) -> Result<Stood, String> {
        if self.backend.runsc.is_rootless {
            // What cannot go on is not kept: its agent has everything stand still instead, which frees no memory.
            return Ok(Stood::ByNobody);
        }
        match how {
            Stand::Still => self.fall_asleep(attended).await?,
            Stand::Going => self.wake_up().await?,
        }
        Ok(Stood::ByWall)
    }

    async fn connect(&self, attended: &Attended<Self>, port: u16) -> Result<Box<dyn Duplex>, SandboxError> {
        carried::connect(attended, port).await
    }

    fn stays(&self, _: &SandboxSpec) -> Option<String> {
        Some("nobody looks into its kernel for what one user of it left to the next".to_owned())
    }

    async fn snapshot(&self, attended: &Attended<Self>) -> Result<Snapshot, SandboxError> {
        if self.backend.runsc.is_rootless {
            return Err(unsupported(ROOTLESS));
        }
        // One that sleeps is woken.
        drop(attended.ask().await?);
        let (now, random) = label::random()?;
        let id = SnapshotId::from_parts(now, &random);
        let place = kept::begin(&self.backend.snapshots(), id)?;
        let taken = async {
            let step = "keep a sandbox";
            // Nobody in it is told anything until it goes on.
            let _still = attended.stillness.hold();
            let hushed = self.hush(attended).await.map_err(|why| failed(step, &why))?;
            let next = attended.link.next_number();
            let written = self.checkpoint(&kept::image(&place), &["--leave-running"]).await;
            hushed.go_on().await.map_err(|error| failed(step, &error))?;
            written.map_err(|why| failed(step, &why))?;
            kept::finish(&place, id, &Known { next, seen: self.seen.clone(), shape: self.shape.clone() })
        };
        let taken = taken.await;
        if taken.is_err() {
            folders::remove(&place);
        }
        taken
    }

    fn forget(&self, snapshot: &Snapshot) -> Result<(), SandboxError> {
        kept::forget(&self.backend.snapshots(), snapshot)
    }

    async fn another(&self, spec: SandboxSpec) -> Result<Arc<Attended<Self>>, SandboxError> {
        create::create(&self.backend, spec).await
    }
}

impl Drop for Sentry {
    fn drop(&mut self) {
        self.life.kill();
    }
}
