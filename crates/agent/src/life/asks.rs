//! What a host asks for, one arm each.

use std::os::fd::AsFd as _;

use bailiwick_sys::{Errno, Failed, Step, loopback, packets, signals};
use bailiwick_wire::agent::{FromAgent, Start, ToAgent};
use bailiwick_wire::jail::Listens;
use rustix::process::Signal;

use super::{End, Life, is_childless};
use crate::job::{self, Job, List, Progress, Read, Remove, Trouble, Write};
use crate::pack::{Pack, Unpack};
use crate::supervisor::Locks;
use crate::{processes, start};

impl Life {
    /// Does what was asked, or begins to.
    pub(super) fn ask(&mut self, message: ToAgent) -> Result<(), End> {
        self.is_hushed = false;
        self.goes_on = true;
        match message {
            ToAgent::Start { id, start } => return self.start(id, &start),
            ToAgent::Input { id, bytes } => {
                if let Some(command) = self.commands.get_mut(&id) {
                    return command.input.take(id, &bytes, &mut self.out).map_err(|_| End::Broken);
                }
                return self.carrier.input(id, &bytes, &mut self.out).map_err(|_| End::Broken);
            }
            ToAgent::InputEnd { id } => {
                if let Some(command) = self.commands.get_mut(&id) {
                    command.input.finish(id, &mut self.out);
                }
                self.carrier.input_end(id, &mut self.out);
            }
            ToAgent::Credit { id, stream, bytes } => {
                if let Some(job) = self.jobs.get_mut(&id) {
                    job.give_credit(bytes);
                } else if let Some(output) = self.commands.get_mut(&id).and_then(|one| one.output(stream)) {
                    output.give_credit(bytes);
                } else {
                    self.carrier.give_credit(id, bytes);
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
            ToAgent::Lend { id, is_six } => match self.lend(id, is_six) {
                Ok(()) => self.out.push(&FromAgent::Done { id }),
                Err(failed) => self.out.fail(id, failed.step.says(), failed.errno),
            },
            ToAgent::Listen { id, listens } => self.listen(id, &listens)?,
            ToAgent::Dial { id, port, is_six } => {
                self.is_new(id)?;
                if let Err(errno) = self.carrier.dial(id, port, is_six) {
                    self.out.fail(id, "connect to a port inside", errno);
                }
            }
            ToAgent::Part { id } => self.carrier.part(id),
            ToAgent::Answer { id, bytes } => self.carrier.answer(id, &bytes),
            ToAgent::Forget { id } => self.forget(id),
            ToAgent::Hush { id } => {
                self.out.push(&FromAgent::Done { id });
                self.is_hushed = true;
            }
            ToAgent::Write { id, path, mode } => {
                return self.take_up(id, Write::begin(id, &path, mode).map(Job::Write));
            }
            ToAgent::Make { id, path, link, mode } => {
                self.settle(id, job::make(&path, link.as_deref(), mode));
            }
            ToAgent::Read { id, path, most } => {
                return self.take_up(id, Read::begin(&path, most).map(Job::Read));
            }
            ToAgent::List { id, path } => return self.take_up(id, List::begin(&path).map(Job::List)),
            ToAgent::Remove { id, path } => return self.take_up(id, Remove::begin(&path).map(Job::Remove)),
            ToAgent::Pack { id, folders, most } => return self.pack(id, &folders, most),
            ToAgent::Unpack { id, folders } => {
                return self.take_up(id, Unpack::begin(&folders).map(|one| Job::Unpack(Box::new(one))));
            }
            ToAgent::Data { id, bytes } => {
                if let Some(job) = self.jobs.get_mut(&id)
                    && let Err(trouble) = job.data(id, &bytes, &mut self.out)
                {
                    self.settle(id, Err(trouble));
                }
            }
            ToAgent::DataEnd { id } => match self.jobs.get_mut(&id).map(Job::finish) {
                Some(Ok(Progress::Done)) => self.settle(id, Ok(())),
                Some(Err(trouble)) => self.settle(id, Err(trouble)),
                Some(Ok(_)) | None => {}
            },
            ToAgent::Cancel { id } => drop(self.jobs.remove(&id)),
            ToAgent::Reset { id, folders } => self.reset(id, &folders),
        }
        Ok(())
    }

    /// Hands a socket over. The host takes it out before it asks for another, so there is room.
    fn lend(&self, id: u32, is_six: bool) -> Result<(), Failed> {
        let hand = self.hand.as_ref().ok_or_else(|| Step::HandOver.failed(Errno::BADF))?;
        let socket = loopback::unconnected(is_six)?;
        packets::send(hand, &id.to_le_bytes(), &[socket.as_fd()])
    }

    /// Listens for the host, once: a host that asks again is broken.
    fn listen(&mut self, id: u32, listens: &Listens) -> Result<(), End> {
        if self.carrier.listens() {
            return Err(End::Broken);
        }
        match self.carrier.listen(listens) {
            Ok(()) => self.out.push(&FromAgent::Done { id }),
            Err(failed) => self.out.fail(id, failed.step.says(), failed.errno),
        }
        Ok(())
    }

    /// Lets go of what an earlier host had asked for. Its commands go on, and nobody hears them.
    fn forget(&mut self, id: u32) {
        for command in self.commands.values_mut() {
            command.discard_all();
        }
        self.jobs.clear();
        self.carrier.forget();
        self.until_alone.clear();
        self.out.push(&FromAgent::Done { id });
    }

    fn take_up(&mut self, id: u32, job: Result<Job, Trouble>) -> Result<(), End> {
        self.is_new(id)?;
        match job {
            Ok(job) => {
                self.jobs.insert(id, job);
                self.goes_on = true;
            }
            Err(trouble) => self.out.fail(id, trouble.step, trouble.errno),
        }
        Ok(())
    }

    /// An ask about files is over.
    pub(super) fn settle(&mut self, id: u32, how: Result<(), Trouble>) {
        self.jobs.remove(&id);
        match how {
            Ok(()) => self.out.push(&FromAgent::Done { id }),
            Err(trouble) => self.out.fail(id, trouble.step, trouble.errno),
        }
    }

    fn is_packing(&self) -> bool {
        self.jobs.values().any(|job| matches!(job, Job::Pack(_)))
    }

    /// One pack at a time: whoever was stopped by the first would be taken for stopped by itself in the second.
    fn pack(&mut self, id: u32, folders: &[String], most: u64) -> Result<(), End> {
        let packing = if self.is_packing() {
            Err(Trouble { step: "pack while another pack is made", errno: Errno::BUSY })
        } else {
            Pack::begin(folders, most, self.others).map(|one| Job::Pack(Box::new(one)))
        };
        self.take_up(id, packing)
    }

    fn start(&mut self, id: u32, start: &Start) -> Result<(), End> {
        self.is_new(id)?;
        let started = if self.is_packing() {
            Err(start::NotStarted { step: "start a command while files are packed", errno: Errno::BUSY })
        } else {
            if is_childless() {
                self.locks = Locks::default();
            }
            let failed = |Failed { step, errno }| start::NotStarted { step: step.says(), errno };
            self.supervision.begin().map_err(failed).and_then(|()| start::start(start, &mut self.stack))
        };
        match started {
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
        let is_known =
            self.commands.contains_key(&id) || self.jobs.contains_key(&id) || self.carrier.knows(id);
        if is_known { Err(End::Broken) } else { Ok(()) }
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
