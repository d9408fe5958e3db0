//! The watch over one call: steps, wall-clock time and CPU time, looked at in the engine's interrupt handler.
//!
//! The engine polls at every loop turn and call and asks the handler once per block of polls. What the handler says
//! is latched: once a limit is reached nothing runs on. The abort cannot be caught, but an async function or a promise
//! executor turns it into a rejection and its caller goes on; so the stack bound is also taken away, and the caller
//! cannot call anything any more until its own next poll ends it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bailiwick_wire::{JobLimits, TroubleKind};

use crate::Outside;
use crate::raw::heap::Tally;
use crate::raw::jobs::StackBound;

/// Polls between two calls of the interrupt handler: `JS_INTERRUPT_COUNTER_INIT` in the engine's source, and the same
/// number in its regular expressions.
pub(crate) const BLOCK: u64 = 10_000;

/// What stays allocatable after a limit was reached, so that the abort itself can be made.
const HEADROOM: usize = 256 * 1024;

/// Blocks that describing a thrown value may take; what takes longer is not described.
const DESCRIBING: u64 = 200;

/// Why the call must not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    /// A limit of the job.
    Limit(TroubleKind),
    /// `emit` has all it may have.
    Full,
    /// A thrown value could not be described in time.
    Describing,
}

/// The bounds of the call that runs, and what it used of them.
pub(crate) struct Watch {
    heap: Rc<Tally>,
    outside: RefCell<Option<Rc<dyn Outside>>>,
    stack: Cell<Option<StackBound>>,
    wall: Cell<Duration>,
    cpu: Cell<Option<Duration>>,
    cpu_before: Cell<Duration>,
    blocks_allowed: Cell<u64>,
    blocks: Cell<u64>,
    describing: Cell<Option<u64>>,
    halt: Cell<Option<Halt>>,
}

impl Watch {
    pub(crate) fn new(heap: Rc<Tally>) -> Self {
        Self {
            heap,
            outside: RefCell::new(None),
            stack: Cell::new(None),
            wall: Cell::new(Duration::MAX),
            cpu: Cell::new(None),
            cpu_before: Cell::new(Duration::ZERO),
            blocks_allowed: Cell::new(u64::MAX),
            blocks: Cell::new(0),
            describing: Cell::new(None),
            halt: Cell::new(None),
        }
    }

    /// Says which stack bound to take away at the end.
    pub(crate) fn guard_stack(&self, stack: Option<StackBound>) {
        self.stack.set(stack);
    }

    /// Begins a call.
    pub(crate) fn begin(&self, limits: &JobLimits, outside: Rc<dyn Outside>) {
        self.wall.set(Duration::from_millis(limits.wall_ms));
        self.cpu.set(limits.cpu_ms.map(Duration::from_millis));
        self.blocks_allowed.set(limits.steps.map_or(u64::MAX, |steps| steps / BLOCK));
        self.cpu_before.set(outside.cpu());
        *self.outside.borrow_mut() = Some(outside);
    }

    /// CPU time of the call so far.
    pub(crate) fn cpu(&self) -> Duration {
        let now = self.outside.borrow().as_ref().map_or(Duration::ZERO, |outside| outside.cpu());
        now.saturating_sub(self.cpu_before.get())
    }

    /// Steps so far, in whole blocks.
    pub(crate) fn steps(&self) -> u64 {
        self.blocks.get().saturating_mul(BLOCK)
    }

    /// Why the call must not go on, if it must not.
    pub(crate) fn halted(&self) -> Option<Halt> {
        self.halt.get()
    }

    /// A block is over: whether the engine has to stop. The engine's interrupt handler.
    pub(crate) fn block_is_over(&self) -> bool {
        if let Some(left) = self.describing.get() {
            match left.checked_sub(1) {
                Some(left) => self.describing.set(Some(left)),
                None => self.stop(Halt::Describing),
            }
            return self.halt.get().is_some();
        }
        if self.outside.borrow().is_none() {
            return false;
        }
        self.blocks.set(self.blocks.get().saturating_add(1));
        if self.halt.get().is_none() && self.blocks.get() > self.blocks_allowed.get() {
            self.stop(Halt::Limit(TroubleKind::Steps));
        }
        self.look()
    }

    /// Looks at the clocks: whether the call has to stop.
    pub(crate) fn look(&self) -> bool {
        if self.halt.get().is_some() {
            return true;
        }
        let Some(outside) = self.outside.borrow().clone() else { return false };
        if outside.wall() >= self.wall.get() {
            self.stop(Halt::Limit(TroubleKind::Wall));
        } else if self.cpu.get().is_some_and(|limit| self.cpu() >= limit) {
            self.stop(Halt::Limit(TroubleKind::Cpu));
        }
        self.halt.get().is_some()
    }

    /// How long the call may still wait.
    pub(crate) fn patience(&self) -> Duration {
        let spent = self.outside.borrow().as_ref().map_or(Duration::ZERO, |outside| outside.wall());
        self.wall.get().saturating_sub(spent)
    }

    /// Ends the call at its next step.
    pub(crate) fn stop(&self, why: Halt) {
        self.halt.set(Some(why));
        self.heap.ease(HEADROOM);
        if let Some(stack) = self.stack.get() {
            stack.set(1);
        }
    }

    /// From here on only our own, bounded work on what the guest left: the guest's limits no longer count.
    pub(crate) fn describe(&self, stack: usize) {
        self.halt.set(None);
        self.describing.set(Some(DESCRIBING));
        self.heap.ease(4 * HEADROOM);
        if let Some(bound) = self.stack.get() {
            bound.set(stack);
        }
    }
}
