//! The host's handle of one nursery: cells that are parked, cells that are out, and news of how they ended.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use bailiwick_sys::{Errno, packets};
use bailiwick_types::Wallpart;
use bailiwick_wire::{Ending, FromNursery, ToNursery, decode, encode};
use tokio::io::Interest;
use tokio::net::{UnixDatagram, UnixStream};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::start::{Fresh, LARGEST_PACKET, Process};
use super::{StartError, receipt};

/// How long to wait for the news of a cell that ended without a word.
const NEWS: Duration = Duration::from_millis(500);

/// With this many parked cells each is born with what a call touches, or goes through a call once while nobody waits
/// for it.
pub(super) const REHEARSED: std::ops::RangeInclusive<usize> = 2..=64;

/// A nursery that dies at this age is not replaced before somebody needs it.
const YOUNG: Duration = Duration::from_millis(200);

/// One nursery.
#[derive(Debug)]
pub(super) struct Nest {
    control: Arc<UnixDatagram>,
    state: Mutex<State>,
    /// A cell was born, or none will be.
    arrived: Notify,
    /// News of an ending.
    news: Notify,
    target: usize,
    made: Instant,
    walls: Vec<Wallpart>,
    missing: Vec<String>,
    reader: Mutex<Option<AbortHandle>>,
    process: Process,
}

#[derive(Debug, Default)]
struct State {
    parked: VecDeque<Parked>,
    /// Forks that were asked for and not answered.
    asked: usize,
    /// Calls that wait for a cell.
    waiting: usize,
    calls: u64,
    /// Cells that are out, and how they ended if that is known.
    out: BTreeMap<u64, Option<Ending>>,
    not_born: Option<i32>,
    dead: bool,
}

/// A cell that waits for its job.
#[derive(Debug)]
struct Parked {
    serial: u64,
    socket: UnixStream,
    pidfd: OwnedFd,
}

/// A cell that is out for one call. When this is dropped, the cell is killed.
#[derive(Debug)]
pub(super) struct Leased {
    pub(super) nest: Arc<Nest>,
    pub(super) serial: u64,
    pub(super) socket: UnixStream,
    pub(super) pidfd: Arc<OwnedFd>,
}

/// Why there is no cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoCell {
    /// The nursery is dead.
    Dead,
    /// The system lets it fork no more.
    NotBorn,
}

