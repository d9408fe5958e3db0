//! An engine with everything built, waiting for its one job.
//!
//! One runtime holds four contexts: one that can compile and never runs a guest, one without the evaluation of text,
//! one with it for policies that grant it, one for the pure mode. All are built here, once, in the nursery; a clone
//! only chooses. Nothing here may be made lazily: what a clone makes itself is memory of its own.

use std::mem::ManuallyDrop;
use std::rc::Rc;

use bailiwick_wire::{CellUsage, Job, Report};
use rquickjs::context::intrinsic;
use rquickjs::{Context, Runtime};

use crate::globals::Purity;
use crate::raw::heap::{Heap, plug_holes};
use crate::raw::jobs::StackBound;
use crate::realm::{Deterministic, Realm, Scripts, WithEval, WithoutEval};
use crate::world::World;
use crate::{Outside, run};

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
    pub(crate) plain: Realm,
    pub(crate) eval: Realm,
    pub(crate) emit: Realm,
    pub(crate) world: Rc<World>,
}

impl Warm {
    /// Builds an engine with every binding there is.
    pub fn new() -> Result<Self, WarmError> {
        let world = World::new();
        let runtime = Runtime::new_with_alloc(Heap(Rc::clone(&world.heap)))?;
        let watching = Rc::clone(&world);
        runtime.set_interrupt_handler(Some(Box::new(move || watching.watch.block_is_over())));
        let compiler =
            Context::custom::<(intrinsic::RegExpCompiler, intrinsic::RegExp, intrinsic::Eval)>(&runtime)?;
        let scripts = compiler.with(|ctx| {
            world.watch.guard_stack(StackBound::of(&ctx));
            Scripts::compile(&ctx)
        })?;
        let engine = Engine {
            plain: Realm::new::<WithoutEval>(&runtime, &scripts, &world, Purity::Full)?,
            eval: Realm::new::<WithEval>(&runtime, &scripts, &world, Purity::Full)?,
            emit: Realm::new::<Deterministic>(&runtime, &scripts, &world, Purity::Pure)?,
            compiler,
            runtime,
            world,
        };
        engine.runtime.run_gc();
        engine.runtime.set_gc_threshold(engine.world.heap.current().saturating_add(QUIET));
        plug_holes();
        Ok(Self(ManuallyDrop::new(engine)))
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
        }
    }
}
