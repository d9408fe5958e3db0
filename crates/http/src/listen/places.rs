//! How many connections there are, in all and by address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Bounds;

/// Connections that are told why they are turned away, at once. More are closed without a word.
const TOLD_AT_ONCE: usize = 64;

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
    all: Arc<Semaphore>,
    told: Arc<Semaphore>,
    by_peer: Arc<Mutex<HashMap<IpAddr, usize>>>,
    per_peer: usize,
    from_here: usize,
}

/// A connection's place; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _of_all: OwnedSemaphorePermit,
    by_peer: Arc<Mutex<HashMap<IpAddr, usize>>>,
    peer: IpAddr,
}

/// There is no place; whether there is room to say so.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) room: Option<OwnedSemaphorePermit>,
}

impl Places {
    pub(super) fn new(bounds: &Bounds) -> Self {
        // The other half is for the store, the cells and whatever calls reach out to.
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let half = usize::try_from(descriptors / 2).unwrap_or(usize::MAX);
        let all = bounds.connections.min(half).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(all)),
            told: Arc::new(Semaphore::new(TOLD_AT_ONCE)),
            by_peer: Arc::default(),
            per_peer: bounds.per_peer,
            from_here: bounds.from_here,
        }
    }

    /// A place for a connection from there.
    pub(super) fn take(&self, from: IpAddr) -> Result<Place, Refused> {
        let refused = || Refused { room: Arc::clone(&self.told).try_acquire_owned().ok() };
        let of_all = Arc::clone(&self.all).try_acquire_owned().map_err(|_| refused())?;
        let most = if from.is_loopback() { self.from_here } else { self.per_peer };
        let peer = counted_for(from);
        let mut by_peer = self.by_peer.lock().unwrap_or_else(PoisonError::into_inner);
        let count = by_peer.entry(peer).or_insert(0);
        if *count >= most {
            return Err(refused());
        }
        *count = count.saturating_add(1);
        drop(by_peer);
        Ok(Place { _of_all: of_all, by_peer: Arc::clone(&self.by_peer), peer })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut by_peer = self.by_peer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = by_peer.get_mut(&self.peer) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                by_peer.remove(&self.peer);
            }
        }
    }
}
