//! A sandbox of this backend, seen from outside.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bailiwick_sandbox::{
    Command, Doing, Entry, ExecResult, ExecUsage, Put, Reset, Running, Sandbox, SandboxError, SandboxPath,
    SandboxSpec, Snapshot, Unpacked,
};
use bailiwick_sys::cgroups::Controller;
use bailiwick_types::{CorrelationId, Receipt, SandboxId};
use bailiwick_wire::agent::{FromAgent, ToAgent};
use bytes::Bytes;

use super::backend::Inner as Backend;
use super::create::{self, Beside};
use super::exposed::{self, Exposed};
use super::jail::{Account, Jail};
use super::layout::Layout;
use super::link::{Ask, Link};
use super::served::Served;
use super::{ID, exec, files, snapshots};

/// How long between two looks whether everything has ended.
const PAUSE: Duration = Duration::from_millis(10);

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
const SIGCONT: i32 = 18;
const SIGSTOP: i32 = 19;

/// A sandbox. Dropping it ends it.
#[derive(Debug, Clone)]
pub(crate) struct ProcessSandbox {
    pub(crate) inner: Arc<Inner>,
}

/// What handles and running commands share. The jail ends when the last of them is gone; a handle that is dropped ends it at
/// once.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) id: SandboxId,
    pub(crate) backend: Arc<Backend>,
    pub(crate) spec: SandboxSpec,
    pub(crate) layout: Layout,
    pub(crate) link: Link,
    pub(crate) jail: Jail,
    receipt: Receipt,
    warnings: Vec<String>,
    ended: AtomicBool,
    /// Whether it stands still; whoever changes that holds the lock.
    asleep: tokio::sync::Mutex<bool>,
    may_sleep: AtomicBool,
    born: Instant,
    /// Held so that it stays.
    pub(crate) image: Option<Arc<dyn Unpacked>>,
    pub(crate) served: Option<Served>,
    pub(crate) hand: Option<tokio::sync::Mutex<OwnedFd>>,
    uppers: Vec<OwnedFd>,
    pub(crate) exposed: tokio::sync::Mutex<Exposed>,
}

/// What a sandbox is put together from.
pub(crate) struct Parts {
    pub(crate) spec: SandboxSpec,
    pub(crate) layout: Layout,
    pub(crate) link: Link,
    pub(crate) jail: Jail,
    pub(crate) receipt: Receipt,
    pub(crate) warnings: Vec<String>,
    pub(crate) beside: Beside,
}

/// The one handle that was handed out.
#[derive(Debug)]
pub(crate) struct Handle(ProcessSandbox);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.inner.ended.store(true, Ordering::Release);
        self.0.inner.jail.kill();
    }
}

