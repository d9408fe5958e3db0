//! The world as the engine sees it: one socket, clocks, randomness.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bailiwick_engine::{Outside, Phase};
use bailiwick_sys::clock;
use bailiwick_sys::ending::exit_now;
use bailiwick_types::{Effect, LogLevel};
use bailiwick_wire::{FromCell, Reply, ToCell};

use super::PARSING;
use super::talk::Talk;
use crate::ending;

/// What the engine may ask for.
pub(super) struct World {
    talk: Rc<Talk>,
    started: Instant,
    /// The time of day when the call began.
    began: Duration,
    /// How long the host made this cell stand still; no clock of the call counts it.
    stood: Cell<Duration>,
    /// Effects that the host has not answered.
    open: RefCell<BTreeSet<u32>>,
    replies: RefCell<VecDeque<(u32, Reply)>>,
}

impl World {
    /// The call begins now.
    pub(super) fn new(talk: Rc<Talk>) -> Self {
        Self {
            talk,
            started: Instant::now(),
            began: clock::realtime(),
            stood: Cell::default(),
            open: RefCell::default(),
            replies: RefCell::default(),
        }
    }

    /// Takes what the host has said.
    fn take(&self, message: ToCell) {
        match message {
            ToCell::Answer { id, reply } => {
                self.open.borrow_mut().remove(&id);
                self.replies.borrow_mut().push_back((id, *reply));
            }
            ToCell::Stood { micros } => {
                self.stood.set(self.stood.get().saturating_add(Duration::from_micros(micros)));
            }
            // A call is begun once, and a probe is none.
            ToCell::Start(_) | ToCell::Probe(_) => exit_now(ending::PROTOCOL),
        }
    }

    /// Only while the host has something to answer can it have made this cell stand still: then that is heard before
    /// a clock is read.
    fn catch_up(&self) {
        while self.is_open()
            && let Some(message) = self.talk.hear(Some(Duration::ZERO))
        {
            self.take(message);
        }
    }

    fn is_open(&self) -> bool {
        !self.open.borrow().is_empty()
    }

    fn say(&self, message: &FromCell) {
        self.talk.say(message, self.is_open());
    }

    fn running(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.stood.get())
    }
}

impl Outside for World {
    fn log(&self, level: LogLevel, text: &str) {
        self.say(&FromCell::Log { level, text: text.to_owned() });
    }

    fn ask(&self, id: u32, effect: Effect) {
        self.open.borrow_mut().insert(id);
        self.say(&FromCell::Ask { id, effect: Box::new(effect) });
    }

    fn cancel(&self, id: u32) {
        self.open.borrow_mut().remove(&id);
        self.say(&FromCell::Cancel { id });
    }

    fn answer(&self, how_long: Duration) -> Option<(u32, Reply)> {
        let until = self.running().saturating_add(how_long);
        loop {
            if let Some(reply) = self.replies.borrow_mut().pop_front() {
                return Some(reply);
            }
            let rest = until.saturating_sub(self.running());
            match self.talk.hear(Some(rest)) {
                Some(message) => self.take(message),
                None if self.running() >= until => return None,
                None => {}
            }
        }
    }

    fn wall(&self) -> Duration {
        self.catch_up();
        self.running()
    }

    fn now(&self) -> Duration {
        // From the one clock that cannot be set: the time of day never goes back within a call.
        self.began.saturating_add(self.wall())
    }

    fn cpu(&self) -> Duration {
        clock::cpu()
    }

    fn random(&self, bytes: &mut [u8]) {
        // Without randomness a clone would share its seeds with its siblings.
        if clock::random(bytes).is_err() {
            exit_now(ending::NO_WALL);
        }
    }

    fn phase(&self, phase: Phase) {
        PARSING.store(phase == Phase::Parsing, Ordering::Relaxed);
    }
}
