//! Everybody else stands still while files are packed, and goes on afterwards, but for those that stood still before.

use std::collections::BTreeSet;

use bailiwick_sys::Errno;
use rustix::event::{Timespec, poll};
use rustix::process::Signal;

use crate::processes::Others;

/// How often it is looked whether all stand still, with a millisecond between.
const LOOKS: usize = 2_000;
/// After so many looks, one that waits in the kernel counts as still: it waits for a child that stands still.
const PATIENT: usize = 100;

/// Everybody else, standing still until this is dropped.
#[derive(Debug)]
pub(super) struct Still {
    others: Others,
    /// Those that stood still before.
    before: BTreeSet<i32>,
}

impl Still {
    pub(super) fn begin(others: Others) -> Result<Self, Errno> {
        let before = others.look()?.iter().filter(|one| one.is_still()).map(|one| one.pid).collect();
        let still = Self { others, before };
        others.send(Signal::STOP)?;
        for look in 0..LOOKS {
            let waits = |state: u8| look > PATIENT && state == b'D';
            if others.look()?.iter().all(|one| one.is_still() || waits(one.state)) {
                return Ok(still);
            }
            let a_while = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            // Nobody is waited for but the time.
            let _woken = poll(&mut [], Some(&a_while));
        }
        Err(Errno::TIMEDOUT)
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        // Where `/proc` could be read a moment ago it can be read now; one that has ended meanwhile has no way on.
        for one in self.others.look().unwrap_or_default() {
            if !self.before.contains(&one.pid) {
                let _ended = one.send(Signal::CONT);
            }
        }
    }
}
