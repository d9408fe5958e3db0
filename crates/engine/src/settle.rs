//! The loop that drives a call to its end: pending jobs, then timers, until the promise has settled or nothing can
//! settle it any more. And what to say when it ended otherwise.

use std::time::Duration;

use bailiwick_wire::{Given, Job, Trouble, TroubleKind};
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Value};

use crate::Outside;
use crate::errors::{Frames, author_frames, thrown, trouble};
use crate::limits::Halt;
use crate::raw::jobs::{Ran, run_one};
use crate::realm::Kit;
use crate::warm::Engine;

/// Jobs between two looks at the clocks, beside the looks that the engine takes while it runs them.
const JOBS_PER_LOOK: u32 = 64;

/// How a call ended that gave nothing.
pub(crate) enum Ended<'js> {
    /// This was thrown.
    Threw(Value<'js>),
    /// It is told already.
    Told(Box<Trouble>),
}

impl<'js> Ended<'js> {
    /// What a failed call into the engine leaves.
    pub(crate) fn of(ctx: &Ctx<'js>, error: &rquickjs::Error) -> Self {
        if error.is_exception() {
            return Self::Threw(ctx.catch());
        }
        Self::Told(trouble(TroubleKind::Fault, error.to_string()))
    }

    fn nothing(ctx: &Ctx<'js>) -> Self {
        Self::Threw(Value::new_null(ctx.clone()))
    }
}

/// Drives the call until this promise has settled and no job is left; without a promise, until no job is left.
pub(crate) fn settle<'js>(
    engine: &Engine,
    outside: &dyn Outside,
    ctx: &Ctx<'js>,
    kit: &Kit<'js>,
    promise: Option<&Value<'js>>,
) -> Result<Value<'js>, Ended<'js>> {
    let watch = &engine.world.watch;
    loop {
        if let Err(ended) = drain(engine, ctx) {
            return Err(rejection(ctx, promise).filter(|_| watch.halted().is_some()).unwrap_or(ended));
        }
        let standing = match promise {
            None => None,
            Some(value) => match value.as_promise() {
                None => return Ok(value.clone()),
                Some(promise) => Some(promise),
            },
        };
        if let Some(promise) = standing
            && promise.state() != PromiseState::Pending
        {
            return match promise.result::<Value<'js>>() {
                Some(Ok(value)) => Ok(value),
                Some(Err(error)) => Err(Ended::of(ctx, &error)),
                None => Err(Ended::nothing(ctx)),
            };
        }
        let due = kit.next_timer().map_err(|error| Ended::of(ctx, &error))?;
        let Some(due) = due else {
            if standing.is_none() {
                return Ok(Value::new_undefined(ctx.clone()));
            }
            return Err(Ended::Told(trouble(
                TroubleKind::Deadlock,
                "the code waits for a promise that nothing can ever settle",
            )));
        };
        let ahead =
            Duration::try_from_secs_f64((due - engine.world.now_ms()) / 1000.0).unwrap_or(Duration::ZERO);
        if !ahead.is_zero() {
            outside.wait(ahead.min(watch.patience()));
        }
        if watch.look() {
            return Err(Ended::nothing(ctx));
        }
        if engine.world.now_ms() >= due {
            kit.fire_timer().map_err(|error| Ended::of(ctx, &error))?;
        }
    }
}

/// What the promise was rejected with, if it was: the abort itself, which knows where the code was.
fn rejection<'js>(ctx: &Ctx<'js>, promise: Option<&Value<'js>>) -> Option<Ended<'js>> {
    let promise = promise?.as_promise().filter(|promise| promise.state() == PromiseState::Rejected)?;
    promise.result::<Value<'js>>()?.err().map(|error| Ended::of(ctx, &error))
}

/// Runs jobs until there are none. A limit that was reached inside a job ends the call, whatever the job made of it.
fn drain<'js>(engine: &Engine, ctx: &Ctx<'js>) -> Result<(), Ended<'js>> {
    let watch = &engine.world.watch;
    let mut until_look = JOBS_PER_LOOK;
    loop {
        if watch.halted().is_some() {
            return Err(Ended::nothing(ctx));
        }
        match run_one(ctx) {
            Ran::Nothing => return Ok(()),
            Ran::Fine => {}
            Ran::Threw(value) => return Err(Ended::Threw(value)),
        }
        until_look = until_look.saturating_sub(1);
        if until_look == 0 {
            until_look = JOBS_PER_LOOK;
            watch.look();
        }
    }
}

/// Says why the call ended without a value. Limits come first, then memory, then what was thrown.
pub(crate) fn explain<'js>(
    engine: &Engine,
    job: &Job,
    kit: &Kit<'js>,
    ended: Ended<'js>,
) -> Result<Given, Box<Trouble>> {
    let watch = &engine.world.watch;
    let halt = watch.halted();
    let refused = engine.world.heap.refused();
    watch.describe(usize::try_from(job.limits.stack).unwrap_or(usize::MAX).max(64 * 1024));
    let (class, message, frames) = match ended {
        Ended::Told(trouble) if halt.is_none() => return Err(trouble),
        Ended::Told(_) => (None, String::new(), Frames::default()),
        Ended::Threw(value) => match kit.describe(value) {
            Ok((class, message, stack)) => (class, message, author_frames(&stack, &job.source)),
            Err(_) => (None, "a value that cannot be shown was thrown".to_owned(), Frames::default()),
        },
    };
    let mut told = thrown(class.as_deref(), &message, frames);
    if let Some(Halt::Limit(kind)) = halt {
        told.kind = kind;
        told.message = limit_message(kind, job);
        told.missing = None;
    } else if refused || told.kind == TroubleKind::Memory {
        told.kind = TroubleKind::Memory;
        told.message = format!("the memory limit of {} bytes was reached", job.limits.memory);
        told.missing = None;
    } else if told.kind == TroubleKind::Stack {
        told.message = format!("the stack limit of {} bytes was reached: {}", job.limits.stack, told.message);
    }
    Err(told)
}

fn limit_message(kind: TroubleKind, job: &Job) -> String {
    match kind {
        TroubleKind::Wall => format!("the wall-clock limit of {} ms was reached", job.limits.wall_ms),
        TroubleKind::Cpu => {
            format!("the CPU limit of {} ms was reached", job.limits.cpu_ms.unwrap_or_default())
        }
        TroubleKind::Steps => {
            format!("the limit of {} steps was reached", job.limits.steps.unwrap_or_default())
        }
        _ => "a limit was reached".to_owned(),
    }
}
