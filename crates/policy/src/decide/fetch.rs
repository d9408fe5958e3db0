//! May code make this request? The part of the guard that needs no name resolution.
//!
//! The order: is there a fetch at all; is it a URL we speak; the operator's `never`; addresses nobody may have;
//! the mode's rule; and for a literal address whether it is public. A name's addresses are judged one by one
//! by [`super::AddressQuestion`] after it was resolved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bailiwick_types::{DenialReason, ErrorCode, LayerName};
use std::sync::Arc;
use url::Url;

use super::fix::Widening;
use super::{Answers, Question, Refusal, Verdict};
use crate::effective::At;
use crate::host::{
    HostName, HostRule, METADATA_NAMES, PathGlob, PlainPath, PortRule, is_bad_port, is_loopback_name,
    plain_url_path, without_userinfo,
};
use crate::network::{Method, MethodSet};
use crate::{Capability, EffectivePolicy, NetworkMode};

/// "May I make this request?"
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchQuestion<'a> {
    /// The method, in any letter case.
    pub method: &'a str,
    /// The URL, as the guest wrote it.
    pub url: &'a str,
}

impl<'a> FetchQuestion<'a> {
    /// A GET request.
    pub const fn get(url: &'a str) -> Self {
        Self { method: "GET", url }
    }
}

/// Which addresses a granted request may end at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// Only public ones.
    Public,
    /// Private ones too; never those that hand out credentials or are our own.
    Private,
}

/// A request that policy granted, in the one spelling that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchTarget {
    method: Method,
    url: Url,
    host: HostName,
    port: u16,
    reach: Reach,
    granted_by: Option<Arc<HostRule>>,
    rule: String,
    layer: LayerName,
}

/// What a yes rests on.
struct Grant {
    reach: Reach,
    granted_by: Option<Arc<HostRule>>,
    rule: String,
    layer: LayerName,
}

impl FetchTarget {
    /// The entry of `hosts` that granted it, where one did.
    pub(super) fn granted_by(&self) -> Option<&HostRule> {
        self.granted_by.as_deref()
    }

    /// The method.
    pub const fn method(&self) -> Method {
        self.method
    }

    /// The URL after normalisation.
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// The host after normalisation.
    pub const fn host(&self) -> &HostName {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Which addresses it may end at.
    pub const fn reach(&self) -> Reach {
        self.reach
    }

    /// The rule that granted it, for people.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Whose rule that is.
    pub const fn layer(&self) -> &LayerName {
        &self.layer
    }
}

/// A URL we speak, taken apart.
struct Parsed {
    method: Method,
    url: Url,
    host: HostName,
    port: u16,
    default_port: u16,
}

/// A no with its rule, before it becomes a refusal.
type No = (DenialReason, &'static str, LayerName);

impl Question for FetchQuestion<'_> {
    type Granted = FetchTarget;

    fn judge(&self, policy: &EffectivePolicy, answers: Answers) -> Verdict<FetchTarget> {
        let parsed = match parse(self) {
            Ok(parsed) => parsed,
            // Without a request there is nothing to widen for.
            Err(reason) => return Verdict::No(refusal(reason, "guard", LayerName::Guard, Vec::new())),
        };
        let verdict = match policy.closed() {
            Some(no) => Err(no),
            None => policy.judge_request(&parsed),
        };
        match verdict {
            Ok(Grant { reach, granted_by, rule, layer }) => {
                let Parsed { method, url, host, port, default_port: _ } = parsed;
                let target = FetchTarget { method, url, host, port, reach, granted_by, rule, layer };
                policy.yes_or_ask(target, policy.net.ask, answers.net)
            }
            Err((reason, rule, layer)) => {
                let candidates = policy.widenings_for(&parsed, reason);
                Verdict::No(refusal(reason, rule, layer, candidates))
            }
        }
    }

    fn asked(&self) -> String {
        match Url::parse(self.url) {
            Ok(url) => shown_request(self.method, url.as_str()),
            Err(_) => shown_request(self.method, self.url),
        }
    }
}

impl FetchQuestion<'_> {
    /// The question with the whole address, as a person has to see it before a yes.
    pub fn in_full(&self) -> String {
        match Url::parse(self.url) {
            Ok(url) => request_line(self.method, url.as_str(), usize::MAX),
            Err(_) => request_line(self.method, self.url, usize::MAX),
        }
    }
}

/// The most characters of an address in a denial.
const MOST_SHOWN: usize = 300;

