//! The room for connections: how many there are, in all and by address, and which of them makes room for a new one.
//!
//! A connection's caller is known only after its first request. So a connection is taken in while nothing is known of it, and
//! where there is no room the one goes that is idle, and of those the one of the lowest rank that has been idle for longest.
//! Ranks count only while an eighth of the room is left to connections of which nothing is known yet.
//! A connection over which an admitted request is under way never goes. Callers without a key may have such connections in
//! three quarters of the room, all but the operator in seven eighths: so an operator always finds one that goes.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bailiwick_core::Rank;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::Bounds;

/// Connections that are told why they are turned away, at once. More are closed without a word.
const TOLD_AT_ONCE: usize = 64;
/// Connections that were told to go and have not gone yet. While there are more, a new one is turned away.
const MOST_LEAVING: usize = 64;

/// Whom a connection is counted for: an address, or a network of IPv6 or all of loopback, since one machine has those.
pub(crate) fn counted_for(address: IpAddr) -> IpAddr {
    let address = address.to_canonical();
    if address.is_loopback() {
        return IpAddr::V4(Ipv4Addr::LOCALHOST);
    }
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let network = u128::from(address) & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from(network))
        }
    }
}

/// The room for connections.
#[derive(Debug)]
pub(super) struct Places {
    room: Arc<Mutex<Room>>,
    told: Arc<Semaphore>,
}

#[derive(Debug)]
struct Room {
    bounds: [usize; 3],
    taken: HashMap<u64, Taken>,
    by_peer: HashMap<IpAddr, Counted>,
    busy: usize,
    /// The number of the last connection, and the last moment: each use of a connection is one.
    last: u64,
    leaving: usize,
}

/// The connections of one address.
#[derive(Debug, Default, Clone, Copy)]
struct Counted {
    all: usize,
    busy: usize,
}

/// Too many connections of callers of this rank are busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowded;

/// How many of so many connections may be busy with requests of this rank.
fn busy_most(rank: Rank, of: usize) -> usize {
    match rank {
        Rank::Keyless => (of * 3 / 4).max(1),
        Rank::Keyed => (of * 7 / 8).max(1),
        Rank::Operator => of,
    }
}

/// A connection as others see it who need room.
#[derive(Debug)]
struct Taken {
    peer: IpAddr,
    /// The highest rank of a caller whose request came over it.
    rank: Option<Rank>,
    /// Admitted requests under way.
    under_way: usize,
    /// When it was last used.
    used: u64,
    goes: CancellationToken,
}

/// A connection's place; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) seat: Seat,
    goes: CancellationToken,
}

/// A connection's place as its requests see it; an extension of every request.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    room: Arc<Mutex<Room>>,
    number: u64,
}

/// A request under way over a connection, which therefore stays.
#[derive(Debug)]
pub(crate) struct Staying(Seat);

/// There is no place; whether there is room to say so.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) room: Option<OwnedSemaphorePermit>,
}

fn lock(room: &Mutex<Room>) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Places {
    pub(super) fn new(bounds: &Bounds) -> Self {
        let room = Room {
            bounds: [bounds.connections, bounds.per_peer, bounds.from_here].map(|bound| bound.max(1)),
            taken: HashMap::new(),
            by_peer: HashMap::new(),
            busy: 0,
            last: 0,
            leaving: 0,
        };
        Self { room: Arc::new(Mutex::new(room)), told: Arc::new(Semaphore::new(TOLD_AT_ONCE)) }
    }

    /// A place for a connection from there. Where there is none, an idle connection makes room.
    pub(super) fn take(&self, from: IpAddr) -> Result<Place, Refused> {
        let peer = counted_for(from);
        let mut room = lock(&self.room);
        let there_is_room = if room.counted(peer).all >= room.most_of(peer) {
            room.make_some(Some(peer))
        } else if room.taken.len() >= room.most() {
            room.make_some(None)
        } else {
            true
        };
        if !there_is_room {
            drop(room);
            return Err(Refused { room: Arc::clone(&self.told).try_acquire_owned().ok() });
        }
        let number = room.next();
        let goes = CancellationToken::new();
        let taken = Taken { peer, rank: None, under_way: 0, used: number, goes: goes.clone() };
        room.taken.insert(number, taken);
        let counted = room.by_peer.entry(peer).or_default();
        counted.all = counted.all.saturating_add(1);
        room.tell();
        drop(room);
        Ok(Place { seat: Seat { room: Arc::clone(&self.room), number }, goes })
    }
}

impl Room {
    fn most(&self) -> usize {
        let [connections, _, _] = self.bounds;
        connections
    }

    fn most_of(&self, peer: IpAddr) -> usize {
        let [_, per_peer, from_here] = self.bounds;
        if peer.is_loopback() { from_here } else { per_peer }
    }

