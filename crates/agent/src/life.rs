//! The loop: one wait for everything, and a turn for each who is ready. Nobody gets more than one piece in a turn, and
//! whoever came first in one turn comes last in the next.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bailiwick_sys::command::Stack;
use bailiwick_sys::{Errno, Failed, Step, descriptors, packets, pidfd, signals};
use bailiwick_wire::Decoder;
use bailiwick_wire::agent::{CHUNK, FromAgent, LONGEST};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal};

use crate::carried::{self, Carrier};
use crate::command::{Command, Wound};
use crate::job::{Job, Progress};
use crate::outgoing::Outgoing;
use crate::processes::{self, Others};
use crate::reset::{Place, State};
use crate::supervisor::Locks;
use crate::{BROKEN, CLOSED, OUR_FAULT, Setup, Supervision, ToHost};

mod asks;
mod reset;

/// The most children that are reaped in one turn: orphans that end by the thousand do not keep others waiting.
const REAPED: usize = 256;

/// Why the agent ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    Broken,
    Fault,
}

/// Who is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Host,
    /// There is room for what the host is told.
    Room,
    Children,
    Output(u32, usize),
    Input(u32),
    Carried(carried::Who),
    /// A command that asks for a socket or a lock.
    Question,
}

/// An agent that lives.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is about another part of its turn; none follows from another"
)]
pub(crate) struct Life {
    from: OwnedFd,
    /// Where what the host is told goes, if not the same way.
    to: Option<OwnedFd>,
    children: OwnedFd,
    others: Others,
    owns_ipc: bool,
    hand: Option<OwnedFd>,
    supervision: Supervision,
    locks: Locks,
    place: Place,
    /// How everything looked before the first command.
    birth: Option<State>,
    stack: Stack,
    decoder: Decoder,
    out: Outgoing,
    scratch: Vec<u8>,
    commands: BTreeMap<u32, Command>,
    jobs: BTreeMap<u32, Job>,
    carrier: Carrier,
    /// Asks that are answered when there is no child any more.
    until_alone: Vec<u32>,
    /// Whether a message came in more than one piece.
    is_long: bool,
    /// Where the next turn begins.
    first: u32,
    /// Whether somebody can go on without waiting.
    goes_on: bool,
    /// Whether nothing is said until the host says something.
    is_hushed: bool,
}

impl Life {
    /// Takes the process over.
    pub(crate) fn begin(host: ToHost, setup: Setup) -> Result<Self, Failed> {
        let ToHost { from, to } = host;
        let hand = setup.hand.map(above_standard).transpose()?;
        let to = to.map(above_standard).transpose()?;
        let from = above_standard(from)?;
        let supervision = setup.supervision.moved(above_standard)?;
        hold_standard()?;
        descriptors::close_on_execute_from(3)?;
        packets::never_block(&from)?;
        to.as_ref().map(packets::never_block).transpose()?;
        let children = signals::hold_all()?;
        if !setup.is_init {
            let ourselves = Pid::from_raw(1);
            rustix::process::set_child_subreaper(ourselves).map_err(|errno| Step::Reap.failed(errno))?;
        }
        let place = if setup.is_init { Place::Own } else { Place::Shared };
        let mut out = Outgoing::default();
        out.push(&FromAgent::Ready);
        Ok(Self {
            from,
            to,
            children,
            others: match (setup.is_init, setup.signals_stay) {
                (true, _) => Others::All,
                (false, true) => Others::Within,
                (false, false) => Others::Descendants,
            },
            owns_ipc: setup.owns_ipc,
            hand,
            supervision,
            locks: Locks::default(),
            place,
            birth: setup.reset.as_ref().map(|folders| State::look(place, folders)),
            stack: Stack::map()?,
            decoder: Decoder::new(LONGEST),
            out,
            scratch: vec![0; CHUNK],
            commands: BTreeMap::new(),
            jobs: BTreeMap::new(),
            carrier: Carrier::default(),
            until_alone: Vec::new(),
            is_long: false,
            first: 0,
            goes_on: true,
            is_hushed: false,
        })
    }

