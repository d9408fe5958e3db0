//! The talk with one cell while its call runs: its lines and effects as they come, the answers as they are there.
//!
//! Everything it says is a claim of something that runs hostile code: it is bounded in length, in number and in what
//! may be under way at once, and what does not fit is no message.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::time::Duration;

use bailiwick_types::{Effect, FileRequest, Refused};
use bailiwick_wire::{Decoder, FromCell, Refusal, Reply, Report, ToCell, encode};
use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Aborted};
use futures_util::stream::FuturesUnordered;

use super::call::Lines;
use super::gateway::{Gateway, Standstill};
use super::nest::Leased;

/// An honest cell counts its own lines; one that sends this many beyond their limits is none.
const MOST_DROPPED: u64 = 10_000;

/// Effects under way at once; the next one is read when one of them is done.
const MOST_EFFECTS: usize = 128;

/// Bytes of requests under way, and of answers not taken, beyond which nothing more is read.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Refusals that are remembered, to tell the one that ended a call.
const MOST_REFUSALS: usize = 1000;

/// What came last from a cell.
pub(super) enum Last {
    Done(Box<Report>),
    Violation(u32),
    Probed(i64),
    /// It closed its socket, or said something that is no message.
    Silent {
        garbled: bool,
    },
    /// It was dead before the job could be sent.
    NeverBegan,
    /// The deadline.
    Late,
}

const SILENT: Last = Last::Silent { garbled: false };
const GARBLED: Last = Last::Silent { garbled: true };

/// Who serves the effects of a call.
#[derive(Clone, Copy)]
pub(super) struct Served<'a> {
    pub(super) gateway: &'a dyn Gateway,
    pub(super) standstill: &'a Standstill,
}

/// What is waiting to be sent.
#[derive(Default)]
struct Outgoing {
    frames: VecDeque<Vec<u8>>,
    /// How much of the first frame is sent.
    sent: usize,
    bytes: usize,
}

impl Outgoing {
    fn push(&mut self, message: &ToCell, in_front: bool) -> Result<(), ()> {
        let frame = encode(message).map_err(|_| ())?;
        self.bytes += frame.len();
        match (in_front, self.sent) {
            (true, 0) => self.frames.push_front(frame),
            // Behind the frame that is half sent.
            (true, _) => self.frames.insert(1, frame),
            (false, _) => self.frames.push_back(frame),
        }
        Ok(())
    }

    /// Sends what the socket takes; false when nobody listens any more.
    fn send(&mut self, cell: &Leased) -> bool {
        while let Some(frame) = self.frames.front() {
            let rest = frame.get(self.sent..).unwrap_or_default();
            if rest.is_empty() {
                self.bytes = self.bytes.saturating_sub(frame.len());
                self.sent = 0;
                self.frames.pop_front();
                continue;
            }
            match cell.socket.try_write(rest) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(_) => return false,
            }
        }
        true
    }
}

/// The talk with one cell.
pub(super) struct Talk<'a, 'l> {
    pub(super) cell: &'a Leased,
    pub(super) lines: &'a mut Lines<'l>,
    pub(super) served: Option<Served<'a>>,
    /// What was refused, by number.
    pub(super) refusals: BTreeMap<u32, Refused>,
}

