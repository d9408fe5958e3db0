//! The requests of one call. Start at [`Fetches::fetch`].
//!
//! Every hop goes through the whole guard: decide, ask where a grant says so, put sealed values in, resolve, check
//! every address, connect to one of those. The time a person takes to answer is not the request's.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bailiwick_policy::{
    Capability, Checked, Decision, EffectivePolicy, FetchBounds, FetchQuestion, FetchTarget,
};
use bailiwick_redact::Redactor;
use bailiwick_types::{
    Bytes as Body, DenialReason, ErrorCode, FetchAnswer, FetchRequest, RedirectMode, Refused,
};
use http::header::LOCATION;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use super::canned::Canned;
use super::connect::Connections;
use super::exchange::{self, Reply};
use super::headers::{self, text_of};
use super::hop::{Hop, is_redirect};
use super::refusal::{failed, guard, malformed};
use super::runtime::Net;
use super::sealed::{SealedSet, Sent};
use super::usage::{Counters, Usage};
use crate::person::{Answered, Person};

/// A body up to this length is searched for sealed values where it is.
const SEARCHED_HERE: usize = 64 * 1024;

/// Where requests go.
#[derive(Debug)]
pub enum Transport {
    /// To the network.
    Real(Arc<Net>),
    /// Nowhere: an example answers.
    Canned(Canned),
}

/// What the requests of a call are held to.
pub struct Terms {
    /// What the call may do; its limits on requests are taken from here too.
    pub policy: Arc<EffectivePolicy>,
    /// The bounds of one request; [`FetchBounds::SHIPPED`] outside of tests.
    pub bounds: FetchBounds,
    /// What a person said yes to in this call.
    pub answered: Arc<Answered>,
    /// Who is asked.
    pub person: Arc<dyn Person>,
    /// The sealed secrets of the call.
    pub sealed: Arc<SealedSet>,
    /// What is kept out of logs: the secrets that the code can read.
    pub redactor: Redactor,
}

enum Way {
    Real(Box<Connections>),
    Canned(Canned),
}

/// The requests of one call. Its connections end with it.
pub struct Fetches {
    way: Way,
    policy: RwLock<Arc<EffectivePolicy>>,
    most: u64,
    turns: Semaphore,
    bounds: FetchBounds,
    answered: Arc<Answered>,
    person: Arc<dyn Person>,
    sealed: Arc<SealedSet>,
    redactor: Redactor,
    counters: Counters,
}

impl std::fmt::Debug for Fetches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetches").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

/// What came of one hop.
enum Came {
    Redirect { status: u16, location: String },
    Answer { reply: Box<Reply>, body: Vec<u8> },
}

impl Fetches {
    /// For one call.
    pub fn new(transport: Transport, terms: Terms) -> Self {
        let Terms { policy, bounds, answered, person, sealed, redactor } = terms;
        let (most, at_once) = (policy.limits().fetches.get(), policy.limits().fetches_at_once.get());
        let way = match transport {
            Transport::Real(net) => Way::Real(Box::new(Connections::new(net, bounds))),
            Transport::Canned(canned) => Way::Canned(canned),
        };
        Self {
            way,
            policy: RwLock::new(policy),
            most,
            turns: Semaphore::new(usize::try_from(at_once).unwrap_or(Semaphore::MAX_PERMITS)),
            bounds,
            answered,
            person,
            sealed,
            redactor,
            counters: Counters::default(),
        }
    }

    /// Replaces the policy: what is decided from now on is decided by it. The limits stay.
    pub fn set_policy(&self, policy: Arc<EffectivePolicy>) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    /// What the call's requests came to so far.
    pub fn usage(&self) -> Usage {
        self.counters.usage()
    }

    /// Whether the addresses connected to are the ones that were checked; nothing when none was connected to. Not so
    /// behind the operator's proxy, which resolves names itself; the receipt says so then.
    pub fn is_pinned(&self) -> Option<bool> {
        match &self.way {
            Way::Real(connections) if self.usage().bytes_out > 0 => Some(connections.net().is_pinned()),
            Way::Real(_) | Way::Canned(_) => None,
        }
    }

    /// Makes a request. Dropping the future ends it, wherever it is.
    pub async fn fetch(&self, request: FetchRequest) -> Result<FetchAnswer, Refused> {
        let method: String = request.method.chars().take(20).collect();
        let span = tracing::info_span!(
            "fetch",
            method,
            host = tracing::field::Empty,
            status = tracing::field::Empty,
            refused = tracing::field::Empty
        );
        match self.run(request).instrument(span.clone()).await {
            Ok(answer) => {
                span.record("status", answer.status);
                metrics::counter!("bailiwick_fetch_total").increment(1);
                Ok(answer)
            }
            Err(refused) => {
                span.record("refused", &*refused.reason);
                metrics::counter!("bailiwick_fetch_refused_total", "reason" => refused.reason.clone())
                    .increment(1);
                Err(self.sealed.clean_refused(refused))
            }
        }
    }

