//! The effects a call has asked for: which are under way, which answers came out of turn, and in which order things
//! happened, for a trace or from one.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use bailiwick_types::Effect;
use bailiwick_wire::{Event, Reply, Trace, Tracing};

use crate::Outside;
use crate::limits::Watch;

/// The most events that a trace keeps. A call that has more is longer than any trace is for.
const MOST_EVENTS: usize = 100_000;

/// The effects of one call.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    last: Cell<u32>,
    /// Asked for, and not answered, by code that goes on meanwhile.
    waiting: RefCell<BTreeSet<u32>>,
    /// Answers that came while another was waited for.
    early: RefCell<VecDeque<(u32, Reply)>>,
    record: RefCell<Option<Vec<Event>>>,
    replay: RefCell<VecDeque<Event>>,
}

impl Asks {
    /// Begins a call.
    pub(crate) fn begin(&self, tracing: &Tracing) {
        match tracing {
            Tracing::Off => {}
            Tracing::Record => *self.record.borrow_mut() = Some(Vec::new()),
            Tracing::Replay(trace) => {
                let Trace { seed: _, clock: _, events } = trace.as_ref();
                self.replay.borrow_mut().extend(events.iter().copied());
            }
        }
    }

    /// What happened, for the trace.
    pub(crate) fn recorded(&self) -> Vec<Event> {
        self.record.take().unwrap_or_default()
    }

    fn next_id(&self) -> u32 {
        let id = self.last.get().saturating_add(1);
        self.last.set(id);
        id
    }

    /// Asks for an effect; the code goes on.
    pub(crate) fn start(&self, outside: &dyn Outside, effect: Effect) -> u32 {
        let id = self.next_id();
        self.waiting.borrow_mut().insert(id);
        outside.ask(id, effect);
        id
    }

    /// Asks for an effect and waits for the answer; nothing when the call's time is over.
    pub(crate) fn wait(&self, outside: &dyn Outside, watch: &Watch, effect: Effect) -> Option<(u32, Reply)> {
        let id = self.next_id();
        outside.ask(id, effect);
        loop {
            if watch.look() {
                return None;
            }
            match outside.answer(watch.patience()) {
                Some((answered, reply)) if answered == id => return Some((id, reply)),
                Some(early) => self.early.borrow_mut().push_back(early),
                None => {}
            }
        }
    }

    /// The answer is not wanted any more.
    pub(crate) fn cancel(&self, outside: &dyn Outside, id: u32) {
        if self.waiting.borrow_mut().remove(&id) {
            outside.cancel(id);
        }
    }

    /// Whether an answer is still to come.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// What the trace says comes next, if it can come.
    pub(crate) fn foreseen(&self, has_timer: bool) -> Option<Event> {
        let mut replay = self.replay.borrow_mut();
        let next = *replay.front()?;
        let can_come = match next {
            Event::Answer(id) => self.waiting.borrow().contains(&id),
            Event::Timer => has_timer,
        };
        if can_come {
            replay.pop_front();
            return Some(next);
        }
        // The code goes another way than it went: the rest of the trace tells nothing about it.
        replay.clear();
        None
    }

    /// Waits for an answer that somebody waits for: any, or this one.
    pub(crate) fn answer(
        &self,
        outside: &dyn Outside,
        how_long: Duration,
        only: Option<u32>,
    ) -> Option<(u32, Reply)> {
        let fits = |id: u32| only.is_none_or(|only| only == id);
        let at_hand = {
            let mut early = self.early.borrow_mut();
            let place = early.iter().position(|(id, _)| fits(*id));
            place.and_then(|place| early.remove(place))
        };
        let (id, reply) = match at_hand {
            Some(answer) => answer,
            None => outside.answer(how_long)?,
        };
        if !fits(id) {
            self.early.borrow_mut().push_back((id, reply));
            return None;
        }
        // An answer to what was cancelled meanwhile is nobody's.
        if !self.waiting.borrow_mut().remove(&id) {
            return None;
        }
        self.note(Event::Answer(id));
        Some((id, reply))
    }

    /// Keeps what happened.
    pub(crate) fn note(&self, event: Event) {
        if let Some(events) = self.record.borrow_mut().as_mut()
            && events.len() < MOST_EVENTS
        {
            events.push(event);
        }
    }
}