    /// Lives, until the host is gone.
    pub(crate) fn live(mut self) -> u8 {
        let end = loop {
            if let Err(end) = self.turn() {
                break end;
            }
        };
        if self.others != Others::All {
            // No namespace dies with us: whoever is left would live on. Nobody is there to be told of a failure.
            let _best_effort = self.others.send(Signal::KILL);
        }
        match end {
            End::Closed => CLOSED,
            End::Broken => BROKEN,
            End::Fault => OUR_FAULT,
        }
    }

    fn turn(&mut self) -> Result<(), End> {
        let ready = self.wait()?;
        self.goes_on = false;
        for (who, flags) in ready {
            if self.is_hushed && !matches!(who, Who::Host | Who::Room) {
                continue;
            }
            match who {
                // What comes from the host is taken last: a stream that it gives up on was not read in vain then.
                Who::Host | Who::Room => {}
                Who::Children => self.drain_signals(),
                Who::Output(id, which) => {
                    if let Some(command) = self.commands.get_mut(&id) {
                        command.pump(which, id, &mut self.scratch, &mut self.out);
                    }
                }
                Who::Input(id) => {
                    if let Some(command) = self.commands.get_mut(&id) {
                        command.input.pump(id, &mut self.out);
                    }
                }
                Who::Carried(who) => self.carrier.ready(who, &mut self.scratch, &mut self.out),
                Who::Question => self.supervision.answer(&mut self.locks).map_err(|_| End::Fault)?,
            }
            if who == Who::Host && flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                self.hear()?;
            }
        }
        if !self.is_hushed {
            self.reap()?;
            self.wind_up();
            self.work();
        }
        if self.out.is_broken() {
            return Err(End::Fault);
        }
        let had_room = self.out.has_room();
        self.out.flush(self.to.as_ref().unwrap_or(&self.from)).map_err(|_| End::Closed)?;
        // Whoever waited for room, and for nothing else, is woken by nobody else.
        self.goes_on |= !had_room && self.out.has_room();
        Ok(())
    }

    /// Waits until somebody is ready. The host comes first, so that it is heard however many others there are.
    fn wait(&mut self) -> Result<Vec<(Who, PollFlags)>, End> {
        let (mut from, mut to) = (PollFlags::empty(), PollFlags::empty());
        from.set(PollFlags::IN, !self.out.is_full());
        to.set(PollFlags::OUT, !self.out.is_empty());
        let mut waited = Waited::default();
        match &self.to {
            None => waited.add(Who::Host, self.from.as_fd(), from | to),
            Some(other) => {
                waited.add(Who::Host, self.from.as_fd(), from);
                if !to.is_empty() {
                    waited.add(Who::Room, other.as_fd(), to);
                }
            }
        }
        waited.add(Who::Children, self.children.as_fd(), PollFlags::IN);
        if let Some(filter) = self.supervision.filter() {
            waited.add(Who::Question, filter.as_fd(), PollFlags::IN);
        }
        let has_room = self.out.has_room();
        let (before, after) = (self.commands.range(..self.first), self.commands.range(self.first..));
        for (id, command) in after.chain(before) {
            if let Some(end) = command.input.wanted() {
                waited.add(Who::Input(*id), end, PollFlags::OUT);
            }
            if command.has_ended() {
                continue;
            }
            for (which, output) in command.outputs().iter().enumerate() {
                if let Some(end) = output.wanted(has_room) {
                    waited.add(Who::Output(*id, which), end, PollFlags::IN);
                }
            }
        }
        for (who, end, flags) in self.carrier.wanted(has_room) {
            waited.add(Who::Carried(who), end, flags);
        }
        let ready = waited.wait(self.goes_on).map_err(|_| End::Fault)?;
        self.first = self.commands.range(self.first.saturating_add(1)..).next().map_or(0, |(id, _)| *id);
        Ok(ready)
    }

    /// Only that there was a signal matters: several become one.
    fn drain_signals(&mut self) {
        while packets::read(&self.children, &mut self.scratch).is_ok_and(|length| length > 0) {}
    }

    /// Reaps whoever has ended: commands, and orphans that became ours.
    fn reap(&mut self) -> Result<(), End> {
        for _ in 0..REAPED {
            let Some(ended) = pidfd::reap_one().map_err(|_| End::Fault)? else {
                self.alone();
                return Ok(());
            };
            self.ended(&ended);
        }
        self.goes_on = true;
        Ok(())
    }

    /// Somebody was reaped: a command, or an orphan that nobody asks for.
    fn ended(&mut self, ended: &pidfd::Ended) {
        let command = self.commands.values_mut().find(|one| one.pid() == ended.pid && !one.has_ended());
        if let Some(command) = command {
            // Elsewhere numbers are given to everybody's processes.
            let counted = (self.others == Others::All).then(|| processes::since(ended.pid)).flatten();
            command.process_ended(ended, counted.unwrap_or(1));
        }
    }

    /// Answers whoever wanted to know when nobody else is there, if that is so.
    fn alone(&mut self) {
        if self.until_alone.is_empty() || !is_childless() {
            return;
        }
        for id in self.until_alone.drain(..) {
            self.out.push(&FromAgent::Done { id });
        }
    }

    /// Reads what commands that ended have left, and tells of those that left nothing.
    fn wind_up(&mut self) {
        let mut told = Vec::new();
        for (id, command) in &mut self.commands {
            match command.wind_up(*id, &mut self.scratch, &mut self.out) {
                Wound::Runs | Wound::Waits => {}
                Wound::More => self.goes_on = true,
                Wound::Up => told.push(*id),
            }
        }
        for id in told {
            self.commands.remove(&id);
        }
    }

    /// Does a piece of every ask about files.
    fn work(&mut self) {
        let mut over = Vec::new();
        for (id, job) in &mut self.jobs {
            match job.turn(*id, &mut self.scratch, &mut self.out) {
                Ok(Progress::More) => self.goes_on = true,
                Ok(Progress::Waits) => {}
                Ok(Progress::Done) => over.push((*id, Ok(()))),
                Err(trouble) => over.push((*id, Err(trouble))),
            }
        }
        for (id, how) in over {
            self.settle(id, how);
        }
    }

    /// Hears what the host has to say: one piece, and every message that is whole by then.
    fn hear(&mut self) -> Result<(), End> {
        match packets::read(&self.from, &mut self.scratch) {
            Ok(0) => return Err(End::Closed),
            Ok(length) => self.decoder.push(self.scratch.get(..length).unwrap_or_default()),
            Err(Errno::AGAIN) => return Ok(()),
            Err(_) => return Err(End::Closed),
        }
        while let Some(message) = self.decoder.take().map_err(|_| End::Broken)? {
            self.ask(message)?;
        }
        if self.decoder.is_within_a_frame() {
            self.is_long = true;
        } else if std::mem::take(&mut self.is_long) {
            // A long message leaves much room behind, which an idle agent should not keep.
            self.decoder = Decoder::new(LONGEST);
        }
        Ok(())
    }
}

