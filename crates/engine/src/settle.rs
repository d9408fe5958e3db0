//! The loop that drives a call to its end: pending jobs, then timers, until the promise has settled or nothing can
//! settle it any more. And what to say when it ended otherwise.

use std::time::Duration;

use bailiwick_wire::{Event, Given, Job, Trouble, TroubleKind};
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Value};

use crate::Outside;
use crate::errors::{Frames, author_frames, thrown, trouble};
use crate::limits::Halt;
use crate::raw::jobs::{Ran, run_one};
use crate::realm::{Described, Kit};
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
        if !happen(engine, outside, ctx, kit)? {
            if standing.is_none() {
                return Ok(Value::new_undefined(ctx.clone()));
            }
            return Err(Ended::Told(trouble(
                TroubleKind::Deadlock,
                "the code waits for a promise that nothing can ever settle",
            )));
        }
    }
}

/// Waits for what comes next, an answer or a timer, and hands it to the code; false when nothing can come.
fn happen<'js>(
    engine: &Engine,
    outside: &dyn Outside,
    ctx: &Ctx<'js>,
    kit: &Kit<'js>,
) -> Result<bool, Ended<'js>> {
    let (world, watch) = (&engine.world, &engine.world.watch);
    let is_waiting = world.asks.is_waiting();
    let due = kit.next_timer(is_waiting).map_err(|error| Ended::of(ctx, &error))?;
    if due.is_none() && !is_waiting {
        return Ok(false);
    }
    let foreseen = world.asks.foreseen(due.is_some());
    let ahead = match (foreseen, due) {
        (Some(Event::Timer), _) => Duration::ZERO,
        (Some(Event::Answer(_)), _) | (None, None) => Duration::MAX,
        (None, Some(due)) => {
            Duration::try_from_secs_f64((due - world.now_ms()) / 1000.0).unwrap_or(Duration::ZERO)
        }
    };
    let only = match foreseen {
        Some(Event::Answer(id)) => Some(id),
        Some(Event::Timer) | None => None,
    };
    let answer = loop {
        if foreseen == Some(Event::Timer) {
            break None;
        }
        let answer = world.asks.answer(outside, ahead.min(watch.patience()), only);
        if watch.look() {
            return Err(Ended::nothing(ctx));
        }
        // What the trace says comes next is waited for.
        if answer.is_some() || only.is_none() {
            break answer;
        }
    };
    if let Some((id, reply)) = answer {
        kit.deliver(ctx, id, reply).map_err(|error| Ended::of(ctx, &error))?;
    } else if foreseen == Some(Event::Timer) || due.is_some_and(|due| world.now_ms() >= due) {
        world.asks.note(Event::Timer);
        kit.fire_timer().map_err(|error| Ended::of(ctx, &error))?;
    }
    Ok(true)
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
    let mut refusal = None;
    let (class, message, frames) = match ended {
        // Without memory a job is lost, and what waits for it waits for ever.
        Ended::Told(trouble) if halt.is_none() && !(refused && trouble.kind == TroubleKind::Deadlock) => {
            return Err(trouble);
        }
        Ended::Told(_) => (None, String::new(), Frames::default()),
        Ended::Threw(value) => match kit.describe(value) {
            Ok(Described { class, message, stack, refusal: of }) => {
                refusal = of;
                (class, message, author_frames(&stack, &job.source))
            }
            Err(_) => (None, "a value that cannot be shown was thrown".to_owned(), Frames::default()),
        },
    };
    let mut told = thrown(class.as_deref(), &message, frames, &job.source);
    told.refusal = refusal.filter(|_| told.kind == TroubleKind::Threw);
    if let Some(Halt::Limit(kind)) = halt {
        told.kind = kind;
        told.message = limit_message(kind, job);
        told.missing = None;
        told.refusal = None;
    } else if refused || told.kind == TroubleKind::Memory {
        told.kind = TroubleKind::Memory;
        told.message = format!("the memory limit of {} bytes was reached", job.limits.memory);
        told.missing = None;
        told.refusal = None;
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
