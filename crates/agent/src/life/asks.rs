//! What a host asks for, one arm each.

use bailiwick_wire::agent::{FromAgent, Start, ToAgent};
use rustix::process::Signal;

use super::{End, Life};
use crate::{processes, start};
use bailiwick_sys::{Errno, signals};

impl Life {
    /// Does what was asked, or begins to.
    pub(super) fn ask(&mut self, message: ToAgent) -> Result<(), End> {
        match message {
            ToAgent::Start { id, start } => return self.start(id, &start),
            ToAgent::Input { id, bytes } => {
                if let Some(command) = self.commands.get_mut(&id) {
                    return command.input.take(id, &bytes, &mut self.out).map_err(|_| End::Broken);
                }
            }
            ToAgent::InputEnd { id } => {
                if let Some(command) = self.commands.get_mut(&id) {
                    command.input.finish(id, &mut self.out);
                }
            }
            ToAgent::Credit { id, stream, bytes } => {
                if let Some(output) = self.commands.get_mut(&id).and_then(|one| one.output(stream)) {
                    output.give_credit(bytes);
                }
            }
            ToAgent::Discard { id, stream } => {
                if let Some(output) = self.commands.get_mut(&id).and_then(|one| one.output(stream)) {
                    output.discard();
                }
            }
            ToAgent::Resize { id, window } => {
                if let Some(command) = self.commands.get(&id) {
                    command.resize(window);
                }
            }
            ToAgent::Signal { id, signal } => {
                if let Some(command) = self.commands.get(&id).filter(|one| !one.has_ended()) {
                    // It may have ended just now, and then there is nobody to be signalled.
                    let _ended = signals::send(command.pid(), signal);
                }
            }
            ToAgent::Kill { id } => self.kill(id),
            ToAgent::SignalAll { id, signal } => self.signal_all(id, signal),
            ToAgent::Count { id } => match self.others.count() {
                Ok(processes) => self.out.push(&FromAgent::Counted { id, processes }),
                Err(errno) => self.out.fail(id, "count the processes", errno),
            },
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, id: u32, start: &Start) -> Result<(), End> {
        self.is_new(id)?;
        match start::start(start, &mut self.stack) {
            Ok(command) => {
                self.commands.insert(id, command);
            }
            Err(failed) => {
                let (step, errno) = (failed.step.to_owned(), failed.errno.raw_os_error());
                self.out.push(&FromAgent::NotStarted { id, step, errno });
            }
        }
        Ok(())
    }

    /// A number that is in use means something else: a host that gives it again is broken.
    fn is_new(&self, id: u32) -> Result<(), End> {
        if self.commands.contains_key(&id) { Err(End::Broken) } else { Ok(()) }
    }

    fn kill(&self, id: u32) {
        let Some(command) = self.commands.get(&id) else { return };
        if processes::kill_tree(command.pid(), command.has_ended()).is_err() && !command.has_ended() {
            // Without a look around, at least the command itself.
            let _ended = signals::send(command.pid(), Signal::KILL.as_raw());
        }
    }

    fn signal_all(&mut self, id: u32, signal: i32) {
        const STEP: &str = "signal everybody";
        let Some(signal) = Signal::from_named_raw(signal) else {
            return self.out.fail(id, STEP, Errno::INVAL);
        };
        match self.others.send(signal) {
            Err(errno) => self.out.fail(id, STEP, errno),
            Ok(()) if signal == Signal::KILL => {
                self.until_alone.push(id);
                self.goes_on = true;
            }
            Ok(()) => self.out.push(&FromAgent::Done { id }),
        }
    }
}