impl ProcessSandbox {
    pub(crate) fn new(id: SandboxId, backend: Arc<Backend>, parts: Parts) -> Self {
        let Parts { spec, layout, link, jail, receipt, warnings, beside } = parts;
        let Beside { image, served, hand, uppers } = beside;
        let inner = Inner {
            id,
            backend,
            spec,
            layout,
            link,
            jail,
            receipt,
            warnings,
            ended: AtomicBool::new(false),
            asleep: tokio::sync::Mutex::new(false),
            may_sleep: AtomicBool::new(false),
            born: Instant::now(),
            image,
            served,
            hand,
            uppers,
            exposed: tokio::sync::Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The handle for whoever asked for it.
    pub(crate) fn handle(self) -> Box<dyn Sandbox> {
        Box::new(Handle(self))
    }

    /// The state of files that it is to begin with.
    pub(crate) fn begins_with(&self) -> Option<Snapshot> {
        self.inner.spec.snapshot.clone()
    }

    /// Ends it and waits until nothing is left of it.
    pub(crate) async fn end(&self) {
        self.inner.ended.store(true, Ordering::Release);
        self.inner.jail.kill();
        self.inner.jail.ended().await;
    }
}

impl Inner {
    /// Why nothing can be done with it any more.
    pub(crate) fn gone(&self) -> SandboxError {
        let why = if self.ended.load(Ordering::Acquire) {
            "it was ended".to_owned()
        } else {
            self.link.why().to_string()
        };
        SandboxError::Gone { id: self.id, why }
    }

    /// Begins an ask; a sandbox that sleeps is woken.
    pub(crate) async fn ask(&self) -> Result<Ask, SandboxError> {
        if self.ended.load(Ordering::Acquire) {
            return Err(self.gone());
        }
        if self.may_sleep.load(Ordering::Acquire) {
            self.wake().await?;
        }
        self.link.open().map_err(|_| self.gone())
    }

    /// Says something about an ask.
    pub(crate) async fn say(&self, message: &ToAgent) -> Result<(), SandboxError> {
        let said = self.patiently(self.link.say(message)).await;
        said.and_then(Result::ok).ok_or_else(|| self.gone())
    }

    /// The next answer to an ask that needs nobody but the agent; none when that is gone, or does not answer.
    pub(crate) async fn answer(&self, ask: &mut Ask) -> Option<FromAgent> {
        self.patiently(ask.next()).await.flatten()
    }

    /// Waits for the agent, but not for ever: a guest may stop a process on which it waits. One that stood still too long is
    /// ended with its sandbox.
    async fn patiently<T>(&self, doing: impl Future<Output = T>) -> Option<T> {
        let mut doing = std::pin::pin!(doing);
        loop {
            match tokio::time::timeout(self.backend.options.patience, &mut doing).await {
                Ok(done) => return Some(done),
                // One that sleeps cannot answer.
                Err(_) if self.may_sleep.load(Ordering::Acquire) => {}
                Err(_) => {
                    self.link.give_up();
                    self.jail.kill();
                    return None;
                }
            }
        }
    }

    /// Asks for something that is answered by `Done`.
    pub(crate) async fn done(&self, mut ask: Ask, message: &ToAgent) -> Result<(), SandboxError> {
        self.say(message).await?;
        match self.answer(&mut ask).await {
            Some(FromAgent::Done { .. }) => Ok(()),
            Some(FromAgent::Failed { step, errno, .. }) => Err(SandboxError::Failed {
                step,
                reason: std::io::Error::from_raw_os_error(errno).to_string(),
            }),
            Some(_) => Err(self.broken()),
            None => Err(self.gone()),
        }
    }

    /// An answer that does not belong to what was asked: it is not believed any further.
    pub(crate) fn broken(&self) -> SandboxError {
        self.jail.kill();
        SandboxError::Gone {
            id: self.id,
            why: "its first process gave an answer to something else".to_owned(),
        }
    }

    async fn wake(&self) -> Result<(), SandboxError> {
        let mut asleep = self.asleep.lock().await;
        if !*asleep {
            return Ok(());
        }
        if self.freezes() {
            self.jail.freeze(false).map_err(|failed| self.cannot("wake", &failed))?;
        } else {
            let ask = self.link.open().map_err(|_| self.gone())?;
            let id = ask.id;
            self.done(ask, &ToAgent::SignalAll { id, signal: SIGCONT }).await?;
        }
        *asleep = false;
        self.may_sleep.store(false, Ordering::Release);
        Ok(())
    }

    async fn sleep(&self) -> Result<(), SandboxError> {
        if self.ended.load(Ordering::Acquire) || self.link.is_gone() {
            return Err(self.gone());
        }
        let mut asleep = self.asleep.lock().await;
        if *asleep {
            return Ok(());
        }
        if self.freezes() {
            self.jail.freeze(true).map_err(|failed| self.cannot("put to sleep", &failed))?;
        } else {
            let ask = self.link.open().map_err(|_| self.gone())?;
            let id = ask.id;
            self.done(ask, &ToAgent::SignalAll { id, signal: SIGSTOP }).await?;
        }
        *asleep = true;
        self.may_sleep.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether the kernel makes it stand still; else every process is told to.
    fn freezes(&self) -> bool {
        self.backend.home.holds(Controller::Freezer).is_ok()
    }

    fn cannot(&self, what: &str, why: &dyn std::fmt::Display) -> SandboxError {
        SandboxError::Failed { step: format!("{what} the sandbox {}", self.id), reason: why.to_string() }
    }

    /// What caused something in it.
    pub(crate) fn correlation(&self) -> CorrelationId {
        self.spec.correlation.clone().unwrap_or_else(|| self.id.into())
    }

    async fn stop(&self, grace: Duration) -> Result<(), SandboxError> {
        let deadline = Instant::now() + grace;
        let ask = self.ask().await?;
        let id = ask.id;
        self.done(ask, &ToAgent::SignalAll { id, signal: SIGTERM }).await?;
        while Instant::now() < deadline {
            let mut ask = self.ask().await?;
            let id = ask.id;
            self.say(&ToAgent::Count { id }).await?;
            match self.answer(&mut ask).await {
                Some(FromAgent::Counted { processes: 0, .. }) => return Ok(()),
                Some(FromAgent::Counted { .. }) => tokio::time::sleep(PAUSE).await,
                Some(_) => return Err(self.broken()),
                None => return Err(self.gone()),
            }
        }
        let ask = self.ask().await?;
        let id = ask.id;
        self.done(ask, &ToAgent::SignalAll { id, signal: SIGKILL }).await
    }

    async fn reset(&self) -> Result<Reset, SandboxError> {
        if create::changes_elsewhere(&self.spec) {
            return Ok(Reset::Unproven("it may have changed its image, or what is over a folder".to_owned()));
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
        self.say(&ToAgent::Reset { id, folders: self.layout.own_found() }).await?;
        match self.answer(&mut ask).await {
            Some(FromAgent::Reset { left, .. }) if left.is_empty() => Ok(Reset::Proven),
            Some(FromAgent::Reset { left, .. }) => Ok(Reset::Unproven(left.join("; "))),
            Some(_) => Err(self.broken()),
            None => Err(self.gone()),
        }
    }

    fn usage(&self, processes: u32) -> ExecUsage {
        let Account { cpu_us, memory_peak, .. } = self.jail.account();
        ExecUsage {
            wall_ms: self.born.elapsed().as_secs_f64() * 1000.0,
            cpu_ms: exec::milliseconds(cpu_us.unwrap_or(0)),
            memory_peak: memory_peak.unwrap_or(0),
            processes: u64::from(processes),
        }
    }
}

impl Sandbox for Handle {
    fn id(&self) -> SandboxId {
        self.0.inner.id
    }

    fn backend(&self) -> &str {
        ID
    }

    fn spec(&self) -> &SandboxSpec {
        &self.0.inner.spec
    }

    fn receipt(&self) -> &Receipt {
        &self.0.inner.receipt
    }

    fn warnings(&self) -> &[String] {
        &self.0.inner.warnings
    }

    fn spawn(&self, command: Command) -> Doing<'_, Result<Running, SandboxError>> {
        Box::pin(async { exec::spawn(self.0.inner.clone(), command) })
    }

    fn exec(&self, command: Command) -> Doing<'_, Result<ExecResult, SandboxError>> {
        Box::pin(async move {
            let finished = exec::run(&self.0.inner, command).await?;
            Ok(ExecResult::new(self, finished, self.0.inner.correlation()))
        })
    }

    fn write_file<'a>(
        &'a self,
        path: &'a SandboxPath,
        bytes: Bytes,
        executable: bool,
    ) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(files::write(&self.0.inner, path, bytes, executable))
    }

