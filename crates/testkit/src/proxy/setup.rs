//! What a proxy knows before it starts: where targets lead, whom it lets in and what it refuses.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::dns::Table;
use crate::routes::Routes;

/// How a proxy refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// With this status.
    Status(u16),
    /// By closing the connection.
    HangUp,
    /// By saying nothing until the client goes away.
    Silence,
}

/// What a proxy does with its targets. Without more it refuses none and has names for none.
#[derive(Debug, Default)]
pub struct Setup {
    routes: Routes,
    names: Option<Arc<Table>>,
    authorities: HashMap<String, SocketAddr>,
    demanded: Option<String>,
    refusals: HashMap<String, Refusal>,
    refuses_all: Option<Refusal>,
}

impl Setup {
    /// A proxy that gets to addresses by this table.
    pub fn new(routes: Routes) -> Self {
        Self { routes, ..Self::default() }
    }

    /// With the addresses of names; each is sought in the routes, and the first that leads somewhere is taken.
    #[must_use]
    pub fn names(mut self, names: impl Into<Arc<Table>>) -> Self {
        self.names = Some(names.into());
        self
    }

    /// With a way from this host and port (`upstream.test:443`) to that real address, without names and routes.
    ///
    /// # Panics
    /// When the real one is not on loopback, unless the test is inside of a network of its own.
    #[must_use]
    pub fn authority(mut self, authority: &str, real: SocketAddr) -> Self {
        crate::routes::assert_near(real);
        self.authorities.insert(authority.to_ascii_lowercase(), real);
        self
    }

    /// Lets in only who sends exactly this as `Proxy-Authorization` (`Basic dXNlcjpwYXNz`); others get a 407.
    #[must_use]
    pub fn demand(mut self, authorization: &str) -> Self {
        self.demanded = Some(authorization.to_owned());
        self
    }

    /// Refuses this host and port.
    #[must_use]
    pub fn refuse(mut self, authority: &str, refusal: Refusal) -> Self {
        self.refusals.insert(authority.to_ascii_lowercase(), refusal);
        self
    }

    /// Refuses everything.
    #[must_use]
    pub fn refuse_all(mut self, refusal: Refusal) -> Self {
        self.refuses_all = Some(refusal);
        self
    }

    /// Where this host and port lead, for who sent this `Proxy-Authorization`.
    pub(super) fn decide(&self, authority: &str, authorization: Option<&str>) -> Result<SocketAddr, Refusal> {
        if self.demanded.is_some() && self.demanded.as_deref() != authorization {
            return Err(Refusal::Status(407));
        }
        let authority = authority.to_ascii_lowercase();
        if let Some(refusal) = self.refuses_all.or_else(|| self.refusals.get(&authority).copied()) {
            return Err(refusal);
        }
        if let Some(real) = self.authorities.get(&authority) {
            return Ok(*real);
        }
        self.lead(&authority).ok_or(Refusal::Status(502))
    }

    fn lead(&self, authority: &str) -> Option<SocketAddr> {
        let (host, port) = authority.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let addresses = match literal.parse::<IpAddr>() {
            Ok(address) => vec![address],
            // A name without an answer leads nowhere; why is the script's affair.
            Err(_) => self.names.as_ref()?.lookup(host).ok()?,
        };
        addresses.into_iter().find_map(|address| self.routes.lookup(SocketAddr::new(address, port)))
    }
}