impl Talk<'_, '_> {
    /// Sends the job and hears the cell out.
    pub(super) async fn run(&mut self, frame: &[u8], bound: usize) -> Last {
        let Some(began) = send_job(self.cell, frame).await else { return SILENT };
        let (cell, served) = (self.cell, self.served);
        let mut changes = served.map(|served| served.standstill.changes());
        let mut decoder = Decoder::new(bound);
        let mut buffer = vec![0; 16 * 1024];
        let mut effects = FuturesUnordered::new();
        let mut handles: BTreeMap<u32, AbortHandle> = BTreeMap::new();
        let (mut last_id, mut under_way) = (0, 0_usize);
        let mut outgoing = Outgoing::default();
        loop {
            // A cell that never stops talking must not keep the deadline from being looked at.
            tokio::task::coop::consume_budget().await;
            // What was read is taken up to the bound on effects; the rest waits until one is done.
            while effects.len() < MOST_EFFECTS {
                match self.take(&mut decoder) {
                    Heard::Nothing => break,
                    Heard::Line => {}
                    Heard::Last(last) => return last,
                    Heard::Cancel(id) => {
                        if let Some(handle) = handles.remove(&id) {
                            handle.abort();
                        }
                    }
                    Heard::Ask(id, effect) => {
                        let Some(served) = served.filter(|_| id > last_id) else { return GARBLED };
                        last_id = id;
                        let size = size_of(&effect);
                        under_way = under_way.saturating_add(size);
                        let (handle, registration) = AbortHandle::new_pair();
                        handles.insert(id, handle);
                        let outcome = served.gateway.serve(id, effect, served.standstill);
                        let outcome = Abortable::new(outcome, registration);
                        effects.push(async move { Done { id, size, result: outcome.await } });
                    }
                }
            }
            let is_still = served.is_some_and(|served| served.standstill.is_still());
            let may_read = effects.len() < MOST_EFFECTS
                && under_way.saturating_add(outgoing.bytes) <= MOST_BYTES
                || effects.is_empty() && outgoing.frames.is_empty();
            let change = async {
                match &mut changes {
                    Some(changes) => changes.changed().await.is_ok(),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = change => {
                    let Some(served) = served else { continue };
                    let Some(stood) = served.standstill.is_over() else { continue };
                    let micros = u64::try_from(stood.as_micros()).unwrap_or(u64::MAX);
                    // It is told before it goes on, so that it never reads a clock without knowing.
                    if outgoing.push(&ToCell::Stood { micros }, true).is_err() {
                        return GARBLED;
                    }
                    let _heard_by_the_read = outgoing.send(cell);
                    served.standstill.resume(Duration::from_micros(micros));
                }
                // With many answers not taken, no more are made. But a cell that stands still can take none, and what
                // it stands still for is one of these.
                Some(done) = effects.next(),
                    if !effects.is_empty() && (is_still || outgoing.bytes <= MOST_BYTES) => {
                    let Done { id, size, result } = done;
                    under_way = under_way.saturating_sub(size);
                    handles.remove(&id);
                    let reply = match result {
                        // Nobody waits for what was cancelled.
                        Err(Aborted) => continue,
                        Ok(Ok(answer)) => Reply::Given(answer),
                        Ok(Err(refused)) => {
                            let reply = Reply::Refused(Refusal::from(&refused));
                            if self.refusals.len() < MOST_REFUSALS {
                                self.refusals.insert(id, refused);
                            }
                            reply
                        }
                    };
                    if outgoing.push(&ToCell::Answer { id, reply: Box::new(reply) }, false).is_err() {
                        return GARBLED;
                    }
                }
                writable = cell.socket.writable(), if !is_still && !outgoing.frames.is_empty() => {
                    if writable.is_err() || !outgoing.send(cell) {
                        // It takes no answers any more; what it said before that is still to be read.
                        outgoing = Outgoing::default();
                    }
                }
                readable = cell.socket.readable(), if may_read => {
                    if readable.is_err() {
                        return SILENT;
                    }
                    match cell.socket.try_read(&mut buffer) {
                        Ok(0) if !began => return Last::NeverBegan,
                        Ok(0) => return Last::Silent { garbled: decoder.is_within_a_frame() },
                        Ok(length) => decoder.push(buffer.get(..length).unwrap_or_default()),
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                        Err(_) if !began => return Last::NeverBegan,
                        Err(_) => return SILENT,
                    }
                }
            }
        }
    }

    fn take(&mut self, decoder: &mut Decoder) -> Heard {
        match decoder.take() {
            Ok(None) => Heard::Nothing,
            Ok(Some(FromCell::Log { level, text })) => {
                self.lines.take(level, text);
                if self.lines.dropped() > MOST_DROPPED { Heard::Last(GARBLED) } else { Heard::Line }
            }
            Ok(Some(FromCell::Violation { number })) => Heard::Last(Last::Violation(number)),
            Ok(Some(FromCell::Done(report))) => Heard::Last(Last::Done(report)),
            Ok(Some(FromCell::Probed { result })) => Heard::Last(Last::Probed(result)),
            Ok(Some(FromCell::Ask { id, effect })) => Heard::Ask(id, *effect),
            Ok(Some(FromCell::Cancel { id })) => Heard::Cancel(id),
            Err(_) => Heard::Last(GARBLED),
        }
    }
}

/// Whether the cell took any of the job; nothing when its socket is of no use.
async fn send_job(cell: &Leased, frame: &[u8]) -> Option<bool> {
    let mut rest = frame;
    while !rest.is_empty() {
        match cell.socket.try_write(rest) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                cell.socket.writable().await.ok()?;
            }
            // It was gone before it read anything; what it said before that is still to be read.
            Err(_) => return Some(rest.len() < frame.len()),
        }
    }
    Some(true)
}

/// One message, as far as the talk is concerned.
enum Heard {
    Nothing,
    Line,
    Ask(u32, Effect),
    Cancel(u32),
    Last(Last),
}

/// An effect that is over.
struct Done {
    id: u32,
    size: usize,
    result: Result<Result<bailiwick_types::Answer, Refused>, Aborted>,
}

/// What an effect holds of memory while it is under way.
fn size_of(effect: &Effect) -> usize {
    let content = match effect {
        Effect::Fetch(request) => {
            let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
            request.url.len() + headers + request.body.as_ref().map_or(0, |body| body.0.len())
        }
        Effect::File(FileRequest::Write { content, .. } | FileRequest::Append { content, .. }) => {
            content.0.len()
        }
        Effect::File(FileRequest::Edit { old, new, .. }) => old.len() + new.len(),
        Effect::File(FileRequest::Grep { pattern, .. } | FileRequest::Search { pattern, .. }) => {
            pattern.len()
        }
        Effect::Exec(request) => {
            let words: usize = request.argv.iter().map(String::len).sum();
            let env: usize = request.env.iter().map(|(name, value)| name.len() + value.len()).sum();
            words + env + request.stdin.0.len()
        }
        // A path that is longer than any path is refused at once.
        Effect::File(_) => 0,
    };
    content.saturating_add(4096)
}
