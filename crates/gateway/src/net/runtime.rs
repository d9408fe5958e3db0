//! What all calls share: how names are resolved, how connections are opened, whom we believe, and the proxy.
//!
//! It holds no connection and no answer: those belong to one call.

use std::net::SocketAddr;
use std::sync::Arc;

use super::dial::{Dial, SystemDial};
use super::proxy::UpstreamProxy;
use super::resolve::{Resolve, SystemResolve};
use super::tls::{Platform, RootsError, Tls};

/// The way to the network, one per runtime.
pub struct Net {
    pub(super) resolve: Arc<dyn Resolve>,
    pub(super) dial: Arc<dyn Dial>,
    pub(super) tls: Tls,
    pub(super) proxy: Option<UpstreamProxy>,
}

impl Net {
    /// By default: the machine's hosts file and name servers, its network and its root certificates, no proxy.
    pub fn builder() -> NetBuilder {
        NetBuilder::default()
    }

    /// Whether the address connected to is always the one that was checked. Not so with a proxy, which resolves names.
    pub fn is_pinned(&self) -> bool {
        self.proxy.is_none()
    }
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Net").field("proxy", &self.proxy).finish_non_exhaustive()
    }
}

/// Puts a [`Net`] together.
#[derive(Default)]
#[must_use]
pub struct NetBuilder {
    resolve: Option<Arc<dyn Resolve>>,
    dial: Option<Arc<dyn Dial>>,
    nameservers: Vec<SocketAddr>,
    extra_roots: Vec<String>,
    only_extra_roots: bool,
    proxy: Option<UpstreamProxy>,
}

impl NetBuilder {
    /// Resolves names in another way than the machine's.
    pub fn resolve(mut self, resolve: Arc<dyn Resolve>) -> Self {
        self.resolve = Some(resolve);
        self
    }

    /// Opens connections in another way than the machine's.
    pub fn dial(mut self, dial: Arc<dyn Dial>) -> Self {
        self.dial = Some(dial);
        self
    }

    /// Asks these name servers instead of the machine's.
    pub fn nameservers(mut self, nameservers: Vec<SocketAddr>) -> Self {
        self.nameservers = nameservers;
        self
    }

    /// Believes these root certificates too; one or more in PEM.
    pub fn extra_roots(mut self, pem: impl Into<String>) -> Self {
        self.extra_roots.push(pem.into());
        self
    }

    /// Believes only the extra root certificates, none of the platform's.
    pub fn only_extra_roots(mut self) -> Self {
        self.only_extra_roots = true;
        self
    }

    /// Sends everything through the operator's proxy.
    pub fn proxy(mut self, proxy: UpstreamProxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// The way to the network.
    pub fn build(self) -> Result<Net, RootsError> {
        let Self { resolve, dial, nameservers, extra_roots, only_extra_roots, proxy } = self;
        let platform = if only_extra_roots { Platform::Ignored } else { Platform::Believed };
        Ok(Net {
            resolve: resolve.unwrap_or_else(|| Arc::new(SystemResolve::new(nameservers))),
            dial: dial.unwrap_or_else(|| Arc::new(SystemDial)),
            tls: Tls::new(&extra_roots, platform)?,
            proxy,
        })
    }
}

impl std::fmt::Debug for NetBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetBuilder")
            .field("nameservers", &self.nameservers)
            .field("proxy", &self.proxy)
            .finish_non_exhaustive()
    }
}
