//! A sandbox with an agent in it, as its host has it: asked by number, woken when it sleeps, given up when it stands still.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bailiwick_sandbox::{ExecUsage, Outlet, Reset, SandboxError, SandboxSpec};
use bailiwick_types::{CorrelationId, Receipt, SandboxId};
use bailiwick_wire::agent::{FromAgent, ToAgent};

use tokio::sync::{oneshot, watch};

use crate::exec;
use crate::link::{Ask, Link};
use crate::places::Places;
use crate::ports::Exposed;
use crate::stillness::Stillness;
use crate::wall::{Account, Stand, Stood, Wall};

/// How long between two looks whether everything has ended.
const PAUSE: Duration = Duration::from_millis(10);
/// How long an agent may stand still if nobody says otherwise: as long as it takes to remove a million files, and longer.
pub const PATIENCE: Duration = Duration::from_mins(1);

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
const SIGCONT: i32 = 18;
const SIGSTOP: i32 = 19;

/// What handles and running commands share. What is behind the wall ends when the last of them is gone; a handle that is dropped
/// ends it at once.
#[derive(Debug)]
pub struct Attended<W> {
    /// Its id.
    pub id: SandboxId,
    /// What it was made from.
    pub spec: SandboxSpec,
    /// Where things are in it.
    pub places: Places,
    /// The stream to its agent.
    pub link: Link,
    /// What stands around it.
    pub wall: W,
    pub(crate) receipt: Receipt,
    pub(crate) warnings: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) outlet: Option<Arc<dyn Outlet>>,
    patience: Duration,
    ended: AtomicBool,
    /// Whether it stands still; whoever changes that holds the lock.
    asleep: tokio::sync::Mutex<bool>,
    may_sleep: watch::Sender<bool>,
    /// Whether it stands still, asleep or because its wall keeps it just now.
    pub stillness: Stillness,
    born: Instant,
    pub(crate) exposed: tokio::sync::Mutex<Exposed>,
    /// Itself, for what goes on when nobody waits for it any more.
    me: Weak<Self>,
}

/// What becomes of a sandbox that has fallen asleep while its agent is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asleep {
    /// It is woken: somebody wants something of it.
    IsWoken,
    /// It sleeps on, and who waits waits on.
    IsLeft,
}

/// What a sandbox is put together from.
#[derive(Debug)]
pub struct Parts<W> {
    /// Its id.
    pub id: SandboxId,
    /// What it was made from.
    pub spec: SandboxSpec,
    /// Where things are in it.
    pub places: Places,
    /// The stream to its agent.
    pub link: Link,
    /// What stands around it.
    pub wall: W,
    /// What was demanded, and what was seen to hold it.
    pub receipt: Receipt,
    /// What whoever asked should read.
    pub warnings: Vec<String>,
    /// Variables of its image: behind those that every sandbox has, before all others.
    pub variables: Vec<(String, String)>,
    /// Its way out.
    pub outlet: Option<Arc<dyn Outlet>>,
    /// How long its agent may stand still when it is asked for something; then it is ended.
    pub patience: Duration,
}

impl<W: Wall> Attended<W> {
    /// A sandbox of these parts.
    pub fn new(parts: Parts<W>) -> Arc<Self> {
        let Parts { id, spec, places, link, wall, receipt, warnings, variables, outlet, patience } = parts;
        Arc::new_cyclic(|me| Self {
            id,
            spec,
            places,
            link,
            wall,
            receipt,
            warnings,
            variables,
            outlet,
            patience,
            ended: AtomicBool::new(false),
            asleep: tokio::sync::Mutex::new(false),
            may_sleep: watch::Sender::new(false),
            stillness: Stillness::default(),
            born: Instant::now(),
            exposed: tokio::sync::Mutex::default(),
            me: me.clone(),
        })
    }
}

impl<W: Wall> Attended<W> {
    /// Why nothing can be done with it any more.
    pub fn gone(&self) -> SandboxError {
        let why = if self.ended.load(Ordering::Acquire) {
            "it was ended".to_owned()
        } else {
            self.wall.why().unwrap_or_else(|| self.link.why().to_string())
        };
        SandboxError::Gone { id: self.id, why }
    }

    /// Begins an ask; a sandbox that sleeps is woken.
    pub async fn ask(&self) -> Result<Ask, SandboxError> {
        if self.ended.load(Ordering::Acquire) {
            return Err(self.gone());
        }
        if self.may_sleep() {
            self.wake().await?;
        }
        self.link.open().map_err(|_| self.gone())
    }

    /// Whether it sleeps, or is about to.
    fn may_sleep(&self) -> bool {
        *self.may_sleep.borrow()
    }

    /// Says something about an ask. One that has fallen asleep meanwhile is woken for it.
    pub async fn say(&self, message: &ToAgent) -> Result<(), SandboxError> {
        self.patiently(self.link.say(message), Asleep::IsWoken).await?.map_err(|_| self.gone())
    }

