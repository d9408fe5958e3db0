//! Every test makes a warm engine and runs one job in it, with a world that has a clock of its own.

mod bombs;
mod cloning;
mod console;
mod entries;
mod failures;
mod gateway;
mod globals;
mod parsers;
mod results;
mod timers;
mod web;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bailiwick_types::{Effect, LogLevel};
use bailiwick_wire::{
    Check, Entry, Given, Job, JobLimits, Language, Reply, Report, Tracing, Trouble, TroubleKind,
};

use crate::{Breadth, OFFERED, Outside, Phase, Warm};

/// When every test's call begins, by the guest's clock: 2026-11-16T12:00:00.123Z and a bit.
pub(super) const NOON: Duration = Duration::new(1_794_830_400, 123_900_000);

/// A world whose clock runs, and jumps ahead instead of waiting.
#[derive(Default)]
pub(super) struct Fake {
    began: Option<Instant>,
    waited: Cell<Duration>,
    seed: u8,
    lines: RefCell<Vec<(LogLevel, String)>>,
    /// What is answered to an effect, at once; what has no answer never gets one.
    answers: Option<Answers>,
    asked: RefCell<Vec<(u32, Effect)>>,
    cancelled: RefCell<Vec<u32>>,
    replies: RefCell<VecDeque<(u32, Reply)>>,
    /// Whether the last to be asked is the first to be answered.
    is_backwards: bool,
}

/// What a world says to an effect.
pub(super) type Answers = Box<dyn Fn(u32, &Effect) -> Option<Reply>>;

impl Fake {
    fn new(seed: u8) -> Rc<Self> {
        Rc::new(Self { began: Some(Instant::now()), seed, ..Self::default() })
    }

    /// A world that answers.
    fn answering(answers: impl Fn(u32, &Effect) -> Option<Reply> + 'static) -> Rc<Self> {
        Rc::new(Self {
            began: Some(Instant::now()),
            seed: 7,
            answers: Some(Box::new(answers)),
            ..Self::default()
        })
    }

    fn spent(&self) -> Duration {
        self.began.map_or(Duration::ZERO, |began| began.elapsed())
    }
}

impl Outside for Fake {
    fn log(&self, level: LogLevel, text: &str) {
        self.lines.borrow_mut().push((level, text.to_owned()));
    }

    fn ask(&self, id: u32, effect: Effect) {
        self.asked.borrow_mut().push((id, effect.clone()));
        let reply = self.answers.as_ref().and_then(|answers| answers(id, &effect));
        self.replies.borrow_mut().extend(reply.map(|reply| (id, reply)));
    }

    fn cancel(&self, id: u32) {
        self.cancelled.borrow_mut().push(id);
    }

    fn answer(&self, how_long: Duration) -> Option<(u32, Reply)> {
        let mut replies = self.replies.borrow_mut();
        let reply = if self.is_backwards { replies.pop_back() } else { replies.pop_front() };
        if reply.is_none() {
            self.waited.set(self.waited.get().saturating_add(how_long));
        }
        reply
    }

    fn wall(&self) -> Duration {
        self.spent() + self.waited.get()
    }

    fn now(&self) -> Duration {
        NOON + self.waited.get()
    }

    fn cpu(&self) -> Duration {
        self.spent()
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(self.seed);
    }

    fn phase(&self, _: Phase) {}
}

/// A job with generous limits and every global but the evaluation of text.
pub(super) fn job(entry: Entry, source: &str) -> Job {
    Job {
        entry,
        language: Language::JavaScript,
        check: Check::Skip,
        source: source.to_owned(),
        arguments: "{}".to_owned(),
        statics: "{}".to_owned(),
        parameters: Vec::new(),
        input: String::new(),
        globals: OFFERED
            .iter()
            .filter(|name| !matches!(**name, "eval" | "Function"))
            .map(|name| (*name).to_owned())
            .collect(),
        limits: JobLimits {
            wall_ms: 20_000,
            cpu_ms: Some(20_000),
            steps: Some(50_000_000),
            memory: 32 << 20,
            stack: 1 << 20,
            result: 64 << 10,
            console_lines: 100,
            console_bytes: 16 << 10,
        },
        tracing: Tracing::Off,
    }
}

pub(super) fn run(job: Job) -> Report {
    run_in(job, &Fake::new(7))
}

pub(super) fn run_in(job: Job, world: &Rc<Fake>) -> Report {
    let world: Rc<dyn Outside> = Rc::clone(world) as Rc<dyn Outside>;
    Warm::new(Breadth::All).unwrap().run(job, world)
}

/// The result of a body.
#[track_caller]
pub(super) fn gives(source: &str, expected: &str) {
    gives_for(job(Entry::Body, source), expected);
}

#[track_caller]
pub(super) fn gives_for(job: Job, expected: &str) {
    let source = job.source.clone();
    assert_eq!(run(job).given, Given::Value(expected.to_owned()), "{source}");
}

/// The trouble of a body.
#[track_caller]
pub(super) fn trouble(source: &str) -> Trouble {
    trouble_of(job(Entry::Body, source))
}

#[track_caller]
pub(super) fn trouble_of(job: Job) -> Trouble {
    let source = job.source.clone();
    match run(job).given {
        Given::Trouble(trouble) => *trouble,
        other => panic!("{source} gave {other:?}"),
    }
}

#[track_caller]
pub(super) fn fails(source: &str, kind: TroubleKind) {
    assert_eq!(trouble(source).kind, kind, "{source}");
}

/// The console lines of a body.
#[track_caller]
pub(super) fn lines(source: &str) -> Vec<(LogLevel, String)> {
    let world = Fake::new(7);
    let report = run_in(job(Entry::Body, source), &world);
    assert!(matches!(report.given, Given::Value(_)), "{source}: {report:?}");
    world.lines.take()
}
