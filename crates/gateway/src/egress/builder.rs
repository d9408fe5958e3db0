//! Puts the egress of a server together: one for all its sandboxes, an outlet for each.

use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick_policy::{EgressPolicy, EgressScope, EgressTerms, HostRule};
use bailiwick_sandbox::{Egress, Network, Outlet, SandboxError, SandboxSpec, SpecError};
use tokio::sync::Semaphore;

use super::authority::Authority;
use super::ledger::Ledger;
use super::names::Names;
use super::outlet::Door;
use super::way::{EgressBounds, Shared, Way};
use crate::net::{Net, SealedSet};

/// How what goes through TLS is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Inspection {
    /// By the name of the server in a client's greeting. What is inside is nobody's but the two sides'.
    #[default]
    ServerName,
    /// By an authority of each sandbox's own, which programs inside believe: every request is seen.
    Authority,
}

type Seals = dyn Fn(&SandboxSpec) -> Result<SealedSet, SandboxError> + Send + Sync;

/// Puts a [`SandboxEgress`] together.
///
/// Everything is closed until said otherwise: no host is private, none is narrowed, TLS is judged by its server name only,
/// and there is no sealed secret.
#[must_use]
pub struct EgressBuilder {
    net: Arc<Net>,
    terms: EgressTerms,
    bounds: EgressBounds,
    inspection: Inspection,
    seals: Option<Arc<Seals>>,
}

impl EgressBuilder {
    /// Over this way to the network.
    pub fn new(net: Arc<Net>) -> Self {
        Self {
            net,
            terms: EgressTerms::default(),
            bounds: EgressBounds::SHIPPED,
            inspection: Inspection::ServerName,
            seals: None,
        }
    }

    /// Hosts never to be reached, whatever a spec names.
    pub fn never(mut self, rules: impl IntoIterator<Item = HostRule>) -> Self {
        self.terms.never.extend(rules);
        self
    }

    /// Where we listen ourselves; never reached either.
    pub fn own_listeners(mut self, listeners: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.terms.own_listeners.extend(listeners);
        self
    }

    /// Methods and paths of hosts: where a rule speaks of a host and port, a request must fit one of the rules. Without an
    /// authority, TLS to such a host is refused, since its requests cannot be seen.
    pub fn narrow(mut self, rules: impl IntoIterator<Item = HostRule>) -> Self {
        self.terms.narrowed.extend(rules);
        self
    }

    /// Hosts and ports whose addresses may be private ones, where a spec names them. It grants nothing by itself.
    pub fn private(mut self, rules: impl IntoIterator<Item = HostRule>) -> Self {
        self.terms.private.extend(rules);
        self
    }

    /// Other bounds.
    pub const fn bounds(mut self, bounds: EgressBounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Another way to look at TLS.
    pub const fn inspection(mut self, inspection: Inspection) -> Self {
        self.inspection = inspection;
        self
    }

    /// Who knows the sealed secrets of a sandbox; asked once for each, so that its placeholders are its own. A sandbox with
    /// any is refused without [`Inspection::Authority`], and so is a secret whose place is not a header.
    pub fn sealed_by(
        mut self,
        seals: impl Fn(&SandboxSpec) -> Result<SealedSet, SandboxError> + Send + Sync + 'static,
    ) -> Self {
        self.seals = Some(Arc::new(seals));
        self
    }

    /// The egress.
    pub fn build(self) -> SandboxEgress {
        let Self { net, terms, bounds, inspection, seals } = self;
        let shared = Arc::new(Shared::new(&bounds));
        SandboxEgress { net, terms: Arc::new(terms), bounds, inspection, seals, shared }
    }
}

impl std::fmt::Debug for EgressBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EgressBuilder").field("terms", &self.terms).finish_non_exhaustive()
    }
}

/// Makes the ways out of sandboxes.
pub struct SandboxEgress {
    net: Arc<Net>,
    terms: Arc<EgressTerms>,
    bounds: EgressBounds,
    inspection: Inspection,
    seals: Option<Arc<Seals>>,
    shared: Arc<Shared>,
}

impl SandboxEgress {
    fn sealed(&self, spec: &SandboxSpec) -> Result<SealedSet, SandboxError> {
        let Some(seals) = &self.seals else { return Ok(SealedSet::default()) };
        let sealed = seals(spec)?;
        let unheld = |what: String, fix: &str| SandboxError::Unenforceable {
            backend: "egress".to_owned(),
            unheld: vec![what],
            fix: fix.to_owned(),
        };
        if !sealed.is_empty() && self.inspection != Inspection::Authority {
            return Err(unheld(
                "sealed secrets (absent: without an authority of the sandbox nothing can be put into TLS)"
                    .to_owned(),
                "the operator has to opt into an authority for each sandbox",
            ));
        }
        if let Some(name) = sealed.beside_headers() {
            return Err(unheld(
                format!("the sealed secret `{name}` (absent: a command's secrets are put into headers only)"),
                "seal it `in: \"header:NAME\"`",
            ));
        }
        Ok(sealed)
    }
}

/// Which hosts the outlet of a sandbox with this network reaches, before the operator's word.
pub fn scope_of(network: &Network) -> Result<EgressScope, SpecError> {
    Ok(match network {
        Network::Full => EgressScope::AnyPublic,
        // Nothing is named by the other two, so nothing is reached.
        Network::Allow(_) | Network::Git | Network::None | Network::Host => {
            EgressScope::Listed(network.rules()?)
        }
    })
}

impl Egress for SandboxEgress {
    fn outlet(&self, spec: &SandboxSpec) -> Result<Arc<dyn Outlet>, SandboxError> {
        let scope = scope_of(&spec.network)?;
        let authority = match self.inspection {
            Inspection::ServerName => None,
            Inspection::Authority => Some(Authority::new().map_err(|error| SandboxError::Failed {
                step: "make an authority of the sandbox".to_owned(),
                reason: error.to_string(),
            })?),
        };
        let way = Way {
            net: self.net.clone(),
            policy: EgressPolicy::new(scope, self.terms.clone()),
            bounds: self.bounds,
            names: Names::new(self.bounds.names),
            ledger: Ledger::default(),
            turns: Arc::new(Semaphore::new(self.bounds.connections.min(Semaphore::MAX_PERMITS))),
            shared: self.shared.clone(),
            authority,
            sealed: Arc::new(self.sealed(spec)?),
        };
        Ok(Arc::new(Door { way: Arc::new(way) }))
    }
}

impl std::fmt::Debug for SandboxEgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxEgress")
            .field("terms", &self.terms)
            .field("inspection", &self.inspection)
            .finish_non_exhaustive()
    }
}
