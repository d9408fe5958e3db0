//! An engine with everything built, waiting for its one job.
//!
//! One runtime holds four contexts: one that can compile and never runs a guest, one without the evaluation of text,
//! one with it for policies that grant it, one for the pure mode. All are built here, once, in the nursery; a clone
//! only chooses. What a clone makes itself is memory of its own, so a nursery for many calls makes everything; one that
//! is started for a single call makes only what that call needs.

use std::cell::OnceCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::time::Duration;

use bailiwick_types::{Effect, LogLevel};
use bailiwick_wire::{CellUsage, Check, Entry, Job, JobLimits, Language, Reply, Report, Tracing};
use rquickjs::context::intrinsic;
use rquickjs::{Context, Runtime};

use crate::globals::{Purity, usual};
use crate::raw::bytecode::Compiler;
use crate::raw::heap::{Heap, plug_holes};
use crate::raw::jobs::StackBound;
use crate::realm::{Deterministic, Makings, Realm, WithEval, WithoutEval};
use crate::scripts::Scripts;
use crate::world::World;
use crate::{Outside, Phase, run};

/// What a clone may allocate before the engine looks for cycles: a look touches every object there is, and what is
/// touched after a fork is copied.
const QUIET: usize = 8 * 1024 * 1024;

/// Why no engine could be built.
#[derive(Debug, thiserror::Error)]
#[error("the engine could not be built: {0}")]
pub struct WarmError(#[from] rquickjs::Error);

/// An engine that is ready to run one job. It is never taken down: a cell ends as a process, and so does a nursery.
pub struct Warm(ManuallyDrop<Engine>);

/// What a warm engine consists of.
pub(crate) struct Engine {
    pub(crate) runtime: Runtime,
    pub(crate) compiler: Context,
    scripts: Rc<Scripts>,
    breadth: Breadth,
    plain: OnceCell<Realm>,
    eval: OnceCell<Realm>,
    emit: OnceCell<Realm>,
    pub(crate) world: Rc<World>,
}

/// Which realm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Without the evaluation of text.
    Plain,
    /// With it.
    Eval,
    /// The pure mode.
    Emit,
}

/// How much of an engine is built ahead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Breadth {
    /// All of it: for many calls of any kind.
    #[default]
    All,
    /// What an ordinary call needs.
    Ordinary,
    /// What the pure mode needs.
    Pure,
}

impl Engine {
    /// A realm, built now if it was not built ahead.
    pub(crate) fn realm(&self, which: Which) -> rquickjs::Result<&Realm> {
        let (place, purity) = match which {
            Which::Plain => (&self.plain, Purity::Full),
            Which::Eval => (&self.eval, Purity::Full),
            Which::Emit => (&self.emit, Purity::Pure),
        };
        if let Some(realm) = place.get() {
            return Ok(realm);
        }
        let Self { runtime, compiler, scripts, world, breadth, .. } = self;
        // For a single call it is cheaper to load a part of the surface when it is touched, if it is.
        let makings =
            Makings { runtime, compiler, scripts, world, purity, is_whole: *breadth == Breadth::All };
        let realm = match which {
            Which::Plain => Realm::new::<WithoutEval>(&makings)?,
            Which::Eval => Realm::new::<WithEval>(&makings)?,
            Which::Emit => Realm::new::<Deterministic>(&makings)?,
        };
        Ok(place.get_or_init(|| realm))
    }

    fn rehearse(&self) {
        let outside: Rc<dyn Outside> = Rc::new(Rehearsal);
        let job = rehearsed();
        self.world.begin(&job, &outside);
        // What it gives is known, and of no use.
        let _nothing = run::perform(self, &job, outside.as_ref());
    }
}

impl Warm {
    /// Builds an engine.
    pub fn new(breadth: Breadth) -> Result<Self, WarmError> {
        let world = World::new();
        let runtime = Runtime::new_with_alloc(Heap(Rc::clone(&world.heap)))?;
        let watching = Rc::clone(&world);
        runtime.set_interrupt_handler(Some(Box::new(move || watching.watch.block_is_over())));
        let compiler =
            Context::custom::<(intrinsic::RegExpCompiler, intrinsic::RegExp, intrinsic::Eval)>(&runtime)?;
        compiler.with(|ctx| world.watch.guard_stack(StackBound::of(&ctx)));
        let scripts = Rc::new(Scripts::new(compiler.with(|ctx| Compiler::of(&ctx))));
        let engine = Engine {
            scripts,
            breadth,
            plain: OnceCell::new(),
            eval: OnceCell::new(),
            emit: OnceCell::new(),
            compiler,
            runtime,
            world,
        };
        let ahead: &[Which] = match breadth {
            Breadth::All => &[Which::Eval, Which::Emit, Which::Plain],
            Breadth::Ordinary => &[Which::Plain],
            Breadth::Pure => &[Which::Emit],
        };
        for which in ahead {
            engine.realm(*which)?;
        }
        if breadth == Breadth::All {
            // What is found out once for a process, such as what the processor can do, is found out here for all.
            engine.rehearse();
            engine.runtime.run_gc();
            plug_holes();
        }
        engine.runtime.set_gc_threshold(engine.world.heap.current().saturating_add(QUIET));
        Ok(Self(ManuallyDrop::new(engine)))
    }

    /// Goes once through a call that gives nothing, as far as it can without a job: what every call touches becomes
    /// this clone's own memory now, and not while somebody waits. No guest has been here, and none will notice.
    pub fn rehearse(&self) {
        self.0.rehearse();
    }

    /// Runs one job. The memory peak in its report is what the call took beyond what the warm engine holds.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a job is done once, by an engine that is used up with it"
    )]
    pub fn run(self, job: Job, outside: Rc<dyn Outside>) -> Report {
        let engine = &*self.0;
        let world = &engine.world;
        let before = world.heap.current();
        world.begin(&job, &outside);
        let given = run::perform(engine, &job, outside.as_ref());
        Report {
            given,
            usage: CellUsage {
                cpu_us: u64::try_from(world.watch.cpu().as_micros()).unwrap_or(u64::MAX),
                steps: world.watch.steps(),
                memory_peak: u64::try_from(world.heap.peak().saturating_sub(before)).unwrap_or(u64::MAX),
            },
            logs_dropped: world.console.dropped(),
            trace: world.trace(&job.tracing),
        }
    }
}

/// A world in which nothing happens.
struct Rehearsal;

impl Outside for Rehearsal {
    fn log(&self, _level: LogLevel, _text: &str) {}

    fn ask(&self, _id: u32, _effect: Effect) {}

    fn cancel(&self, _id: u32) {}

    fn answer(&self, _how_long: Duration) -> Option<(u32, Reply)> {
        None
    }

    fn wall(&self) -> Duration {
        Duration::ZERO
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&self, _bytes: &mut [u8]) {}

    fn phase(&self, _phase: Phase) {}
}

/// The call of a rehearsal: the least that goes the whole way.
fn rehearsed() -> Job {
    Job {
        entry: Entry::Body,
        language: Language::JavaScript,
        check: Check::Skip,
        source: "return 0".to_owned(),
        arguments: "{}".to_owned(),
        statics: "{}".to_owned(),
        parameters: Vec::new(),
        input: String::new(),
        globals: usual().map(str::to_owned).collect(),
        limits: JobLimits {
            wall_ms: 1000,
            cpu_ms: None,
            steps: None,
            memory: 16 * 1024 * 1024,
            stack: 256 * 1024,
            result: 1024,
            console_lines: 0,
            console_bytes: 0,
        },
        tracing: Tracing::Off,
    }
}
