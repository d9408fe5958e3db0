//! The connections of one call: made to checked addresses only, used again within the call, gone with it.
//!
//! A connection is never used for another origin, nor by another call. Before one is used again, all addresses of
//! the name are judged again for the request at hand: the policy may have changed, or another rule may apply.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bailiwick_policy::{
    AddressQuestion, Answers, Checked, Decision, EffectivePolicy, FetchBounds, FetchTarget, HostName,
};
use bailiwick_types::{DenialReason, Refused};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::refusal::failed;
use super::resolve::Lookups;
use super::runtime::Net;

/// Where a connection leads: https or not, host, port.
pub(super) type Origin = (bool, HostName, u16);

/// The origin of a granted request.
pub(super) fn origin_of(target: &FetchTarget) -> Origin {
    (target.url().scheme() == "https", target.host().clone(), target.port())
}

/// `host`, or `host:port` where the port is not the scheme's own.
pub(super) fn authority_of(target: &FetchTarget) -> String {
    let usual = if target.url().scheme() == "https" { 443 } else { 80 };
    if target.port() == usual { target.host().to_string() } else { full_authority(target) }
}

fn full_authority(target: &FetchTarget) -> String {
    format!("{}:{}", target.host(), target.port())
}

/// A connection that a request can be sent on.
pub(super) enum Sender {
    /// HTTP/1.1: one request at a time.
    One(http1::SendRequest<Full<Bytes>>),
    /// HTTP/2: many at a time.
    Many(http2::SendRequest<Full<Bytes>>),
}

/// A connection for one request, and whether it served one before.
pub(super) struct Lease {
    pub(super) sender: Sender,
    pub(super) is_reused: bool,
}

/// All connections of one call.
pub(super) struct Connections {
    net: Arc<Net>,
    bounds: FetchBounds,
    lookups: Lookups,
    idle: Mutex<HashMap<Origin, Vec<Sender>>>,
    /// What drives the connections; dropped, and so ended, with the call.
    drivers: Arc<Mutex<JoinSet<()>>>,
}