/// A request in one line, as a denial tells it and the record keeps it.
pub(super) fn shown_request(method: &str, url: &str) -> String {
    request_line(method, url, MOST_SHOWN)
}

/// A request in one line with so much of its address, without what stands before an `@`.
fn request_line(method: &str, url: &str, most: usize) -> String {
    let method: String = method.chars().take(20).collect();
    let url: String = without_userinfo(url).chars().take(most).collect();
    format!("{} {url}", method.to_ascii_uppercase())
}

fn refusal(reason: DenialReason, rule: &'static str, layer: LayerName, candidates: Vec<Widening>) -> Refusal {
    Refusal { code: ErrorCode::NetDenied, capability: Capability::NetFetch, rule, layer, reason, candidates }
}

/// The longest URL that is looked at.
const MOST_URL_BYTES: usize = 8 * 1024;

fn parse(question: &FetchQuestion<'_>) -> Result<Parsed, DenialReason> {
    if question.url.len() > MOST_URL_BYTES {
        return Err(DenialReason::BadUrl);
    }
    let url = Url::parse(question.url).map_err(|_| DenialReason::BadUrl)?;
    let default_port = match url.scheme() {
        "http" => 80,
        "https" => 443,
        _ => return Err(DenialReason::Scheme),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(DenialReason::Userinfo);
    }
    let host = url.host().ok_or(DenialReason::BadUrl)?;
    let host = HostName::from_url_host(&host).map_err(|_| DenialReason::BadUrl)?;
    let port = url.port().unwrap_or(default_port);
    if is_bad_port(port) {
        return Err(DenialReason::BadPort);
    }
    let method = Method::parse(question.method).ok_or(DenialReason::BadMethod)?;
    Ok(Parsed { method, url, host, port, default_port })
}

impl EffectivePolicy {
    /// Why there is no fetch at all, if so.
    fn closed(&self) -> Option<No> {
        (!self.powers.allowed.contains(Capability::NetFetch)).then(|| self.why_not(Capability::NetFetch))
    }

    fn judge_request(&self, parsed: &Parsed) -> Result<Grant, No> {
        let never = |rule: &crate::Sourced<Arc<HostRule>>| rule.value.refuses(&parsed.host, parsed.port);
        if self.baseline.never.iter().any(never) {
            return Err((DenialReason::HostNever, "policy.hosts.never", LayerName::Baseline));
        }
        if let HostName::Domain(name) = &parsed.host
            && METADATA_NAMES.contains(&name.as_str())
            && !self.is_reserved_listed(&parsed.host, parsed.port)
        {
            return Err((DenialReason::MetadataAddress, "guard", LayerName::Guard));
        }
        let granted = self.judge_mode(parsed)?;
        match &parsed.host {
            HostName::Address(address) => self.judge_literal(*address, parsed, granted),
            // Such a name is this machine by definition, so its addresses need no look-up to be judged.
            HostName::Domain(name) if is_loopback_name(name) => {
                let both = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
                both.into_iter()
                    .try_fold(granted, |granted, address| self.judge_literal(address, parsed, granted))
            }
            HostName::Domain(_) => Ok(granted),
        }
    }

    fn judge_mode(&self, parsed: &Parsed) -> Result<Grant, No> {
        let mode_layer = self.layer_name(self.net.mode.layer);
        match self.net.mode.value {
            NetworkMode::Blocked => Err((DenialReason::NetworkBlocked, "network", mode_layer)),
            NetworkMode::Strict => Ok(Grant {
                reach: Reach::Public,
                granted_by: None,
                rule: "network: strict".to_owned(),
                layer: mode_layer,
            }),
            NetworkMode::Open => Ok(Grant {
                reach: Reach::Private,
                granted_by: None,
                rule: "network: open".to_owned(),
                layer: mode_layer,
            }),
            NetworkMode::Allowlist => self.judge_hosts(parsed),
        }
    }