impl Nest {
    /// Takes over a nursery that is ready, and has it park `target` cells.
    pub(super) fn adopt(
        fresh: Fresh,
        target: usize,
        on_death: impl Fn(&Self) + Send + 'static,
    ) -> Result<Arc<Self>, StartError> {
        let Fresh { control, process, walls, cgroup } = fresh;
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(StartError::NoRuntime);
        }
        packets::never_block(&control)?;
        // A socket of packets, whatever the type's name says of addresses: tokio has no other for them.
        let control = UnixDatagram::from_std(control.into()).map_err(|_| StartError::NoRuntime)?;
        let control = Arc::new(control);
        let nest = Arc::new(Self {
            control: Arc::clone(&control),
            state: Mutex::default(),
            arrived: Notify::new(),
            news: Notify::new(),
            target,
            made: Instant::now(),
            walls: receipt::walls(&walls, cgroup),
            missing: walls.missing,
            reader: Mutex::default(),
            process,
        });
        let reader = tokio::spawn(read_news(control, Arc::downgrade(&nest), on_death));
        *nest.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader.abort_handle());
        nest.refill(&mut nest.lock());
        Ok(nest)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which walls were seen to stand around its cells.
    pub(super) fn walls(&self) -> &[Wallpart] {
        &self.walls
    }

    /// What could not be had, and why.
    pub(super) fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Whether it ended.
    pub(super) fn is_dead(&self) -> bool {
        self.lock().dead
    }

    /// Whether it has served this many calls or lived this long.
    pub(super) fn is_old(&self, calls: u64, age: Duration) -> bool {
        self.lock().calls >= calls || self.made.elapsed() >= age
    }

    /// Cells that are parked now.
    pub(super) fn parked(&self) -> usize {
        self.lock().parked.len()
    }

    /// Cells that are out now.
    pub(super) fn out(&self) -> usize {
        self.lock().out.len()
    }

    /// Takes a cell for one call, waiting for one to be born if none is parked.
    pub(super) async fn take(self: &Arc<Self>) -> Result<Leased, NoCell> {
        let mut waits = Waits { nest: self, counted: false };
        let mut has_asked = false;
        loop {
            let arrived = self.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            {
                let mut state = self.lock();
                if state.dead {
                    return Err(NoCell::Dead);
                }
                if let Some(Parked { serial, socket, pidfd }) = state.parked.pop_front() {
                    state.calls += 1;
                    state.out.insert(serial, None);
                    waits.stop(&mut state);
                    self.refill(&mut state);
                    let pidfd = Arc::new(pidfd);
                    return Ok(Leased { nest: Arc::clone(self), serial, socket, pidfd });
                }
                waits.begin(&mut state);
                if has_asked && state.asked == 0 && state.not_born.take().is_some() {
                    return Err(NoCell::NotBorn);
                }
                // What failed for somebody before may go well now.
                if !has_asked {
                    state.not_born = None;
                }
                self.refill(&mut state);
                has_asked = true;
            }
            arrived.await;
        }
    }

    /// Asks for as many cells as are missing; in batches, so that the nursery is not woken for each.
    fn refill(&self, state: &mut State) {
        let (have, want) = (state.parked.len() + state.asked, self.target + state.waiting);
        if state.dead || have >= want || (state.waiting == 0 && have > self.target / 2) {
            return;
        }
        let missing = want - have;
        let Ok(count) = u32::try_from(missing) else { return };
        // A cell that somebody waits for has no time to rehearse, and thousands would take too much memory.
        let rehearse = state.waiting == 0 && REHEARSED.contains(&self.target);
        let Ok(order) = encode(&ToNursery::Fork { count, rehearse }) else { return };
        // When the order does not get through now, the next call tries again; when the nursery is gone, the reader
        // notices.
        if packets::send(&*self.control, &order, &[]).is_ok() {
            state.asked += missing;
        }
    }

    fn born(&self, serial: u64, descriptors: Vec<OwnedFd>) {
        let mut descriptors = descriptors.into_iter();
        let parked = descriptors.next().zip(descriptors.next()).and_then(|(socket, pidfd)| {
            packets::never_block(&socket).ok()?;
            let socket = UnixStream::from_std(socket.into()).ok()?;
            Some(Parked { serial, socket, pidfd })
        });
        let mut state = self.lock();
        state.asked = state.asked.saturating_sub(1);
        state.not_born = None;
        match parked {
            Some(parked) => state.parked.push_back(parked),
            // Out of descriptors on this side, which is as good as not born; the cell sees its socket close.
            None => state.not_born = Some(Errno::MFILE.raw_os_error()),
        }
        drop(state);
        self.arrived.notify_one();
    }

    fn heard(&self, message: FromNursery, descriptors: Vec<OwnedFd>) -> bool {
        match message {
            FromNursery::Born { serial } => self.born(serial, descriptors),
            FromNursery::NotBorn { errno } => {
                let mut state = self.lock();
                state.asked = state.asked.saturating_sub(1);
                state.not_born = Some(errno);
                drop(state);
                self.arrived.notify_one();
            }
            FromNursery::Ended(ended) => {
                let mut state = self.lock();
                let mut told = false;
                for one in ended {
                    if let Some(ending) = state.out.get_mut(&one.serial) {
                        *ending = Some(one.ending);
                        told = true;
                    } else {
                        // One that ended while it was parked: it must not be handed out.
                        state.parked.retain(|parked| parked.serial != one.serial);
                    }
                }
                drop(state);
                if told {
                    self.news.notify_waiters();
                }
            }
            // Neither belongs here once it is ready; what it says is no longer to be relied on.
            FromNursery::Started | FromNursery::Ready(_) | FromNursery::Failed { .. } => return false,
        }
        true
    }

    fn died(&self) {
        let mut state = self.lock();
        state.dead = true;
        state.parked.clear();
        drop(state);
        self.arrived.notify_waiters();
        self.news.notify_waiters();
    }

    /// How a cell ended that said nothing; none when its nursery is dead too or nothing is heard in time.
    pub(super) async fn ending(&self, serial: u64) -> Option<Ending> {
        let news = async {
            loop {
                let news = self.news.notified();
                tokio::pin!(news);
                news.as_mut().enable();
                {
                    let state = self.lock();
                    match state.out.get(&serial) {
                        Some(Some(ending)) => return Some(*ending),
                        _ if state.dead => return None,
                        _ => {}
                    }
                }
                news.await;
            }
        };
        tokio::time::timeout(NEWS, news).await.ok().flatten()
    }

    /// Whether the kernel has killed cells of this nursery for want of memory since this was last asked.
    pub(super) fn was_out_of_memory(&self) -> bool {
        self.process.was_out_of_memory()
    }

    /// Whether it died so young that the next one would too.
    pub(super) fn died_young(&self) -> bool {
        self.made.elapsed() < YOUNG
    }

    /// Kills the nursery itself, for tests of what happens then.
    pub(super) fn kill(&self) {
        self.process.kill();
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take() {
            reader.abort();
        }
    }
}

/// Counts a call among the waiting until it has a cell or gives up.
struct Waits<'a> {
    nest: &'a Nest,
    counted: bool,
}

impl Waits<'_> {
    fn begin(&mut self, state: &mut State) {
        if !self.counted {
            state.waiting += 1;
            self.counted = true;
        }
    }

    fn stop(&mut self, state: &mut State) {
        if self.counted {
            state.waiting = state.waiting.saturating_sub(1);
            self.counted = false;
        }
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if self.counted {
            let mut state = self.nest.lock();
            state.waiting = state.waiting.saturating_sub(1);
        }
    }
}

impl Leased {
    /// Kills the cell.
    pub(super) fn kill(&self) {
        // By its own handle: one that cannot be killed is gone.
        let _gone = bailiwick_sys::pidfd::kill(&*self.pidfd);
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        self.kill();
        self.nest.lock().out.remove(&self.serial);
    }
}

async fn read_news(control: Arc<UnixDatagram>, nest: Weak<Nest>, on_death: impl Fn(&Nest) + Send) {
    let mut buffer = vec![0; LARGEST_PACKET];
    loop {
        let received = control
            .async_io(Interest::READABLE, || {
                packets::receive(&*control, &mut buffer).map_err(|failed| std::io::Error::from(failed.errno))
            })
            .await;
        let Ok(packet) = received else { break };
        let Some(message) = buffer.get(4..packet.length) else { break };
        let Some(nest) = nest.upgrade() else { return };
        let Ok(message) = decode::<FromNursery>(message) else { break };
        if !nest.heard(message, packet.descriptors) {
            break;
        }
    }
    if let Some(nest) = nest.upgrade() {
        nest.died();
        nest.kill();
        on_death(&nest);
    }
}
