//! A reset, from the first kill to the last look. Nothing else is done meanwhile: there is nobody to do it for.

use bailiwick_sys::pidfd;
use bailiwick_wire::agent::{FromAgent, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::{Life, is_childless};
use crate::reset::{self, State};

/// How often it is looked whether all have ended, and how long between, unless one ends before.
const ENDS: usize = 200;
const BETWEEN_ENDS: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How often it is looked again for what the kernel takes away in its own time.
const LOOKS: usize = 50;
const BETWEEN_LOOKS: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

impl Life {
    /// Makes the sandbox as it was at birth, and says what is or may be left.
    pub(super) fn reset(&mut self, id: u32, folders: &[String]) {
        // What they held open or stopped is let go.
        self.jobs.clear();
        let mut wrong = self.end_all();
        self.tell_ends();
        let left = match &self.birth {
            None => vec!["how it was at birth was not looked at".to_owned()],
            Some(birth) => {
                wrong.extend(reset::wipe(folders));
                look(birth, folders, self.owns_ipc, self.place)
            }
        };
        wrong.extend(left);
        self.out.push(&FromAgent::Reset { id, left: wrong });
    }

    /// Ends everybody and reaps them.
    fn end_all(&mut self) -> Vec<String> {
        for _ in 0..ENDS {
            if let Err(errno) = self.others.send(Signal::KILL) {
                return vec![format!("processes cannot be ended: {errno}")];
            }
            while let Ok(Some(ended)) = pidfd::reap_one() {
                self.ended(&ended);
            }
            if is_childless() {
                break;
            }
            let mut ended = [PollFd::new(&self.children, PollFlags::IN)];
            // Either somebody ended or it is time to look again.
            let _woken = poll(&mut ended, Some(&BETWEEN_ENDS));
            self.drain_signals();
        }
        match self.others.look() {
            Ok(others) if others.is_empty() && is_childless() => Vec::new(),
            Ok(others) => vec![format!("{} processes did not end", others.len().max(1))],
            Err(errno) => vec![format!("processes cannot be looked at: {errno}")],
        }
    }

    /// Tells how the commands ended that ran until now; what they left in their streams is for nobody.
    fn tell_ends(&mut self) {
        for command in self.commands.values_mut() {
            for stream in [Stream::Stdout, Stream::Stderr] {
                if let Some(output) = command.output(stream) {
                    output.discard();
                }
            }
        }
        while !self.commands.is_empty() {
            let before = self.commands.len();
            self.goes_on = false;
            self.wind_up();
            if self.commands.len() == before && !self.goes_on {
                // One that did not end; it is among what is left.
                break;
            }
        }
    }
}

fn look(birth: &State, folders: &[String], owns_ipc: bool, place: reset::Place) -> Vec<String> {
    let paths = birth.paths(folders);
    let mut left = Vec::new();
    for _ in 0..LOOKS {
        reset::put_back(birth, owns_ipc);
        left = birth.left(&State::look(place, &paths));
        if left.is_empty() {
            break;
        }
        // Files and sockets of those who ended may go a moment after them.
        let _woken = poll(&mut [], Some(&BETWEEN_LOOKS));
    }
    left
}
