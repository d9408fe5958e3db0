//! May a command sandbox make this connection? Decided by what its spec names and by what the operator never lets out;
//! there is nobody to ask, and no layer of a tool to widen.
//!
//! The order: the ports and names that nobody may have, the operator's `never`, what the spec names, then for each
//! address of a name whether it is public. A refusal says what the spec would have to name.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bailiwick_types::{CapabilityName, Denial, DenialReason, ErrorCode, Fix, LayerName, RiskLevel};
use serde_json::json;
use url::Url;

use super::Checked;
use super::address::is_listener;
use super::fetch::path_fits;
use crate::host::{
    AddressClass, HostName, HostRule, METADATA_NAMES, PortRule, classify, is_bad_port, is_loopback_name,
    plain_url_path,
};
use crate::network::{Method, MethodSet};

/// The capability that a refused connection lacks.
const CONNECT: CapabilityName = CapabilityName::from_registry("net.connect");
/// The ports of a rule that names none.
const USUAL_PORTS: [u16; 2] = [80, 443];
/// The most characters of what was asked that a denial repeats.
const MOST_ASKED: usize = 300;

/// Which hosts a sandbox may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EgressScope {
    /// These; a rule without a port means 80 and 443.
    Listed(Vec<HostRule>),
    /// Any public one.
    AnyPublic,
}

/// What the operator says about every sandbox. Nothing in it widens what a spec names, but `private`, which says where
/// an allowed name may lead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressTerms {
    /// Hosts never to be reached.
    pub never: Vec<HostRule>,
    /// Where one of these speaks of a host and port, a request must fit one of them in method and path.
    pub narrowed: Vec<HostRule>,
    /// Hosts and ports whose addresses need not be public. Metadata addresses and our own listeners stay closed.
    pub private: Vec<HostRule>,
    /// Where we listen ourselves.
    pub own_listeners: Vec<SocketAddr>,
}

/// What the connections of one sandbox are held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressPolicy {
    scope: EgressScope,
    terms: Arc<EgressTerms>,
}

/// A host and port that may be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressTarget {
    host: HostName,
    port: u16,
}

