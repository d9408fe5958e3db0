//! A backend that holds nothing and runs nothing: it does what a test has written down, and writes down what was done.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_types::{
    CapabilityName, CorrelationId, Denial, DenialReason, ErrorCode, LayerName, Receipt, SandboxId,
    SnapshotId, Tier, WallStatus, Wallpart,
};
use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::{
    Available, Backend, Chunk, Command, Demand, Doing, Ended, Entry, ExecResult, ExecUsage, Exit, Input,
    Location, PROBE_DEADLINE, Probe, Put, Reset, Running, Sandbox, SandboxError, SandboxPath, SandboxSpec,
    Snapshot, Stream, receipt, run_to_end,
};

/// How a backend answers when it is asked what it can do.
#[derive(Debug, Clone)]
pub(super) enum Answers {
    With(Probe),
    Never,
    Panics,
}

/// How the next sandbox is made; as asked for where nothing is written down.
#[derive(Debug, Clone, Copy)]
pub(super) enum Making {
    Fails,
    Panics,
}

/// How the next reset goes; proven where nothing is written down.
#[derive(Debug, Clone, Copy)]
pub(super) enum Resetting {
    Unproven,
    Fails,
    Panics,
    Hangs,
}

/// What all sandboxes of a backend share.
#[derive(Debug)]
pub(super) struct World {
    pub(super) making: Mutex<VecDeque<Making>>,
    pub(super) resetting: Mutex<VecDeque<Resetting>>,
    /// One permit for each sandbox that may be made.
    pub(super) may_make: Semaphore,
    /// One permit for each reset that may come to its end.
    pub(super) may_reset: Semaphore,
    /// Looks at the backend that were begun.
    pub(super) looks: AtomicUsize,
    pub(super) asked: AtomicUsize,
    pub(super) made: AtomicUsize,
    pub(super) alive: AtomicUsize,
    pub(super) killed: AtomicUsize,
    ids: AtomicU64,
    lives: Mutex<Vec<Arc<AtomicBool>>>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            making: Mutex::default(),
            resetting: Mutex::default(),
            may_make: Semaphore::new(1 << 20),
            may_reset: Semaphore::new(1 << 20),
            looks: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
            alive: AtomicUsize::new(0),
            killed: AtomicUsize::new(0),
            ids: AtomicU64::new(1),
            lives: Mutex::default(),
        }
    }
}

impl World {
    pub(super) fn will_make(&self, making: impl IntoIterator<Item = Making>) {
        self.making.lock().unwrap().extend(making);
    }

    pub(super) fn will_reset(&self, resetting: impl IntoIterator<Item = Resetting>) {
        self.resetting.lock().unwrap().extend(resetting);
    }

    /// Every sandbox dies by itself.
    pub(super) fn perish(&self) {
        self.lives.lock().unwrap().iter().for_each(|life| self.end(life));
    }

    fn end(&self, life: &AtomicBool) {
        if life.swap(false, Ordering::SeqCst) {
            self.alive.fetch_sub(1, Ordering::SeqCst);
        }
    }

    pub(super) fn alive(&self) -> usize {
        self.alive.load(Ordering::SeqCst)
    }
}

#[derive(Debug)]
pub(super) struct Fake {
    pub(super) id: String,
    pub(super) tier: Tier,
    pub(super) location: Location,
    pub(super) priority: u32,
    pub(super) answers: Answers,
    pub(super) runs: bool,
    /// How long its look may take.
    pub(super) patience: Duration,
    /// Its tier is not known before it has looked, and might be this.
    pub(super) hoped: Option<Tier>,
    pub(super) has_looked: AtomicBool,
    pub(super) world: Arc<World>,
}

/// A report that says the same of every demand.
pub(super) fn report(status: WallStatus) -> Vec<Wallpart> {
    Demand::ALL.into_iter().map(|demand| wallpart(demand, status)).collect()
}