    /// Says something about an ask that goes on when the sandbox does, however long that sleeps.
    pub(crate) async fn tell(&self, message: &ToAgent) -> Result<(), SandboxError> {
        self.patiently(self.link.say(message), Asleep::IsLeft).await?.map_err(|_| self.gone())
    }

    /// The same, later: for whoever does not wait for it any more. One that is gone needs no word.
    pub(crate) fn tell_later(&self, message: ToAgent) {
        if let (Some(me), Ok(runtime)) = (self.me.upgrade(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                let _gone = me.tell(&message).await;
            });
        }
    }

    /// The next answer to an ask that needs nobody but the agent, or why none comes: it is gone, does not answer, or does not wake.
    pub async fn answer(&self, ask: &mut Ask) -> Result<FromAgent, SandboxError> {
        self.patiently(ask.next(), Asleep::IsWoken).await?.ok_or_else(|| self.gone())
    }

    /// Waits for the agent, but not for ever: a guest may stop a process on which it waits. One that stood still too long is
    /// ended with its sandbox. Time in which the whole sandbox stood still does not count.
    async fn patiently<T>(&self, doing: impl Future<Output = T>, asleep: Asleep) -> Result<T, SandboxError> {
        let mut doing = std::pin::pin!(doing);
        let (last, before) = (tokio::time::Instant::now() + self.patience, self.stillness.so_far());
        loop {
            tokio::select! {
                biased;
                done = &mut doing => return Ok(done),
                () = self.stillness.past(last, before) => {
                    self.link.give_up();
                    self.wall.kill();
                    return Err(self.gone());
                }
                () = self.falls_asleep(), if asleep == Asleep::IsWoken => self.wake().await?,
            }
        }
    }

    /// Waits until it sleeps, or is about to.
    async fn falls_asleep(&self) {
        let mut sleeps = self.may_sleep.subscribe();
        // Whoever changes that is here, so there always is one.
        let _always = sleeps.wait_for(|sleeps| *sleeps).await.is_ok();
    }

    /// Asks for something that is answered by `Done`.
    pub async fn done(&self, mut ask: Ask, message: &ToAgent) -> Result<(), SandboxError> {
        self.say(message).await?;
        let told = self.answer(&mut ask).await?;
        self.is_done(told)
    }

    fn is_done(&self, told: FromAgent) -> Result<(), SandboxError> {
        match told {
            FromAgent::Done { .. } => Ok(()),
            FromAgent::Failed { step, errno, .. } => Err(SandboxError::Failed {
                step,
                reason: std::io::Error::from_raw_os_error(errno).to_string(),
            }),
            _ => Err(self.broken()),
        }
    }

    /// An answer that does not belong to what was asked: it is not believed any further.
    pub fn broken(&self) -> SandboxError {
        self.cut();
        SandboxError::Gone {
            id: self.id,
            why: "its first process gave an answer to something else".to_owned(),
        }
    }

    /// Does something to its end, also if whoever asked for it stops waiting: one that is left in the middle of being kept would
    /// stand still, and nobody would know. What nobody takes any more is handed back.
    pub(crate) async fn to_the_end<T, F>(
        &self,
        what: &str,
        doing: impl FnOnce(Arc<Self>) -> F,
        untaken: impl FnOnce(&Self, T) + Send + 'static,
    ) -> Result<T, SandboxError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, SandboxError>> + Send + 'static,
    {
        let Some(me) = self.me.upgrade() else { return Err(self.gone()) };
        let (tells, told) = oneshot::channel();
        let doing = doing(me.clone());
        tokio::spawn(async move {
            if let Err(Ok(done)) = tells.send(doing.await) {
                untaken(&me, done);
            }
        });
        told.await.unwrap_or_else(|error| Err(self.cannot(what, &error)))
    }

    pub(crate) async fn wake(&self) -> Result<(), SandboxError> {
        self.to_the_end("wake", |me| async move { me.go_on().await }, |_, ()| ()).await
    }

    async fn go_on(&self) -> Result<(), SandboxError> {
        let mut asleep = self.asleep.lock().await;
        if !*asleep {
            return Ok(());
        }
        self.stand(Stand::Going, SIGCONT).await?;
        *asleep = false;
        self.may_sleep.send_replace(false);
        self.stillness.end();
        Ok(())
    }

    pub(crate) async fn sleep(&self) -> Result<(), SandboxError> {
        if let Some(why) = self.wall.never_sleeps() {
            return Err(SandboxError::Unsupported { backend: self.wall.backend().to_owned(), what: why });
        }
        self.to_the_end("put to sleep", |me| async move { me.stand_still().await }, |_, ()| ()).await
    }

    async fn stand_still(&self) -> Result<(), SandboxError> {
        if self.ended.load(Ordering::Acquire) || self.link.is_gone() {
            return Err(self.gone());
        }
        let mut asleep = self.asleep.lock().await;
        if *asleep {
            return Ok(());
        }
        // Before it begins: whoever asks for something meanwhile waits until it sleeps, and wakes it.
        self.may_sleep.send_replace(true);
        self.stillness.begin();
        if let Err(error) = self.stand(Stand::Still, SIGSTOP).await {
            self.may_sleep.send_replace(false);
            self.stillness.end();
            return Err(error);
        }
        *asleep = true;
        Ok(())
    }

    /// Makes everybody stand still or go on: by the wall, or by a signal to each.
    async fn stand(&self, how: Stand, signal: i32) -> Result<(), SandboxError> {
        let what = match how {
            Stand::Still => "put to sleep",
            Stand::Going => "wake",
        };
        match self.wall.stand(self, how).await.map_err(|why| self.cannot(what, &why))? {
            Stood::ByWall => Ok(()),
            Stood::ByNobody => {
                let mut ask = self.link.open().map_err(|_| self.gone())?;
                let id = ask.id;
                // Its processes stand still and its agent does not, so that is not waited for without end.
                let told = tokio::time::timeout(self.patience, async {
                    self.link.say(&ToAgent::SignalAll { id, signal }).await.ok()?;
                    ask.next().await
                });
                let Ok(told) = told.await else {
                    self.link.give_up();
                    self.wall.kill();
                    return Err(self.gone());
                };
                self.is_done(told.ok_or_else(|| self.gone())?)
            }
        }
    }

    /// The refusal of a step.
    pub fn cannot(&self, what: &str, why: &dyn std::fmt::Display) -> SandboxError {
        SandboxError::Failed { step: format!("{what} the sandbox {}", self.id), reason: why.to_string() }
    }

    /// What caused something in it.
    pub fn correlation(&self) -> CorrelationId {
        self.spec.correlation.clone().unwrap_or_else(|| self.id.into())
    }

    pub(crate) async fn stop(&self, grace: Duration) -> Result<(), SandboxError> {
        let deadline = Instant::now() + grace;
        let ask = self.ask().await?;
        let id = ask.id;
        self.done(ask, &ToAgent::SignalAll { id, signal: SIGTERM }).await?;
        while Instant::now() < deadline {
            let mut ask = self.ask().await?;
            let id = ask.id;
            self.say(&ToAgent::Count { id }).await?;
            match self.answer(&mut ask).await? {
                FromAgent::Counted { processes: 0, .. } => return Ok(()),
                FromAgent::Counted { .. } => tokio::time::sleep(PAUSE).await,
                _ => return Err(self.broken()),
            }
        }
        let ask = self.ask().await?;
        let id = ask.id;
        self.done(ask, &ToAgent::SignalAll { id, signal: SIGKILL }).await
    }

    pub(crate) async fn reset(&self) -> Result<Reset, SandboxError> {
        if let Some(stays) = self.wall.stays(&self.spec) {
            return Ok(Reset::Unproven(stays));
        }
        if self.spec.mounts.iter().any(|mount| mount.writable) {
            return Ok(Reset::Unproven("what it wrote to the host's folders stays".to_owned()));
        }
        if !self.spec.warm {
            return Ok(Reset::Unproven(
                "how it was at birth was not remembered: its spec is not warm".to_owned(),
            ));
        }
        let mut ask = self.ask().await?;
        let id = ask.id;
        self.say(&ToAgent::Reset { id, folders: self.places.own_found() }).await?;
        match self.answer(&mut ask).await? {
            FromAgent::Reset { left, .. } if left.is_empty() => Ok(Reset::Proven),
            FromAgent::Reset { left, .. } => Ok(Reset::Unproven(left.join("; "))),
            _ => Err(self.broken()),
        }
    }

    async fn counted(&self, processes: u32) -> ExecUsage {
        let Account { cpu_us, memory_peak, .. } = self.wall.account().await;
        ExecUsage {
            wall_ms: self.born.elapsed().as_secs_f64() * 1000.0,
            cpu_ms: exec::milliseconds(cpu_us.unwrap_or(0)),
            memory_peak: memory_peak.unwrap_or(0),
            processes: u64::from(processes),
        }
    }

    /// What it has used since it was made.
    pub(crate) async fn usage(&self) -> Result<ExecUsage, SandboxError> {
        // One that sleeps is not woken to be counted.
        if self.may_sleep() {
            return Ok(self.counted(0).await);
        }
        let mut ask = self.ask().await?;
        let id = ask.id;
        self.say(&ToAgent::Count { id }).await?;
        match self.answer(&mut ask).await? {
            FromAgent::Counted { processes, .. } => Ok(self.counted(processes).await),
            _ => Err(self.broken()),
        }
    }

    /// Ends it, without waiting for that.
    pub fn kill(&self) {
        self.ended.store(true, Ordering::Release);
        self.cut();
    }

    /// Ends what is behind the wall, at once. Of one that sleeps nobody would hear that by its stream.
    pub(crate) fn cut(&self) {
        self.wall.kill();
        if self.may_sleep() {
            self.link.end();
        }
    }

    /// Ends it and waits until nothing is left of it.
    pub async fn end(&self) {
        self.kill();
        self.wall.ended().await;
    }

    /// Whether it can still be used.
    pub fn is_alive(&self) -> bool {
        !self.ended.load(Ordering::Acquire) && !self.link.is_gone()
    }
}

#[cfg(test)]
mod tests;