    async fn run(&self, request: FetchRequest) -> Result<FetchAnswer, Refused> {
        if !self.counters.begin(self.most) {
            let message = format!("this call made the {} requests it may make", self.most);
            return Err(Refused::failed(ErrorCode::FetchLimit, "fetch-limit", message)
                .with_hint("fetch less, or raise `fetches` under `limits` of the tool"));
        }
        let FetchRequest { method, url, headers, body, redirect, max_bytes, offset } = request;
        let body = body.map(|Body(bytes)| bytes::Bytes::from(bytes));
        if let Some(body) = &body {
            if matches!(method.as_str(), "GET" | "HEAD") {
                return Err(malformed("body-not-allowed", format!("a {method} request has no body")));
            }
            if body.len() as u64 > self.bounds.body_bytes {
                let most = self.bounds.body_bytes;
                let message = format!("the body of the request is larger than the {most} bytes it may have");
                return Err(failed(DenialReason::TooLarge, message));
            }
        }
        let headers = headers::read(&headers, !self.sealed.is_empty())?;
        let mut hop = Hop { method, url, headers, body };
        let _turn = self
            .turns
            .acquire()
            .await
            .map_err(|_| Refused::failed(ErrorCode::Cancelled, "cancelled", "the call has ended"))?;
        let mut until = Instant::now() + Duration::from_millis(self.bounds.total_ms);
        let mut redirects = 0;
        loop {
            let asked_at = Instant::now();
            let target = self.granted(&hop).await?;
            until += asked_at.elapsed();
            let host = target.get().host().to_string();
            tracing::Span::current().record("host", &*self.redactor.redact(&self.sealed.clean(host)));
            let sent = self.put_in(&hop, &target).await?;
            let one = self.one(&hop, &target, &sent, redirect);
            let came = timeout_at(until, one).await.unwrap_or_else(|_| {
                let (host, limit) = (target.get().host(), self.bounds.total_ms);
                let message = format!("no whole answer from {host} within the {limit} ms a request may take");
                Err(failed(DenialReason::Timeout, message))
            })?;
            match came {
                Came::Answer { reply, body } => {
                    let url = target.get().url().to_string();
                    // Whole first, a part afterwards: half a value would not be found.
                    let body = self.cleaned(body).await?;
                    return Ok(self.answer(*reply, body, url, redirects > 0, offset, max_bytes));
                }
                Came::Redirect { status, location } => {
                    let method = hop.method.clone();
                    hop = hop.follow(target.get(), status, &location, |value| {
                        self.sealed.holds_placeholder(value.as_bytes())
                    })?;
                    redirects += 1;
                    if redirects > self.bounds.redirects {
                        return Err(guard(DenialReason::TooManyRedirects, &hop.method, &hop.url));
                    }
                    self.sealed.check_echo(&method, &location, &hop.url)?;
                }
            }
        }
    }

    /// A body without any sealed value. A long one is searched elsewhere, so that nobody's deadline waits for it.
    async fn cleaned(&self, body: Vec<u8>) -> Result<Vec<u8>, Refused> {
        if self.sealed.is_empty() || body.len() < SEARCHED_HERE {
            return Ok(self.sealed.clean_bytes(body));
        }
        let sealed = Arc::clone(&self.sealed);
        tokio::task::spawn_blocking(move || sealed.clean_bytes(body))
            .await
            .map_err(|_| Refused::failed(ErrorCode::Cancelled, "cancelled", "the call has ended"))
    }

    /// The request with sealed values in their places; likewise.
    async fn put_in(&self, hop: &Hop, target: &Checked<FetchTarget>) -> Result<Sent, Refused> {
        if self.sealed.is_empty() || hop.body.as_ref().is_none_or(|body| body.len() < SEARCHED_HERE) {
            return self.sealed.put_in(hop, target.get());
        }
        let (sealed, hop, target) = (Arc::clone(&self.sealed), hop.clone(), target.get().clone());
        tokio::task::spawn_blocking(move || sealed.put_in(&hop, &target))
            .await
            .map_err(|_| Refused::failed(ErrorCode::Cancelled, "cancelled", "the call has ended"))?
    }

