//! Where a pretended address really is: a table from addresses of the world to upstreams on loopback.
//!
//! A dialler under test asks the table instead of the network, and the table remembers what it was asked. An address
//! that is not in it leads nowhere: nothing real is ever dialled.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(test)]
mod tests;

/// Ends a test that would dial something real. In a network of its own (see [`crate::netns`]) nothing is.
#[track_caller]
pub(crate) fn assert_near(real: SocketAddr) {
    let is_near = real.ip().is_loopback() || crate::netns::inside();
    assert!(is_near, "{real} is not on loopback; tests dial nothing else");
}

/// The table; its clones are the same table.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    table: HashMap<SocketAddr, SocketAddr>,
    dialled: Vec<SocketAddr>,
}

impl Routes {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a way from this pretended address to that real one.
    ///
    /// # Panics
    /// When the real one is not on loopback, unless the test is inside of a network of its own.
    #[must_use]
    pub fn route(self, pretended: SocketAddr, real: SocketAddr) -> Self {
        assert_near(real);
        self.with(|inner| inner.table.insert(pretended, real));
        self
    }

    /// Where this address really is. It is remembered as dialled, also when it leads nowhere.
    pub fn lookup(&self, pretended: SocketAddr) -> Option<SocketAddr> {
        self.with(|inner| {
            inner.dialled.push(pretended);
            inner.table.get(&pretended).copied()
        })
    }

    /// Every address that was to be dialled so far, in order.
    pub fn dialled(&self) -> Vec<SocketAddr> {
        self.with(|inner| inner.dialled.clone())
    }

    fn with<Out>(&self, what: impl FnOnce(&mut Inner) -> Out) -> Out {
        what(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
