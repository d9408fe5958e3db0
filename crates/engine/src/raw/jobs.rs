//! The engine's job queue and its stack bound, reached while a context is in use.
#![expect(
    unsafe_code,
    reason = "the wrapped calls swallow what a job throws, or lock what is locked already"
)]

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use rquickjs::{Ctx, Value, qjs};

/// What came of asking for one job.
pub(crate) enum Ran<'js> {
    /// There was none.
    Nothing,
    /// It went well.
    Fine,
    /// It threw this.
    Threw(Value<'js>),
}

/// Runs the oldest pending job.
pub(crate) fn run_one<'js>(ctx: &Ctx<'js>) -> Ran<'js> {
    let mut place = MaybeUninit::<*mut qjs::JSContext>::uninit();
    // SAFETY: the runtime is alive and locked by `ctx`. When the call fails it has written the context of the job,
    // and the exception is pending on the runtime, which all its contexts share.
    let ran =
        unsafe { qjs::JS_ExecutePendingJob(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), place.as_mut_ptr()) };
    match ran {
        0 => Ran::Nothing,
        1.. => Ran::Fine,
        _ => Ran::Threw(ctx.catch()),
    }
}

/// A runtime whose stack bound can be changed while it runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StackBound(NonNull<qjs::JSRuntime>);

impl StackBound {
    /// The bound of the runtime that this context belongs to. It must not be used after that runtime is gone.
    pub(crate) fn of(ctx: &Ctx<'_>) -> Option<Self> {
        // SAFETY: the context is alive.
        NonNull::new(unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) }).map(Self)
    }

    /// Sets the bound, counted from where the runtime was entered.
    pub(crate) fn set(self, bytes: usize) {
        // SAFETY: the interrupt handler and the loop that hold a `StackBound` live inside the runtime's own lifetime.
        unsafe { qjs::JS_SetMaxStackSize(self.0.as_ptr(), bytes as _) }
    }
}