/// Starts what a connection needs beside itself, as long as the call lasts.
#[derive(Clone)]
struct WithTheCall(Weak<Mutex<JoinSet<()>>>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for WithTheCall {
    fn execute(&self, future: F) {
        if let Some(drivers) = self.0.upgrade() {
            let mut drivers = drivers.lock().unwrap_or_else(PoisonError::into_inner);
            while drivers.try_join_next().is_some() {}
            drivers.spawn(future);
        }
    }
}

impl Connections {
    pub(super) fn new(net: Arc<Net>, bounds: FetchBounds) -> Self {
        Self { net, bounds, lookups: Lookups::default(), idle: Mutex::default(), drivers: Arc::default() }
    }

    pub(super) fn net(&self) -> &Net {
        &self.net
    }

    /// A connection for a granted request: one that is idle, or a new one.
    pub(super) async fn lease(
        &self,
        target: &Checked<FetchTarget>,
        policy: &EffectivePolicy,
    ) -> Result<Lease, Refused> {
        let until = Instant::now() + Duration::from_millis(self.bounds.connect_ms);
        let connecting = async {
            let addresses = self.addresses(target, policy).await?;
            if let Some(sender) = self.take_idle(&origin_of(target.get())).await {
                return Ok(Lease { sender, is_reused: true });
            }
            let sender = self.connect(target.get(), addresses, until).await?;
            if let Sender::Many(lane) = &sender {
                self.give_back(origin_of(target.get()), Sender::Many(lane.clone()));
            }
            Ok(Lease { sender, is_reused: false })
        };
        timeout_at(until, connecting).await.unwrap_or_else(|_| Err(self.too_slow(target.get())))
    }

    /// Gives a connection back after an answer was read to its end.
    pub(super) fn give_back(&self, origin: Origin, sender: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let place = idle.entry(origin).or_default();
        // One of many lanes is enough.
        if !(matches!(sender, Sender::Many(_)) && place.iter().any(|one| matches!(one, Sender::Many(_)))) {
            place.push(sender);
        }
    }

    fn too_slow(&self, target: &FetchTarget) -> Refused {
        let (host, limit) = (target.host(), self.bounds.connect_ms);
        failed(DenialReason::Timeout, format!("no connection to {host} within the {limit} ms it may take"))
    }

    /// The addresses a request may end at. One bad address among them refuses them all. With a proxy there are none.
    async fn addresses(
        &self,
        target: &Checked<FetchTarget>,
        policy: &EffectivePolicy,
    ) -> Result<Vec<Checked<SocketAddr>>, Refused> {
        if self.net.proxy.is_some() {
            return Ok(Vec::new());
        }
        let found: Vec<IpAddr> = match target.get().host() {
            HostName::Address(address) => vec![*address],
            HostName::Domain(name) => self
                .lookups
                .of(name, &*self.net.resolve)
                .await
                .map_err(|error| failed(DenialReason::DnsFailed, error.to_string()))?,
        };
        let mut checked = Vec::with_capacity(found.len());
        for address in found {
            // The person, if one has to be asked, was asked about the request.
            match policy.decide(&AddressQuestion { target, address }, Answers { net: true, fs: true }) {
                Decision::Allow(address) => checked.push(address),
                Decision::Deny(denial) => return Err(Refused::of(*denial)),
                Decision::Ask(_) => {
                    return Err(failed(DenialReason::NobodyToAsk, "an address cannot be asked about"));
                }
            }
        }
        Ok(checked)
    }

    async fn take_idle(&self, origin: &Origin) -> Option<Sender> {
        loop {
            let sender = {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                let place = idle.get_mut(origin)?;
                match place.last() {
                    Some(Sender::Many(lane)) if !lane.is_closed() => return Some(Sender::Many(lane.clone())),
                    _ => place.pop()?,
                }
            };
            match sender {
                Sender::Many(_) => {}
                // Also waits until it is done with the answer before.
                Sender::One(mut lane) => {
                    if lane.ready().await.is_ok() {
                        return Some(Sender::One(lane));
                    }
                }
            }
        }
    }

    async fn connect(
        &self,
        target: &FetchTarget,
        addresses: Vec<Checked<SocketAddr>>,
        until: Instant,
    ) -> Result<Sender, Refused> {
        let is_tls = target.url().scheme() == "https";
        let stream = match &self.net.proxy {
            None => self
                .net
                .dial_one_of(&full_authority(target), addresses, until)
                .await?
                .ok_or_else(|| self.too_slow(target))?,
            Some(proxy) => {
                let mut stream = self.net.dial_proxy(proxy, &self.lookups).await?;
                if is_tls {
                    proxy.tunnel(&mut stream, &full_authority(target)).await?;
                }
                stream
            }
        };
        if !is_tls {
            return self.speak_one(stream).await;
        }
        let host = match target.host() {
            HostName::Address(address) => address.to_string(),
            HostName::Domain(name) => name.clone(),
        };
        let stream = self.net.tls.over(&host, stream).await?;
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.speak_many(stream).await
        } else {
            self.speak_one(stream).await
        }
    }

    async fn speak_one<S>(&self, stream: S) -> Result<Sender, Refused>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, connection) = http1::Builder::new()
            .max_header_size(self.header_bytes())
            .max_headers(MOST_HEADERS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| broken(&error))?;
        self.drive(connection);
        Ok(Sender::One(sender))
    }

    async fn speak_many<S>(&self, stream: S) -> Result<Sender, Refused>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        // Twice the limit, so that what is a little over it is told as too large and not as a broken stream.
        let most = u32::try_from(self.header_bytes().saturating_mul(2)).unwrap_or(u32::MAX);
        let (sender, connection) = http2::Builder::new(self.executor())
            .max_header_list_size(most)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| broken(&error))?;
        self.drive(connection);
        Ok(Sender::Many(sender))
    }

    fn header_bytes(&self) -> usize {
        usize::try_from(self.bounds.header_bytes).unwrap_or(usize::MAX)
    }

    fn drive(&self, connection: impl Future<Output = hyper::Result<()>> + Send + 'static) {
        hyper::rt::Executor::execute(&self.executor(), async move {
            if let Err(error) = connection.await {
                // Whoever waits for an answer on it is told as well.
                tracing::debug!(%error, "a connection ended");
            }
        });
    }

    fn executor(&self) -> WithTheCall {
        WithTheCall(Arc::downgrade(&self.drivers))
    }
}

/// The most headers of an answer over HTTP/1.1.
const MOST_HEADERS: usize = 512;

/// What a broken exchange is told as.
pub(super) fn broken(error: &hyper::Error) -> Refused {
    if error.is_parse_too_large() {
        return failed(DenialReason::TooLarge, "the headers of the answer are larger than they may be");
    }
    if error.is_incomplete_message() {
        return failed(DenialReason::BadAnswer, "the connection was closed before the answer was complete");
    }
    failed(DenialReason::BadAnswer, format!("the exchange broke: {error}"))
}