pub(super) fn wallpart(demand: Demand, status: WallStatus) -> Wallpart {
    Wallpart { demand: demand.name().to_owned(), mechanism: format!("a fake {}", demand.name()), status }
}

pub(super) fn available(enforces: Vec<Wallpart>) -> Answers {
    Answers::With(Probe { availability: Available::Yes, enforces, found: Vec::new() })
}

pub(super) fn absent(reason: &str) -> Answers {
    let availability = Available::No { reason: reason.to_owned(), fix: Some("mend it".to_owned()) };
    Answers::With(Probe { availability, enforces: Vec::new(), found: Vec::new() })
}

impl Fake {
    pub(super) fn new(id: &str, tier: Tier, priority: u32) -> Self {
        Self {
            id: id.to_owned(),
            tier,
            location: Location::Here,
            priority,
            answers: available(report(WallStatus::Enforced)),
            runs: true,
            patience: PROBE_DEADLINE,
            hoped: None,
            has_looked: AtomicBool::new(false),
            world: Arc::default(),
        }
    }

    pub(super) fn answering(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }
}

impl Backend for Fake {
    fn id(&self) -> &str {
        &self.id
    }

    fn tier(&self) -> Tier {
        let is_known = self.hoped.is_none() || self.has_looked.load(Ordering::SeqCst);
        if is_known { self.tier } else { Tier::Process }
    }

    fn may_be(&self) -> Tier {
        self.hoped.filter(|_| !self.has_looked.load(Ordering::SeqCst)).unwrap_or_else(|| self.tier())
    }

    fn location(&self) -> Location {
        self.location
    }

    fn priority(&self) -> u32 {
        self.priority
    }

    fn probe(&self) -> Doing<'_, Probe> {
        Box::pin(async {
            self.world.looks.fetch_add(1, Ordering::SeqCst);
            match &self.answers {
                Answers::With(probe) => {
                    self.has_looked.store(true, Ordering::SeqCst);
                    probe.clone()
                }
                Answers::Never => std::future::pending().await,
                Answers::Panics => panic!("a probe that panics"),
            }
        })
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn can_run(&self, _: &SandboxSpec) -> Result<(), SandboxError> {
        if self.runs {
            return Ok(());
        }
        Err(SandboxError::Unsupported { backend: self.id.clone(), what: "that".to_owned() })
    }

    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async move {
            self.world.asked.fetch_add(1, Ordering::SeqCst);
            self.world.may_make.acquire().await.unwrap().forget();
            let making = self.world.making.lock().unwrap().pop_front();
            match making {
                None => {
                    self.world.made.fetch_add(1, Ordering::SeqCst);
                    Ok(FakeSandbox::boxed(self.world.clone(), &self.id, self.tier, spec))
                }
                Some(Making::Fails) => Err(SandboxError::Busy("there is no room".to_owned())),
                Some(Making::Panics) => panic!("a backend that panics"),
            }
        })
    }

    fn forget<'a>(&'a self, snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move { Err(SandboxError::NoSnapshot(snapshot.id.to_string())) })
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(async {})
    }
}

#[derive(Debug)]
pub(super) struct FakeSandbox {
    id: SandboxId,
    backend: String,
    spec: SandboxSpec,
    receipt: Receipt,
    world: Arc<World>,
    files: Mutex<BTreeMap<SandboxPath, Bytes>>,
    life: Arc<AtomicBool>,
}

impl FakeSandbox {
    fn boxed(world: Arc<World>, backend: &str, tier: Tier, spec: SandboxSpec) -> Box<dyn Sandbox> {
        let number = world.ids.fetch_add(1, Ordering::SeqCst);
        world.alive.fetch_add(1, Ordering::SeqCst);
        let life = Arc::new(AtomicBool::new(true));
        world.lives.lock().unwrap().push(life.clone());
        Box::new(Self {
            id: SandboxId::from_parts(number, &[0; 10]),
            backend: backend.to_owned(),
            receipt: receipt(tier, &spec, &report(WallStatus::Enforced)),
            spec,
            world,
            files: Mutex::default(),
            life,
        })
    }

