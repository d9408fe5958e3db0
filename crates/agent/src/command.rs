//! A command that runs: its process, its streams, and how it ended.

use bailiwick_sys::pidfd::{self, How};
use bailiwick_wire::agent::{Ended, FromAgent, Stream, Window};

use crate::input::Input;
use crate::outgoing::Outgoing;
use crate::output::Output;
use crate::start;

/// A command.
#[derive(Debug)]
pub(crate) struct Command {
    pid: i32,
    /// Standard output and standard error, or the terminal alone.
    outputs: Vec<Output>,
    pub(crate) input: Input,
    ended: Option<Ended>,
}

impl Command {
    pub(crate) fn new(pid: i32, outputs: Vec<Output>, input: Input) -> Self {
        Self { pid, outputs, input, ended: None }
    }

    /// Its process, which is also the leader of its session.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Whether its own process was reaped: its number may be another's by now.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Its streams.
    pub(crate) fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// One of its streams.
    pub(crate) fn output(&mut self, stream: Stream) -> Option<&mut Output> {
        match stream {
            Stream::Stdout => self.outputs.first_mut(),
            Stream::Stderr => self.outputs.get_mut(1),
        }
    }

    /// Nobody wants to hear it any more.
    pub(crate) fn discard_all(&mut self) {
        for output in &mut self.outputs {
            output.discard();
        }
    }

    /// Reads one of its streams once.
    pub(crate) fn pump(&mut self, which: usize, id: u32, scratch: &mut [u8], out: &mut Outgoing) {
        if let Some(output) = self.outputs.get_mut(which) {
            output.pump(id, scratch, out);
        }
    }

    /// Gives its terminal another size. A command without one has nothing to be resized.
    pub(crate) fn resize(&self, window: Window) {
        if let [terminal] = self.outputs.as_slice()
            && let Some(end) = terminal.end()
        {
            // A terminal that was hung up has no size.
            let _hung_up = start::set_window(end, window);
        }
    }

    /// Its process ended.
    pub(crate) fn process_ended(&mut self, reaped: &pidfd::Ended, processes: u32) {
        let (code, signal) = match reaped.how {
            How::Exited(code) => (Some(i32::from(code)), None),
            How::Signalled(signal) => (None, Some(i32::from(signal))),
        };
        self.ended =
            Some(Ended { code, signal, cpu_us: reaped.cpu_us, memory_peak: reaped.memory_peak, processes });
        for output in &mut self.outputs {
            output.command_ended();
        }
    }

    /// After its end: reads a part of what it left in its streams.
    pub(crate) fn wind_up(&mut self, id: u32, scratch: &mut [u8], out: &mut Outgoing) -> Wound {
        let Some(ended) = self.ended else { return Wound::Runs };
        let mut again = false;
        for output in &mut self.outputs {
            again |= output.pump(id, scratch, out);
        }
        if self.outputs.iter().all(Output::is_closed) {
            out.push(&FromAgent::Ended { id, ended });
            return Wound::Up;
        }
        if again { Wound::More } else { Wound::Waits }
    }
}

/// How far the end of a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wound {
    /// It has not ended.
    Runs,
    /// There may be more to read at once.
    More,
    /// There is no credit, or no room.
    Waits,
    /// The host was told.
    Up,
}
