//! Ways to the network for those who do not fetch: names to addresses, checked addresses to connections, TLS.
//!
//! Nothing here judges, and nothing here opens a connection without a proof; the operator's proxy needs none.

use std::net::{IpAddr, SocketAddr};

use bailiwick_policy::Checked;
use bailiwick_types::{DenialReason, Refused};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::client::TlsStream;

use super::proxy::UpstreamProxy;
use super::refusal::failed;
use super::resolve::Lookups;
use super::runtime::Net;

impl Net {
    /// All addresses of a name, looked up now. Whoever asks has to judge every one of them.
    pub(crate) async fn addresses_of(&self, name: &str) -> Result<Vec<IpAddr>, Refused> {
        Lookups::default()
            .of(name, &*self.resolve)
            .await
            .map_err(|error| failed(DenialReason::DnsFailed, error.to_string()))
    }

    /// One address after the other; each may take its share of the time that is left. None when time ran out.
    pub(crate) async fn dial_one_of(
        &self,
        authority: &str,
        addresses: Vec<Checked<SocketAddr>>,
        until: Instant,
    ) -> Result<Option<TcpStream>, Refused> {
        let count = addresses.len();
        let mut last = None;
        for (index, address) in addresses.into_iter().enumerate() {
            let now = Instant::now();
            let share =
                until.saturating_duration_since(now) / u32::try_from(count - index).unwrap_or(u32::MAX);
            match timeout_at(now + share, self.dial.dial(address)).await {
                Ok(Ok(stream)) => return Ok(Some(stream)),
                Ok(Err(error)) => last = Some(error.kind().to_string()),
                Err(_) => last = None,
            }
        }
        match last {
            Some(error) => {
                Err(failed(DenialReason::ConnectFailed, format!("no connection to {authority}: {error}")))
            }
            None => Ok(None),
        }
    }

    /// The operator's proxy, where all goes through one.
    pub(crate) fn operators_proxy(&self) -> Option<&UpstreamProxy> {
        self.proxy.as_ref()
    }

    /// A connection to the operator's proxy.
    pub(super) async fn dial_proxy(
        &self,
        proxy: &UpstreamProxy,
        lookups: &Lookups,
    ) -> Result<TcpStream, Refused> {
        let addresses = match proxy.host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => lookups.of(&proxy.host, &*self.resolve).await.map_err(|_| {
                failed(DenialReason::ConnectFailed, "the name of the operator's proxy could not be looked up")
            })?,
        };
        for address in addresses {
            if let Ok(stream) = self.dial.dial_operators_proxy(SocketAddr::new(address, proxy.port)).await {
                return Ok(stream);
            }
        }
        Err(failed(DenialReason::ConnectFailed, "no connection to the operator's proxy"))
    }

    /// The same, for whoever makes one connection.
    pub(crate) async fn dial_operators_proxy(&self, proxy: &UpstreamProxy) -> Result<TcpStream, Refused> {
        self.dial_proxy(proxy, &Lookups::default()).await
    }

    /// Speaks TLS over a stream as a client of this host, for HTTP/1.1.
    pub(crate) async fn tls_for_http1<S>(&self, host: &str, stream: S) -> Result<TlsStream<S>, Refused>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.tls.over_for_http1(host, stream).await
    }
}