    fn judge_hosts(&self, parsed: &Parsed) -> Result<Grant, No> {
        let path = plain_url_path(parsed.url.path());
        let mut missed = DenialReason::HostNotAllowed;
        let mut best: Option<(Reach, &At<Arc<HostRule>>)> = None;
        for at in &self.net.hosts {
            let HostRule { pattern: _, port: _, methods, paths, private } = &*at.value;
            if !at.value.grants(&parsed.host, parsed.port, parsed.default_port) {
                continue;
            }
            if !methods.contains(parsed.method) {
                // A rule that missed only by its path says more.
                if missed == DenialReason::HostNotAllowed {
                    missed = DenialReason::MethodNotAllowed;
                }
                continue;
            }
            if let Err(reason) = path_fits(paths, &path) {
                missed = reason;
                continue;
            }
            let reach = if *private { Reach::Private } else { Reach::Public };
            if best.is_none_or(|(so_far, _)| reach > so_far) {
                best = Some((reach, at));
            }
        }
        match best {
            Some((reach, at)) => Ok(Grant {
                reach,
                granted_by: Some(at.value.clone()),
                rule: format!("hosts: {}", at.value.describe()),
                layer: self.layer_name(at.layer),
            }),
            None => Err((missed, "hosts", self.layer_name(self.net.mode.layer))),
        }
    }

    fn judge_literal(&self, address: IpAddr, parsed: &Parsed, granted: Grant) -> Result<Grant, No> {
        match self.address_reason(address, parsed.port, granted.reach) {
            None => Ok(granted),
            Some(DenialReason::HostNever) => {
                Err((DenialReason::HostNever, "policy.hosts.never", LayerName::Baseline))
            }
            Some(reason) => Err((reason, "guard", LayerName::Guard)),
        }
    }

    /// The widenings that could grant a request, the narrowest first.
    fn widenings_for(&self, parsed: &Parsed, reason: DenialReason) -> Vec<Widening> {
        let port = if parsed.port == parsed.default_port {
            PortRule::SchemeDefault
        } else {
            PortRule::Exact(parsed.port)
        };
        let plain = HostRule::exact(&parsed.host, port);
        let private = HostRule { private: true, port: PortRule::Exact(parsed.port), ..plain.clone() };
        let rules = match reason {
            DenialReason::MethodNotAllowed | DenialReason::PathNotAllowed => {
                // The rule that missed says whether the host is a private one; only what it lacks is added.
                let is_private = self
                    .net
                    .hosts
                    .iter()
                    .filter(|at| at.value.grants(&parsed.host, parsed.port, parsed.default_port))
                    .any(|at| at.value.private);
                let Some(path) = literal_path(&parsed.url) else { return Vec::new() };
                let methods = MethodSet::of([parsed.method]).unwrap_or(MethodSet::ALL);
                let rule = if is_private { private } else { plain };
                vec![HostRule { methods, paths: vec![path], ..rule }]
            }
            DenialReason::AmbiguousPath => return Vec::new(),
            // Listed, but not as private: as narrow as the entry that lists it.
            DenialReason::PrivateAddress if self.net.mode.value == NetworkMode::Allowlist => {
                let listed = self.judge_hosts(parsed).ok().and_then(|grant| grant.granted_by);
                let (methods, paths) =
                    listed.map_or((MethodSet::ALL, Vec::new()), |rule| (rule.methods, rule.paths.clone()));
                vec![HostRule { methods, paths, ..private }]
            }
            _ => vec![plain, private],
        };
        let remove_deny = self.powers.deny.contains(Capability::NetFetch).then_some(Capability::NetFetch);
        let to_list = match self.net.mode.value {
            NetworkMode::Blocked => Some(NetworkMode::Allowlist),
            NetworkMode::Allowlist => None,
            // Listing hosts here would take away all the others.
            NetworkMode::Strict | NetworkMode::Open => {
                return vec![Widening {
                    network: Some(NetworkMode::Open),
                    remove_deny,
                    ..Widening::default()
                }];
            }
        };
        rules
            .into_iter()
            .map(|rule| Widening { network: to_list, host: Some(rule), remove_deny, ..Widening::default() })
            .collect()
    }
}

/// The pattern for exactly the path of a URL, if a pattern can say that: a star in it would mean more.
fn literal_path(url: &Url) -> Option<PathGlob> {
    match plain_url_path(url.path()) {
        PlainPath::Plain(path) if !path.contains('*') => PathGlob::parse(&path).ok(),
        PlainPath::Plain(_) | PlainPath::Ambiguous => None,
    }
}

pub(super) fn path_fits(paths: &[PathGlob], path: &PlainPath) -> Result<(), DenialReason> {
    if paths.is_empty() {
        return Ok(());
    }
    match path {
        PlainPath::Ambiguous => Err(DenialReason::AmbiguousPath),
        PlainPath::Plain(plain) if paths.iter().any(|glob| glob.matches(plain)) => Ok(()),
        PlainPath::Plain(_) => Err(DenialReason::PathNotAllowed),
    }
}