    fn die(&self) {
        self.world.end(&self.life);
    }
}

impl Drop for FakeSandbox {
    fn drop(&mut self) {
        self.die();
    }
}

/// What every command of the fake used.
pub(super) const USAGE: ExecUsage =
    ExecUsage { wall_ms: 20.5, cpu_ms: 11.25, memory_peak: 9_000_000, processes: 2 };

pub(super) fn denial(asked: &str) -> Denial {
    Denial {
        code: ErrorCode::NetDenied,
        capability: CapabilityName::from_registry("net.fetch"),
        asked: asked.to_owned(),
        rule: "hosts".to_owned(),
        layer: LayerName::Tool,
        reason: DenialReason::HostNotAllowed,
        fix: None,
    }
}

pub(super) fn ended(exit: Exit) -> Ended {
    Ended { exit, timed_out: false, oom: false, usage: USAGE, denials: Vec::new() }
}

/// A command of the fake: what it does is its first word.
async fn play(
    argv: Vec<String>,
    world: Arc<World>,
    mut input: mpsc::Receiver<Input>,
    mut urgent: mpsc::Receiver<Input>,
    output: mpsc::Sender<Chunk>,
) -> Result<Ended, SandboxError> {
    let say = async |stream, bytes: Bytes| output.send(Chunk { stream, bytes }).await.unwrap_or_default();
    let nth = |n: usize| argv.get(n).cloned().unwrap_or_default();
    match nth(0).as_str() {
        "echo" => say(Stream::Stdout, nth(1).into()).await,
        "complain" => say(Stream::Stderr, nth(1).into()).await,
        "cat" => {
            while let Some(Input::Bytes(bytes)) = input.recv().await {
                say(Stream::Stdout, bytes).await;
            }
        }
        "flood" => {
            for _ in 0..nth(1).parse::<usize>().unwrap() {
                say(Stream::Stdout, Bytes::from_static(&[b'x'; 1000])).await;
                say(Stream::Stderr, Bytes::from_static(&[b'y'; 10])).await;
            }
        }
        // Reads nothing and says nothing until it is ended.
        "hang" => {
            assert_eq!(urgent.recv().await, Some(Input::Kill));
            world.killed.fetch_add(1, Ordering::SeqCst);
            return Ok(ended(Exit::Signal(9)));
        }
        "deny" => return Ok(Ended { denials: vec![denial(&nth(1))], ..ended(Exit::Code(1)) }),
        "late" => return Ok(Ended { timed_out: true, ..ended(Exit::Signal(9)) }),
        "oom" => return Ok(Ended { oom: true, ..ended(Exit::Signal(9)) }),
        "break" => return Err(SandboxError::Failed { step: "run".to_owned(), reason: nth(1) }),
        _ => return Ok(ended(Exit::NotFound)),
    }
    Ok(ended(Exit::Code(0)))
}

impl Sandbox for FakeSandbox {
    fn id(&self) -> SandboxId {
        self.id
    }

    fn backend(&self) -> &str {
        &self.backend
    }

    fn spec(&self) -> &SandboxSpec {
        &self.spec
    }

    fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    fn warnings(&self) -> &[String] {
        &[]
    }