    fn policy(&self) -> Arc<EffectivePolicy> {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The policy's yes to a hop, and a person's where one has to be asked.
    async fn granted(&self, hop: &Hop) -> Result<Checked<FetchTarget>, Refused> {
        let question = FetchQuestion { method: &hop.method, url: &hop.url };
        match self.policy().decide(&question, self.answered.answers()) {
            Decision::Allow(target) => return Ok(target),
            Decision::Deny(denial) => return Err(Refused::of(*denial)),
            Decision::Ask(_) => {}
        }
        let _turn = self.answered.turn().await;
        // Another's yes may have come while this one waited.
        match self.policy().decide(&question, self.answered.answers()) {
            Decision::Allow(target) => Ok(target),
            Decision::Deny(denial) => Err(Refused::of(*denial)),
            Decision::Ask(pending) => {
                let capability = Capability::NetFetch.denial_name();
                let effect = self.sealed.clean_cut(&question.in_full());
                self.answered.ask(&*self.person, pending, ErrorCode::NetDenied, capability, effect).await
            }
        }
    }

    /// Sends one hop and reads what comes, up to the body of what is not followed.
    async fn one(
        &self,
        hop: &Hop,
        target: &Checked<FetchTarget>,
        sent: &Sent,
        redirect: RedirectMode,
    ) -> Result<Came, Refused> {
        self.counters.went_out(sent.url.as_str().len() + headers::size(&sent.headers) + sent.body.len());
        let (reply, connections) = match &self.way {
            Way::Real(connections) => {
                let policy = self.policy();
                let reply = exchange::send(connections, target, &policy, sent, self.bounds).await?;
                (reply, Some(&**connections))
            }
            Way::Canned(canned) => (self.canned(canned, hop, target.get())?, None),
        };
        self.counters.came_in(headers::size(&reply.headers));
        if is_redirect(reply.status)
            && let Some(location) = reply.headers.get(LOCATION)
        {
            match redirect {
                RedirectMode::Manual => {}
                RedirectMode::Error => {
                    let message =
                        format!("{} redirects, and the request says that none is followed", hop.url);
                    return Err(Refused::failed(ErrorCode::NetFailed, "redirect", message)
                        .with_hint("use `redirect: \"follow\"` or `\"manual\"`"));
                }
                RedirectMode::Follow => {
                    let location = std::str::from_utf8(location.as_bytes())
                        .map_or_else(|_| text_of(location.as_bytes()), str::to_owned);
                    return Ok(Came::Redirect { status: reply.status, location });
                }
            }
        }
        let Reply { status, status_text, headers, body } = reply;
        let must_decode = !self.sealed.is_empty();
        let body =
            exchange::read(connections, &headers, body, self.bounds, must_decode, &self.counters).await?;
        let rest = Reply { status, status_text, headers, body: exchange::Coming::Here(Vec::new()) };
        Ok(Came::Answer { reply: Box::new(rest), body })
    }

    fn canned(&self, canned: &Canned, hop: &Hop, target: &FetchTarget) -> Result<Reply, Refused> {
        let headers: Vec<(String, String)> = hop
            .headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), self.sealed.masked(&text_of(value.as_bytes()))))
            .collect();
        let body = hop.body.as_deref().unwrap_or_default();
        let masked = match std::str::from_utf8(body) {
            Ok(text) => self.sealed.masked(text).into_bytes(),
            Err(_) => body.to_vec(),
        };
        canned.reply(target.method().word(), &self.sealed.masked(target.url().as_str()), &headers, &masked)
    }

    /// The answer as the guest sees it: no sealed value in it, and only the part it wants.
    fn answer(
        &self,
        reply: Reply,
        body: Vec<u8>,
        url: String,
        redirected: bool,
        offset: u64,
        max_bytes: Option<u64>,
    ) -> FetchAnswer {
        let whole = body.len() as u64;
        let from = usize::try_from(offset.min(whole)).unwrap_or(usize::MAX);
        let most = usize::try_from(max_bytes.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let part = match (from, most.checked_add(from)) {
            (0, None) => body,
            _ => body.into_iter().skip(from).take(most).collect(),
        };
        let headers = reply
            .headers
            .iter()
            // A name cannot hold a mask.
            .filter(|(name, _)| self.sealed.clean(name.as_str().to_owned()) == name.as_str())
            .map(|(name, value)| {
                let value = self.sealed.clean_header(value.as_bytes());
                (name.as_str().to_owned(), text_of(&value))
            })
            .collect();
        FetchAnswer {
            status: reply.status,
            status_text: self.sealed.clean(reply.status_text),
            url: self.sealed.clean(url),
            redirected,
            headers,
            body: Body(part),
            whole,
        }
    }
}
