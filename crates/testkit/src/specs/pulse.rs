//! Whether the host goes on answering: a small piece of work, again and again, while something else takes what it can get.
//!
//! It is compared with itself a moment before; no time is good or bad by itself.

use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How many times as long it may take.
const MOST: u32 = 10;
/// How often it is done before anything begins.
const BEFORE: usize = 21;
/// The fewest times that say something.
const FEWEST: usize = 5;
/// Between two of them.
const PAUSE: Duration = Duration::from_millis(2);

/// A pulse that is being taken.
pub(super) struct Pulse {
    before: Duration,
    end: Sender<()>,
    during: JoinHandle<Vec<Duration>>,
}

impl Pulse {
    /// Takes it at rest, and goes on.
    pub(super) fn begin() -> Self {
        let before = median((0..BEFORE).map(|_| beat()).collect());
        let (end, ended) = channel();
        let during = std::thread::spawn(move || {
            let mut beats = vec![beat()];
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                beats.push(beat());
            }
            beats
        });
        Self { before, end, during }
    }

    /// What is wrong with it, if anything.
    pub(super) fn end(self) -> Option<String> {
        drop(self.end);
        let Ok(beats) = self.during.join() else { return Some("the host could not be watched".to_owned()) };
        if beats.len() < FEWEST {
            return Some(format!("the host was looked at only {} times", beats.len()));
        }
        let (during, before) = (median(beats), self.before);
        (during > before * MOST).then(|| format!("the host took {during:?} for what took {before:?} before"))
    }
}

/// A process is begun and ends: that needs a place in the table, memory, and its turn.
#[expect(clippy::disallowed_methods, reason = "the host does something small, to see that it can")]
#[expect(clippy::expect_used, reason = "a host that begins no process has stopped answering")]
fn beat() -> Duration {
    let begun = Instant::now();
    let mut command = Command::new("/bin/true");
    command.stdin(Stdio::null()).status().expect("the host begins a process");
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