impl EgressTarget {
    /// The host, in the one spelling that was checked.
    pub const fn host(&self) -> &HostName {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl std::fmt::Display for EgressTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A request that may be sent to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressRequest {
    method: String,
    url: Url,
}

impl EgressRequest {
    /// The method, as it was written.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The URL after normalisation: what was judged, and so what is sent.
    pub const fn url(&self) -> &Url {
        &self.url
    }
}

/// A yes with its proof, or a no.
pub type EgressDecision<T> = Result<Checked<T>, Box<Denial>>;

impl EgressPolicy {
    /// Of what a spec names and what the operator says.
    pub const fn new(scope: EgressScope, terms: Arc<EgressTerms>) -> Self {
        Self { scope, terms }
    }

    /// What a spec names.
    pub const fn scope(&self) -> &EgressScope {
        &self.scope
    }

    /// The ports that rules name, in order; 80 and 443 are always among them.
    pub fn ports(&self) -> Vec<u16> {
        let mut ports = USUAL_PORTS.to_vec();
        if let EgressScope::Listed(rules) = &self.scope {
            ports.extend(rules.iter().filter_map(|rule| match rule.port {
                PortRule::Exact(port) if !is_bad_port(port) => Some(port),
                PortRule::Exact(_) | PortRule::SchemeDefault | PortRule::Any => None,
            }));
        }
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Whether a name may be resolved at all: whether it can be reached at some port.
    pub fn resolve(&self, host: &HostName) -> EgressDecision<HostName> {
        let asked = || format!("resolve {host}");
        if let Some(reason) = forbidden_name(host) {
            return Err(no(&asked(), "guard", LayerName::Guard, reason, None));
        }
        // A refusal of one port leaves the others.
        let refuses =
            |rule: &HostRule| !matches!(rule.port, PortRule::Exact(_)) && rule.pattern.refuses(host);
        if self.terms.never.iter().any(refuses) {
            return Err(never(&asked()));
        }
        let granted = match &self.scope {
            EgressScope::AnyPublic => true,
            EgressScope::Listed(rules) => rules.iter().any(|rule| rule.pattern.grants(host)),
        };
        if granted { Ok(Checked(host.clone())) } else { Err(self.not_listed(&asked(), host, 443)) }
    }

    /// Whether a host may be connected to at a port. Its addresses are judged by [`Self::address`].
    pub fn connect(&self, host: &HostName, port: u16) -> EgressDecision<EgressTarget> {
        let asked = || format!("connect {host}:{port}");
        if is_bad_port(port) {
            return Err(no(&asked(), "guard", LayerName::Guard, DenialReason::BadPort, None));
        }
        if let Some(reason) = forbidden_name(host) {
            return Err(no(&asked(), "guard", LayerName::Guard, reason, None));
        }
        if self.terms.never.iter().any(|rule| rule.refuses(host, port)) {
            return Err(never(&asked()));
        }
        let granted = match &self.scope {
            EgressScope::AnyPublic => true,
            EgressScope::Listed(rules) => rules.iter().any(|rule| speaks_of(rule, host, port)),
        };
        if !granted {
            return Err(self.not_listed(&asked(), host, port));
        }
        let target = EgressTarget { host: host.clone(), port };
        if let HostName::Address(address) = host {
            self.judge_address(&target, *address)?;
        }
        Ok(Checked(target))
    }

    /// Whether a connection may end at an address that its host has; the answer carries that very address.
    pub fn address(&self, target: &Checked<EgressTarget>, address: IpAddr) -> EgressDecision<SocketAddr> {
        let target = target.get();
        if let HostName::Address(literal) = target.host()
            && *literal != address.to_canonical()
        {
            let asked = format!("connect {target} at {address}");
            return Err(no(&asked, "guard", LayerName::Guard, DenialReason::HostMismatch, None));
        }
        self.judge_address(target, address)?;
        Ok(Checked(SocketAddr::new(address.to_canonical(), target.port())))
    }

    /// Whether requests that nobody can see may be made over a connection.
    pub fn tunnel(&self, target: &Checked<EgressTarget>) -> Result<(), Box<Denial>> {
        let target = target.get();
        let hidden = self.narrowed(target).any(|rule| !is_wide(rule));
        if hidden {
            let asked = format!("connect {target}");
            return Err(no(&asked, "narrowed", LayerName::Baseline, DenialReason::HiddenRequest, None));
        }
        Ok(())
    }

    /// Whether a request may be made over a connection, by its method and path.
    pub fn request(
        &self,
        target: &Checked<EgressTarget>,
        method: &str,
        url: Url,
    ) -> EgressDecision<EgressRequest> {
        let path = plain_url_path(url.path());
        let mut missed = None;
        let mut fits = false;
        for rule in self.narrowed(target.get()) {
            let has_method = rule.methods == MethodSet::ALL
                || Method::parse(method)
                    .is_some_and(|known| known.word() == method && rule.methods.contains(known));
            if !has_method {
                missed = missed.or(Some(DenialReason::MethodNotAllowed));
            } else if let Err(reason) = path_fits(&rule.paths, &path) {
                missed = Some(reason);
            } else {
                fits = true;
            }
        }
        match missed {
            Some(reason) if !fits => {
                let shown: String = method.chars().take(20).collect();
                Err(no(&format!("{shown} {url}"), "narrowed", LayerName::Baseline, reason, None))
            }
            _ => Ok(Checked(EgressRequest { method: method.to_owned(), url })),
        }
    }

    /// A no of the guard, for what only whoever reads the bytes can see.
    pub fn refuse(&self, asked: impl Into<String>, reason: DenialReason) -> Box<Denial> {
        no(&asked.into(), "guard", LayerName::Guard, reason, None)
    }

    fn narrowed<'a>(&'a self, target: &'a EgressTarget) -> impl Iterator<Item = &'a HostRule> {
        self.terms.narrowed.iter().filter(|rule| speaks_of(rule, &target.host, target.port))
    }

    fn judge_address(&self, target: &EgressTarget, address: IpAddr) -> Result<(), Box<Denial>> {
        let asked = || match target.host() {
            HostName::Address(_) => format!("connect {target}"),
            HostName::Domain(_) => format!("connect {target} at {address}"),
        };
        let host = HostName::Address(address.to_canonical());
        if self.terms.never.iter().any(|rule| rule.refuses(&host, target.port)) {
            return Err(never(&asked()));
        }
        let may_be_private =
            || self.terms.private.iter().any(|rule| speaks_of(rule, &target.host, target.port));
        let reason = if is_listener(&self.terms.own_listeners, address, target.port) {
            Some(DenialReason::OwnListener)
        } else {
            match classify(address) {
                AddressClass::Unusable => Some(DenialReason::UnusableAddress),
                AddressClass::Metadata => Some(DenialReason::MetadataAddress),
                AddressClass::Private if !may_be_private() => Some(DenialReason::PrivateAddress),
                AddressClass::Private | AddressClass::Public => None,
            }
        };
        match reason {
            None => Ok(()),
            Some(reason) => Err(no(&asked(), "guard", LayerName::Guard, reason, None)),
        }
    }

    fn not_listed(&self, asked: &str, host: &HostName, port: u16) -> Box<Denial> {
        let EgressScope::Listed(rules) = &self.scope else {
            return no(asked, "network", LayerName::Sandbox, DenialReason::HostNotAllowed, None);
        };
        // What is private can be named by no spec.
        let is_public = match host {
            HostName::Domain(_) => true,
            HostName::Address(address) => classify(*address) == AddressClass::Public,
        };
        let fix = is_public.then(|| {
            let mut hosts: Vec<String> = rules.iter().map(ToString::to_string).collect();
            hosts.push(format!("{host}:{port}"));
            Fix { overrides: json!({"network": format!("allow:{}", hosts.join(","))}), risk: RiskLevel::L3 }
        });
        no(asked, "network", LayerName::Sandbox, DenialReason::HostNotAllowed, fix)
    }
}

fn never(asked: &str) -> Box<Denial> {
    no(asked, "policy.hosts.never", LayerName::Baseline, DenialReason::HostNever, None)
}

/// Names that lead to where nobody may go, whatever they resolve to.
fn forbidden_name(host: &HostName) -> Option<DenialReason> {
    match host {
        HostName::Domain(name) if METADATA_NAMES.contains(&name.as_str()) => {
            Some(DenialReason::MetadataAddress)
        }
        HostName::Domain(name) if is_loopback_name(name) => Some(DenialReason::PrivateAddress),
        HostName::Domain(_) | HostName::Address(_) => None,
    }
}

/// Whether a rule says anything of this host and port: without a port it means both usual ones.
fn speaks_of(rule: &HostRule, host: &HostName, port: u16) -> bool {
    USUAL_PORTS.into_iter().any(|usual| rule.grants(host, port, usual))
}

/// Whether a rule narrows nothing.
fn is_wide(rule: &HostRule) -> bool {
    rule.methods == MethodSet::ALL && rule.paths.is_empty()
}

fn no(
    asked: &str,
    rule: &'static str,
    layer: LayerName,
    reason: DenialReason,
    fix: Option<Fix>,
) -> Box<Denial> {
    let asked = asked.chars().take(MOST_ASKED).collect();
    Box::new(Denial {
        code: ErrorCode::NetDenied,
        capability: CONNECT,
        asked,
        rule: rule.to_owned(),
        layer,
        reason,
        fix,
    })
}