    fn put<'a>(&'a self, path: &'a SandboxPath, what: Put) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(files::put(&self.0.inner, path, what))
    }

    fn read_file<'a>(&'a self, path: &'a SandboxPath, most: u64) -> Doing<'a, Result<Bytes, SandboxError>> {
        Box::pin(files::read(&self.0.inner, path, most))
    }

    fn list<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<Vec<Entry>, SandboxError>> {
        Box::pin(files::list(&self.0.inner, path))
    }

    fn remove<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(files::remove(&self.0.inner, path))
    }

    fn expose(&self, port: u16) -> Doing<'_, Result<u16, SandboxError>> {
        Box::pin(exposed::expose(&self.0.inner, port))
    }

    fn written_over(&self, to: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        let inner = &self.0.inner;
        let over = inner.spec.overlays.iter().zip(&inner.uppers).find(|(overlay, _)| overlay.to == *to);
        let (_, upper) = over.ok_or_else(|| {
            let what = format!("changes at {to}: no overlay is there");
            SandboxError::Unsupported { backend: ID.to_owned(), what }
        })?;
        upper.try_clone().map_err(|error| inner.cannot("look at the changes of", &error))
    }

    fn snapshot(&self) -> Doing<'_, Result<Snapshot, SandboxError>> {
        Box::pin(snapshots::pack(&self.0.inner))
    }

    fn hibernate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.0.inner.sleep())
    }

    fn resume(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.0.inner.wake())
    }

    fn fork(&self) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async {
            let inner = &self.0.inner;
            let snapshot = snapshots::pack(inner).await?;
            let spec = SandboxSpec { snapshot: Some(snapshot.clone()), ..inner.spec.clone() };
            let made = create::create(&inner.backend, spec).await;
            let forgotten = snapshots::forget(&inner.backend, &snapshot);
            let made = made?;
            forgotten?;
            Ok(made.handle())
        })
    }

    fn usage(&self) -> Doing<'_, Result<ExecUsage, SandboxError>> {
        Box::pin(async {
            let inner = &self.0.inner;
            // One that sleeps is not woken to be counted.
            if inner.may_sleep.load(Ordering::Acquire) {
                return Ok(inner.usage(0));
            }
            let mut ask = inner.ask().await?;
            let id = ask.id;
            inner.say(&ToAgent::Count { id }).await?;
            match inner.answer(&mut ask).await {
                Some(FromAgent::Counted { processes, .. }) => Ok(inner.usage(processes)),
                Some(_) => Err(inner.broken()),
                None => Err(inner.gone()),
            }
        })
    }

    fn stop(&self, grace: Duration) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(self.0.inner.stop(grace))
    }

    fn terminate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async {
            self.0.end().await;
            Ok(())
        })
    }

    fn reset(&self) -> Doing<'_, Result<Reset, SandboxError>> {
        Box::pin(self.0.inner.reset())
    }

    fn is_alive(&self) -> bool {
        !self.0.inner.ended.load(Ordering::Acquire) && !self.0.inner.link.is_gone()
    }
}