/// Whether there is no child at all, living or dead.
fn is_childless() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// Moves a descriptor above the numbers of the standard streams.
fn above_standard(descriptor: OwnedFd) -> Result<OwnedFd, Failed> {
    let moved = rustix::io::fcntl_dupfd_cloexec(&descriptor, 3);
    // Before anything else gets its number.
    drop(descriptor);
    moved.map_err(|errno| Step::MoveDescriptor.failed(errno))
}

/// Holds the numbers of the standard streams, so that nothing else ever gets one. What is there came from whoever built the walls:
/// it leads out of them.
fn hold_standard() -> Result<(), Failed> {
    let open = || {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        rustix::fs::open(c"/", flags, Mode::empty()).map_err(|errno| Step::MoveDescriptor.failed(errno))
    };
    for number in 0..3 {
        descriptors::put_at(number, open()?)?;
    }
    Ok(())
}

/// Descriptors that are waited for, and who each is.
#[derive(Default)]
struct Waited<'a> {
    who: Vec<Who>,
    polled: Vec<PollFd<'a>>,
}

impl<'a> Waited<'a> {
    fn add(&mut self, who: Who, descriptor: BorrowedFd<'a>, flags: PollFlags) {
        self.who.push(who);
        self.polled.push(PollFd::from_borrowed_fd(descriptor, flags));
    }

    fn wait(mut self, only_look: bool) -> Result<Vec<(Who, PollFlags)>, Errno> {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut self.polled, only_look.then_some(&now)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Vec::new()),
            Err(errno) => return Err(errno),
        }
        let ready = self.who.into_iter().zip(self.polled.iter().map(PollFd::revents));
        Ok(ready.filter(|(_, flags)| !flags.is_empty()).collect())
    }
}