    fn spawn(&self, command: Command) -> Doing<'_, Result<Running, SandboxError>> {
        Box::pin(async move {
            if command.argv().first().is_some_and(|word| word == "unspawnable") {
                return Err(SandboxError::Busy("there is no room".to_owned()));
            }
            let (input, input_rx) = mpsc::channel(1);
            let (urgent, urgent_rx) = mpsc::channel(1);
            let (output_tx, output) = mpsc::channel(4);
            let (ended_tx, ended) = oneshot::channel();
            let (argv, world) = (command.argv().to_vec(), self.world.clone());
            tokio::spawn(async move {
                let silent = argv.first().is_some_and(|word| word == "vanish");
                let end = play(argv, world, input_rx, urgent_rx, output_tx).await;
                if !silent {
                    drop(ended_tx.send(end));
                }
            });
            Ok(Running { input, urgent, output, ended })
        })
    }

    fn exec(&self, command: Command) -> Doing<'_, Result<ExecResult, SandboxError>> {
        Box::pin(async move {
            let running = self.spawn(command.clone()).await?;
            let finished = run_to_end(running, &command, self.spec.limits.output.value).await?;
            Ok(ExecResult::new(self, finished, CorrelationId::parse("a-test").unwrap()))
        })
    }

    fn write_file<'a>(
        &'a self,
        path: &'a SandboxPath,
        bytes: Bytes,
        _: bool,
    ) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move {
            if bytes.len() as u64 > self.spec.limits.disk.value {
                let why = "there is no room left".to_owned();
                return Err(SandboxError::File { path: path.to_string(), why, code: ErrorCode::DiskLimit });
            }
            self.files.lock().unwrap().insert(path.clone(), bytes);
            Ok(())
        })
    }

    fn put<'a>(&'a self, path: &'a SandboxPath, what: Put) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move {
            let Put::File { bytes, .. } = what else { return Ok(()) };
            self.files.lock().unwrap().insert(path.clone(), bytes);
            Ok(())
        })
    }

    fn read_file<'a>(&'a self, path: &'a SandboxPath, _: u64) -> Doing<'a, Result<Bytes, SandboxError>> {
        Box::pin(async move {
            let gone = || SandboxError::File {
                path: path.to_string(),
                why: "there is none".to_owned(),
                code: ErrorCode::NotFound,
            };
            self.files.lock().unwrap().get(path).cloned().ok_or_else(gone)
        })
    }

    fn list<'a>(&'a self, _: &'a SandboxPath) -> Doing<'a, Result<Vec<Entry>, SandboxError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn remove<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move {
            self.files.lock().unwrap().remove(path);
            Ok(())
        })
    }

    fn expose(&self, port: u16) -> Doing<'_, Result<u16, SandboxError>> {
        Box::pin(async move { Ok(port) })
    }

    fn written_over(&self, to: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        let what = format!("an overlay at {to}");
        Err(SandboxError::Unsupported { backend: self.backend.clone(), what })
    }

    fn snapshot(&self) -> Doing<'_, Result<Snapshot, SandboxError>> {
        Box::pin(async {
            Ok(Snapshot { id: SnapshotId::from_parts(1, &[1; 10]), backend: self.backend.clone(), bytes: 0 })
        })
    }

    fn hibernate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async { Ok(()) })
    }

    fn resume(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async { Ok(()) })
    }

    fn fork(&self) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async {
            Ok(Self::boxed(self.world.clone(), &self.backend, self.receipt.tier, self.spec.clone()))
        })
    }

    fn usage(&self) -> Doing<'_, Result<ExecUsage, SandboxError>> {
        Box::pin(async { Ok(USAGE) })
    }

    fn stop(&self, _: Duration) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async { Ok(()) })
    }

    fn terminate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(async {
            self.die();
            Ok(())
        })
    }

    fn reset(&self) -> Doing<'_, Result<Reset, SandboxError>> {
        Box::pin(async {
            self.world.may_reset.acquire().await.unwrap().forget();
            let resetting = self.world.resetting.lock().unwrap().pop_front();
            match resetting {
                None => {
                    self.files.lock().unwrap().clear();
                    Ok(Reset::Proven)
                }
                Some(Resetting::Unproven) => Ok(Reset::Unproven("a mount is busy".to_owned())),
                Some(Resetting::Fails) => {
                    Err(SandboxError::Failed { step: "reset".to_owned(), reason: "it is stuck".to_owned() })
                }
                Some(Resetting::Panics) => panic!("a reset that panics"),
                Some(Resetting::Hangs) => std::future::pending().await,
            }
        })
    }

    fn is_alive(&self) -> bool {
        self.life.load(Ordering::SeqCst)
    }
}
