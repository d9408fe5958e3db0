//! Carrying questions about files from the kernel to the host, and answers back. Nobody is waited for while another is ready: a
//! question that the host does not take yet does not keep its answers from the kernel.

use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use bailiwick_sys::{Errno, Failed, Step, machine, packets};
use bailiwick_wire::machine::{ANSWER_HEAD, LONGEST, ORDER, order};
use rustix::event::{PollFd, PollFlags, poll};

use super::{GROUP, open};

/// Questions that nobody answers: that something is forgotten.
const UNANSWERED: [u32; 2] = [2, 42];

/// Who is carried for.
#[derive(Debug)]
pub(super) struct Ends {
    /// The kernel, which asks for files.
    pub(super) asked: OwnedFd,
    /// The host, which has them.
    pub(super) files: OwnedFd,
    /// The host, which gives orders.
    pub(super) orders: OwnedFd,
    /// The agent, by its end.
    pub(super) agent: OwnedFd,
}

/// What is on its way.
#[derive(Debug, Default)]
struct Carried {
    /// For the host: what it has not taken yet.
    out: Vec<u8>,
    /// From the host: a part of an answer.
    come: Vec<u8>,
    /// A part of an order.
    ordered: Vec<u8>,
    /// Questions that have no answer yet.
    open: u64,
    /// Whether nothing is asked until the host says so.
    is_hushed: bool,
    /// Whether the host waits to be told of that.
    is_awaited: bool,
}

fn failed(errno: Errno) -> Failed {
    Step::Wait.failed(errno)
}

/// Carries, until the agent has ended or the host is gone.
pub(super) fn carry(ends: &Ends) -> Result<(), Failed> {
    for end in [&ends.asked, &ends.files, &ends.orders] {
        packets::never_block(end)?;
    }
    let mut carried = Carried::default();
    let mut room = vec![0; LONGEST];
    loop {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, !carried.out.is_empty());
        let mut waited = vec![
            PollFd::from_borrowed_fd(ends.agent.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(ends.files.as_fd(), flags),
            PollFd::from_borrowed_fd(ends.orders.as_fd(), PollFlags::IN),
        ];
        if carried.takes() {
            waited.push(PollFd::from_borrowed_fd(ends.asked.as_fd(), PollFlags::IN));
        }
        rustix::io::retry_on_intr(|| poll(&mut waited, None)).map_err(failed)?;
        let ready: Vec<bool> = waited
            .iter()
            .map(|one| one.revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR))
            .collect();
        let is_ready = |which: usize| ready.get(which).copied().unwrap_or(false);
        if is_ready(0) {
            return Ok(());
        }
        if is_ready(1) {
            let Some(length) = some(packets::read(&ends.files, &mut room))? else { return Ok(()) };
            carried.come.extend_from_slice(room.get(..length).unwrap_or_default());
            while let Some(answer) = carried.answer()? {
                carried.open = carried.open.saturating_sub(1);
                // Whoever asked may be gone, and then nobody takes it.
                let _gone = packets::write(&ends.asked, &answer);
            }
        }
        if is_ready(2) {
            let Some(length) = some(packets::read(&ends.orders, &mut room))? else { return Ok(()) };
            carried.ordered.extend_from_slice(room.get(..length).unwrap_or_default());
            while carried.ordered.len() >= ORDER {
                let rest = carried.ordered.split_off(ORDER);
                let ordered = std::mem::replace(&mut carried.ordered, rest);
                carried.obey(&ordered, &ends.orders)?;
            }
        }
        if is_ready(3) {
            match packets::read(&ends.asked, &mut room) {
                Ok(length) => carried.ask(room.get(..length).unwrap_or_default()),
                // Whoever asked was interrupted meanwhile.
                Err(Errno::AGAIN | Errno::NOENT) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        carried.flush(&ends.files)?;
        if carried.is_awaited && carried.open == 0 && carried.out.is_empty() {
            carried.is_awaited = false;
            say(&ends.orders, 0)?;
        }
    }
}

/// How much was read; none at the end of it.
fn some(read: Result<usize, Errno>) -> Result<Option<usize>, Failed> {
    match read {
        Ok(0) => Ok(None),
        Ok(length) => Ok(Some(length)),
        Err(Errno::AGAIN) => Ok(Some(0)),
        Err(errno) => Err(failed(errno)),
    }
}

/// Answers an order. The host waits for it, so there is room.
fn say(orders: &OwnedFd, value: u64) -> Result<(), Failed> {
    packets::write(orders, &value.to_le_bytes()).map(|_| ()).map_err(failed)
}

impl Carried {
    /// Whether the kernel is asked what it wants.
    fn takes(&self) -> bool {
        self.out.is_empty() && !self.is_hushed
    }

    /// A question of the kernel's.
    fn ask(&mut self, question: &[u8]) {
        if number(question, 4).is_some_and(|kind| !UNANSWERED.contains(&kind)) {
            self.open += 1;
        }
        self.out.extend_from_slice(question);
    }

    /// The next answer that is whole.
    fn answer(&mut self) -> Result<Option<Vec<u8>>, Failed> {
        let Some(length) = number(&self.come, 0) else { return Ok(None) };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !(ANSWER_HEAD..=LONGEST).contains(&length) {
            return Err(Step::OpenServed.failed(Errno::PROTO));
        }
        if self.come.len() < length {
            return Ok(None);
        }
        let rest = self.come.split_off(length);
        Ok(Some(std::mem::replace(&mut self.come, rest)))
    }

    /// Does what the host says.
    fn obey(&mut self, ordered: &[u8], orders: &OwnedFd) -> Result<(), Failed> {
        match ordered.first().copied() {
            Some(order::COUNT) => say(orders, kills().unwrap_or(0)),
            Some(order::HUSH) => {
                (self.is_hushed, self.is_awaited) = (true, true);
                Ok(())
            }
            Some(order::GO_ON) => {
                self.is_hushed = false;
                let now =
                    ordered.get(1..9).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
                machine::set_clock(Duration::from_nanos(now))?;
                machine::seed(open("/dev/random", Step::SeedRandom)?, ordered.get(9..).unwrap_or_default())?;
                say(orders, 0)
            }
            _ => Err(Step::Wait.failed(Errno::PROTO)),
        }
    }

    fn flush(&mut self, files: &OwnedFd) -> Result<(), Failed> {
        while !self.out.is_empty() {
            match packets::write(files, &self.out) {
                Ok(written) => drop(self.out.drain(..written)),
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(())
    }
}

/// How many processes of the sandbox were killed for want of memory.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, of a few lines")]
fn kills() -> Option<u64> {
    let told = std::fs::read_to_string(format!("{GROUP}/memory.events")).ok()?;
    told.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}