    fn counted(&self, peer: IpAddr) -> Counted {
        self.by_peer.get(&peer).copied().unwrap_or_default()
    }

    fn next(&mut self) -> u64 {
        self.last = self.last.saturating_add(1);
        self.last
    }

    /// Tells an idle connection to go: of one address, or of any, and then of the address that has most. Tells whether one
    /// was found.
    fn make_some(&mut self, of: Option<IpAddr>) -> bool {
        if self.leaving >= MOST_LEAVING {
            return false;
        }
        let crowd = |peer: &IpAddr| usize::MAX - self.counted(*peer).all;
        let idle = || {
            let idle = self.taken.iter().filter(|(_, taken)| taken.under_way == 0);
            idle.filter(|(_, taken)| of.is_none_or(|peer| taken.peer == peer))
        };
        // A connection of which nothing is known counts like one without a key: its first request may still be on its way.
        let rank = |taken: &Taken| taken.rank.unwrap_or(Rank::Keyless);
        let most = of.map_or_else(|| self.most(), |peer| self.most_of(peer));
        let lowest = idle().filter(|(_, taken)| rank(taken) == Rank::Keyless).count();
        // Where hardly any of those are left, connections with a key go as well: else a new one would go before it is heard.
        let by_rank = lowest >= most / 8;
        let first = idle().min_by_key(|(_, taken)| {
            let rank = if by_rank { rank(taken) } else { Rank::Keyless };
            (rank, crowd(&taken.peer), taken.used)
        });
        let Some(number) = first.map(|(number, _)| *number) else { return false };
        let Some(taken) = self.remove(number) else { return false };
        taken.goes.cancel();
        self.leaving = self.leaving.saturating_add(1);
        metrics::counter!("bailiwick_http_connections_evicted_total").increment(1);
        true
    }

    fn remove(&mut self, number: u64) -> Option<Taken> {
        let taken = self.taken.remove(&number)?;
        let was_busy = usize::from(taken.under_way > 0);
        self.busy = self.busy.saturating_sub(was_busy);
        if let Some(counted) = self.by_peer.get_mut(&taken.peer) {
            counted.all = counted.all.saturating_sub(1);
            counted.busy = counted.busy.saturating_sub(was_busy);
            if counted.all == 0 {
                self.by_peer.remove(&taken.peer);
            }
        }
        Some(taken)
    }

    fn tell(&self) {
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
        metrics::gauge!("bailiwick_http_connections").set(self.taken.len() as f64);
    }
}

impl Place {
    /// Returns when this connection has to make room for another.
    pub(super) async fn has_to_go(&self) {
        self.goes.cancelled().await;
    }
}

impl Seat {
    /// A request of a caller of this rank is under way until what this gives is dropped. Refused where too many connections
    /// are busy with requests of such callers, and where this connection has to go.
    pub(crate) fn stay(&self, rank: Rank) -> Result<Staying, Crowded> {
        let mut guard = lock(&self.room);
        let room = &mut *guard;
        let now = room.next();
        let (most, busy) = (room.most(), room.busy);
        let peer = room.taken.get(&self.number).ok_or(Crowded)?.peer;
        let (most_of_peer, counted) = (room.most_of(peer), room.counted(peer));
        let taken = room.taken.get_mut(&self.number).ok_or(Crowded)?;
        if taken.under_way == 0 {
            if busy >= busy_most(rank, most) || counted.busy >= busy_most(rank, most_of_peer) {
                return Err(Crowded);
            }
            room.busy = room.busy.saturating_add(1);
            if let Some(counted) = room.by_peer.get_mut(&peer) {
                counted.busy = counted.busy.saturating_add(1);
            }
        }
        taken.rank = taken.rank.max(Some(rank));
        taken.under_way = taken.under_way.saturating_add(1);
        taken.used = now;
        Ok(Staying(self.clone()))
    }
}

impl Drop for Staying {
    fn drop(&mut self) {
        let mut guard = lock(&self.0.room);
        let room = &mut *guard;
        let now = room.next();
        let Some(taken) = room.taken.get_mut(&self.0.number) else { return };
        taken.under_way = taken.under_way.saturating_sub(1);
        taken.used = now;
        if taken.under_way == 0 {
            room.busy = room.busy.saturating_sub(1);
            if let Some(counted) = room.by_peer.get_mut(&taken.peer) {
                counted.busy = counted.busy.saturating_sub(1);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut room = lock(&self.seat.room);
        if room.remove(self.seat.number).is_none() {
            // It was told to go, and has gone.
            room.leaving = room.leaving.saturating_sub(1);
        }
        room.tell();
    }
}
