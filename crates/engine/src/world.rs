//! What the bindings of a warm engine share with the call that will run: filled when a job arrives, empty before.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bailiwick_types::LogLevel;
use bailiwick_wire::Job;
use sha2::{Digest, Sha256};

use crate::Outside;
use crate::limits::{Halt, Watch};
use crate::raw::heap::Tally;
use crate::text::head_of;

/// The state behind the bindings.
pub(crate) struct World {
    pub(crate) heap: Rc<Tally>,
    pub(crate) watch: Watch,
    pub(crate) console: Console,
    pub(crate) written: Written,
    pub(crate) random: Random,
    pub(crate) secret: Secret,
    pub(crate) input: RefCell<String>,
    pub(crate) source: RefCell<String>,
    outside: RefCell<Option<Rc<dyn Outside>>>,
}

impl World {
    pub(crate) fn new() -> Rc<Self> {
        let heap = Tally::new();
        Rc::new(Self {
            watch: Watch::new(Rc::clone(&heap)),
            heap,
            console: Console::default(),
            written: Written::default(),
            random: Random::default(),
            secret: Secret::default(),
            input: RefCell::default(),
            source: RefCell::default(),
            outside: RefCell::new(None),
        })
    }

    /// Begins a call. The guest gets the whole of its memory limit beside what the warm engine holds.
    pub(crate) fn begin(&self, job: &Job, outside: &Rc<dyn Outside>) {
        self.heap.bound(usize::try_from(job.limits.memory).unwrap_or(usize::MAX));
        self.console.lines.set(job.limits.console_lines);
        self.console.bytes.set(job.limits.console_bytes);
        self.written.limit.set(usize::try_from(job.limits.result).unwrap_or(usize::MAX));
        let mut seed = [0; 32];
        outside.random(&mut seed);
        self.random.seed(&derived(b"Math.random", &seed));
        self.secret.seed(derived(b"crypto", &seed));
        *self.outside.borrow_mut() = Some(Rc::clone(outside));
        self.watch.begin(&job.limits, Rc::clone(outside));
    }

    /// Milliseconds since the call began.
    pub(crate) fn now_ms(&self) -> f64 {
        self.outside.borrow().as_ref().map_or(0.0, |outside| outside.wall().as_secs_f64() * 1000.0)
    }

    /// The time of the call's clock: whole milliseconds since the epoch.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a double holds the milliseconds of 285 000 years exactly"
    )]
    pub(crate) fn clock_ms(&self) -> f64 {
        let now = self.outside.borrow().as_ref().map_or(Duration::ZERO, |outside| outside.now());
        now.as_millis() as f64
    }

    /// Sends a console line if there is room for it.
    pub(crate) fn log(&self, level: i32, text: &str) {
        let level = match level {
            0 => LogLevel::Debug,
            2 => LogLevel::Info,
            3 => LogLevel::Warn,
            4 => LogLevel::Error,
            _ => LogLevel::Log,
        };
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let Some(left) = self.console.bytes.get().checked_sub(length) else {
            self.console.close();
            return;
        };
        self.console.bytes.set(left);
        self.console.lines.set(self.console.lines.get().saturating_sub(1));
        if let Some(outside) = self.outside.borrow().as_ref() {
            outside.log(level, text);
        }
    }

    /// Adds to what `emit` gathered; when it is full the call ends.
    pub(crate) fn emit(&self, text: &str) {
        if !self.written.put(text) {
            self.watch.stop(Halt::Full);
        }
    }
}

/// The room left for console lines. The first line that does not fit closes it for good.
#[derive(Debug, Default)]
pub(crate) struct Console {
    lines: Cell<u64>,
    bytes: Cell<u64>,
    closed: Cell<bool>,
    dropped: Cell<u64>,
}

impl Console {
    /// Whether another line may come; if not, it counts as dropped.
    pub(crate) fn room(&self) -> bool {
        if self.closed.get() || self.lines.get() == 0 {
            self.close();
            return false;
        }
        true
    }

    /// How many lines were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    fn close(&self) {
        self.closed.set(true);
        self.dropped.set(self.dropped.get().saturating_add(1));
    }
}

/// Text that grows up to a limit in bytes: a result's JSON, or the output of `emit`.
#[derive(Debug, Default)]
pub(crate) struct Written {
    text: RefCell<String>,
    limit: Cell<usize>,
    over: Cell<bool>,
}

impl Written {
    /// Adds what fits; false when not all of it did.
    pub(crate) fn put(&self, more: &str) -> bool {
        let mut text = self.text.borrow_mut();
        let room = self.limit.get().saturating_sub(text.len());
        if more.len() > room {
            text.push_str(head_of(more, room));
            self.over.set(true);
            return false;
        }
        text.push_str(more);
        true
    }

    /// Says that what was about to be written cannot fit.
    pub(crate) fn overflow(&self) {
        self.over.set(true);
    }

    /// Whether there was more than fits.
    pub(crate) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// The limit in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit.get()
    }

    /// Takes the text.
    pub(crate) fn take(&self) -> String {
        self.text.take()
    }
}

/// `Math.random`: xoshiro256++, seeded anew for every call, because clones of a warm engine must not share it.
#[derive(Debug, Default)]
pub(crate) struct Random(Cell<[u64; 4]>);

impl Random {
    fn seed(&self, bytes: &[u8; 32]) {
        let mut state = [0; 4];
        for (word, chunk) in state.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*chunk);
        }
        if state == [0; 4] {
            state = [1, 2, 3, 4];
        }
        self.0.set(state);
    }

    /// The next number, at least 0 and below 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exactly what a double holds")]
    pub(crate) fn next(&self) -> f64 {
        let [mut a, mut b, mut c, mut d] = self.0.get();
        let drawn = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let shifted = b << 17;
        c ^= a;
        d ^= b;
        b ^= c;
        a ^= d;
        c ^= shifted;
        d = d.rotate_left(45);
        self.0.set([a, b, c, d]);
        (drawn >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A seed for one purpose, made of the call's one seed: what one purpose shows says nothing about another.
fn derived(purpose: &[u8], seed: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update(seed).chain_update(purpose).finalize().into()
}

/// Bytes fit for secrets: SHA-256 over the seed and a counter, seeded anew for every call.
#[derive(Debug, Default)]
pub(crate) struct Secret {
    seed: Cell<[u8; 32]>,
    drawn: Cell<u64>,
}

impl Secret {
    fn seed(&self, seed: [u8; 32]) {
        self.seed.set(seed);
        self.drawn.set(0);
    }

    /// Fills bytes; no two draws share any.
    pub(crate) fn fill(&self, bytes: &mut [u8]) {
        let seed = self.seed.get();
        for chunk in bytes.chunks_mut(32) {
            let count = self.drawn.get();
            self.drawn.set(count.wrapping_add(1));
            let block = Sha256::new().chain_update(seed).chain_update(count.to_le_bytes()).finalize();
            for (to, from) in chunk.iter_mut().zip(block) {
                *to = from;
            }
        }
    }
}
