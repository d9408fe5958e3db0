//! May a granted request end at this address? Asked for every address a name resolved to, and for the one
//! connected to; the answer carries that very address, so there is no second look-up to win.

use std::net::{IpAddr, SocketAddr};

use bailiwick_types::{DenialReason, ErrorCode, LayerName};

use super::fetch::{FetchQuestion, FetchTarget, Reach, shown_request};
use super::fix::Widening;
use super::{Answers, Checked, Question, Refusal, Verdict};
use crate::host::{AddressClass, HostName, HostRule, PortRule, classify, views};
use crate::{Capability, EffectivePolicy, NetworkMode};

/// "May this granted request end at this address?"
#[derive(Debug, Clone, Copy)]
pub struct AddressQuestion<'a> {
    /// The request.
    pub target: &'a Checked<FetchTarget>,
    /// The address its name resolved to.
    pub address: IpAddr,
}

impl Question for AddressQuestion<'_> {
    type Granted = SocketAddr;

    fn judge(&self, policy: &EffectivePolicy, _answers: Answers) -> Verdict<SocketAddr> {
        let target = self.target.get();
        // The reach is this policy's, not the one the target was granted under: it may have been resolved again.
        let request = FetchQuestion { method: target.method().word(), url: target.url().as_str() };
        let reach = match request.judge(policy, Answers { net: true, fs: true }) {
            Verdict::Yes(target) | Verdict::Ask(target, ..) => target.reach(),
            Verdict::No(refusal) => return Verdict::No(refusal),
        };
        // A literal address is the address; nothing was resolved.
        let elsewhere =
            matches!(target.host(), HostName::Address(literal) if *literal != self.address.to_canonical());
        if elsewhere {
            return Verdict::No(Refusal {
                code: ErrorCode::NetDenied,
                capability: Capability::NetFetch,
                rule: "guard",
                layer: LayerName::Guard,
                reason: DenialReason::HostNotAllowed,
                candidates: Vec::new(),
            });
        }
        let Some(reason) = policy.address_reason(self.address, target.port(), reach) else {
            return Verdict::Yes(SocketAddr::new(self.address.to_canonical(), target.port()));
        };
        let (rule, layer) = match reason {
            DenialReason::HostNever => ("policy.hosts.never", LayerName::Baseline),
            _ => ("guard", LayerName::Guard),
        };
        Verdict::No(Refusal {
            code: ErrorCode::NetDenied,
            capability: Capability::NetFetch,
            rule,
            layer,
            reason,
            candidates: policy.widenings_for_address(target, reason),
        })
    }

    fn asked(&self) -> String {
        let target = self.target.get();
        format!("{} at {}", shown_request(target.method().word(), target.url().as_str()), self.address)
    }
}

impl EffectivePolicy {
    /// Why a request may not end at an address, if so.
    pub(super) fn address_reason(&self, address: IpAddr, port: u16, reach: Reach) -> Option<DenialReason> {
        let host = HostName::Address(address.to_canonical());
        if self.baseline.never.iter().any(|rule| rule.value.refuses(&host, port)) {
            return Some(DenialReason::HostNever);
        }
        let reserved = self.is_reserved_listed(&host, port);
        if self.is_own_listener(address, port) && !reserved {
            return Some(DenialReason::OwnListener);
        }
        match classify(address) {
            AddressClass::Unusable => Some(DenialReason::UnusableAddress),
            AddressClass::Metadata if !reserved => Some(DenialReason::MetadataAddress),
            // A metadata address that the operator opened is still not a public one.
            AddressClass::Private | AddressClass::Metadata if reach == Reach::Public => {
                Some(DenialReason::PrivateAddress)
            }
            AddressClass::Private | AddressClass::Metadata | AddressClass::Public => None,
        }
    }

    /// Whether the operator opened this reserved address. Without a port an entry means all of them.
    pub(super) fn is_reserved_listed(&self, host: &HostName, port: u16) -> bool {
        self.baseline.reserved.iter().any(|rule| {
            let fits = match rule.value.port {
                PortRule::Exact(exact) => exact == port,
                PortRule::SchemeDefault | PortRule::Any => true,
            };
            fits && rule.value.pattern().covers(HostRule::exact(host, PortRule::Any).pattern())
        })
    }

    fn is_own_listener(&self, address: IpAddr, port: u16) -> bool {
        is_listener(&self.baseline.own_listeners, address, port)
    }

    fn widenings_for_address(&self, target: &FetchTarget, reason: DenialReason) -> Vec<Widening> {
        if reason != DenialReason::PrivateAddress {
            return Vec::new();
        }
        if self.net.mode.value != NetworkMode::Allowlist {
            return vec![Widening { network: Some(NetworkMode::Open), ..Widening::default() }];
        }
        // As narrow as the rule that granted the request.
        let exact = HostRule::exact(target.host(), PortRule::Exact(target.port()));
        let rule = match target.granted_by() {
            Some(rule) => {
                HostRule { methods: rule.methods, paths: rule.paths.clone(), private: true, ..exact }
            }
            None => HostRule { private: true, ..exact },
        };
        vec![Widening { host: Some(rule), ..Widening::default() }]
    }
}

/// Whether one of us listens at an address; unspecified ones stand for every address that is not public.
pub(super) fn is_listener(listeners: &[SocketAddr], address: IpAddr, port: u16) -> bool {
    listeners.iter().any(|own| {
        own.port() == port
            && views(address).any(|view| {
                let own = own.ip().to_canonical();
                view == own || (own.is_unspecified() && classify(view) != AddressClass::Public)
            })
    })
}
