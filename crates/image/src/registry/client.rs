//! One request at a time, each over a connection of its own to an address that was looked at.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, LOCATION, RANGE, USER_AGENT};
use http::{HeaderValue, Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use url::Url;

use super::standing::Standing;
use crate::{Fault, ImageError, Options};

/// How long a connection and the head of an answer may take.
const HEAD: Duration = Duration::from_secs(30);
/// How long nothing may come.
const STILL: Duration = Duration::from_secs(30);
/// How long one answer may take in all.
const ALL: Duration = Duration::from_hours(1);
/// How often an answer may send us elsewhere.
const HOPS: usize = 5;

/// Who asks registries.
#[derive(Debug)]
pub(crate) struct Client {
    insecure: HashSet<String>,
    extra: RootCertStore,
    tls: OnceCell<Arc<ClientConfig>>,
    pub(super) docker_config: Option<std::path::PathBuf>,
    pub(super) helpers: Vec<(String, std::ffi::OsString)>,
}

/// What is asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Asking {
    pub(super) accept: Option<&'static str>,
    pub(super) authorization: Option<HeaderValue>,
    /// From this byte on.
    pub(super) from: u64,
    /// What is sent along, as a form has it. It is sent to whoever was asked first, and to nobody else.
    pub(super) form: Option<Bytes>,
}

/// An answer whose body is still coming.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) head: http::response::Parts,
    /// Who answered in the end.
    pub(super) url: Url,
    /// How near the first of those is who were asked.
    pub(super) standing: Standing,
    body: Incoming,
    until: Instant,
    _driver: Driver,
}

/// The connection; it ends with its answer.
#[derive(Debug)]
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) fn failed(url: &Url, fault: Fault, why: impl Into<String>) -> ImageError {
    ImageError::Registry { host: authority(url), why: why.into(), fault }
}

/// Host and port, as messages and the list of insecure registries have it.
pub(super) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

impl Client {
    pub(crate) fn new(options: &Options) -> Result<Self, ImageError> {
        let mut extra = RootCertStore::empty();
        for pem in &options.roots {
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let why = "an extra root certificate";
                let certificate =
                    certificate.map_err(|error| ImageError::malformed(why, error.to_string()))?;
                extra.add(certificate).map_err(|error| ImageError::malformed(why, error.to_string()))?;
            }
        }
        Ok(Self {
            insecure: options.insecure.iter().map(|one| one.to_ascii_lowercase()).collect(),
            extra,
            tls: OnceCell::new(),
            docker_config: options.docker_config.clone(),
            helpers: options.helpers.clone(),
        })
    }

    /// Where a registry begins: in the clear only if the operator listed it, or if it is on this machine.
    pub(super) fn base(&self, registry: &str) -> Result<Url, ImageError> {
        let bad = |_| ImageError::Name { name: registry.to_owned(), why: "its registry is no host" };
        let url = Url::parse(&format!("https://{registry}/")).map_err(bad)?;
        if self.insecure.contains(registry) || is_loopback(&url) {
            return Url::parse(&format!("http://{registry}/")).map_err(bad);
        }
        Ok(url)
    }

    /// Asks, and goes where the answer sends us as long as that is somewhere we may go.
    pub(super) async fn get(
        &self,
        url: Url,
        asking: &Asking,
        first: Option<Standing>,
    ) -> Result<Answer, ImageError> {
        let (mut url, mut asking, mut nearest) = (url, asking.clone(), first);
        let until = Instant::now() + ALL;
        for _ in 0..=HOPS {
            let mut answer = self.once(&url, &asking, nearest, until).await?;
            if !matches!(answer.head.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                answer.standing = nearest.unwrap_or(answer.standing);
                return Ok(answer);
            }
            let location = answer.head.headers.get(LOCATION).and_then(|to| to.to_str().ok());
            let next = location.and_then(|to| url.join(to).ok());
            let Some(next) = next.filter(|next| matches!(next.scheme(), "https" | "http")) else {
                return Err(failed(&url, Fault::Misbehaved, "it sends us to nowhere"));
            };
            if asking.form.is_some() {
                return Err(failed(
                    &url,
                    Fault::Misbehaved,
                    "it sends what it was told in confidence elsewhere",
                ));
            }
            if url.scheme() == "https" && next.scheme() != "https" {
                return Err(failed(
                    &url,
                    Fault::Misbehaved,
                    "it sends us from https to http, and that is not done",
                ));
            }
            if next.origin() != url.origin() {
                // What opens one door is not shown at another.
                asking.authorization = None;
            }
            nearest = Some(nearest.unwrap_or(answer.standing));
            url = next;
        }
        Err(failed(&url, Fault::Misbehaved, "it sends us from place to place"))
    }

    async fn once(
        &self,
        url: &Url,
        asking: &Asking,
        nearest: Option<Standing>,
        until: Instant,
    ) -> Result<Answer, ImageError> {
        let late = |_| failed(url, Fault::Unreachable, "it does not answer");
        timeout(HEAD, self.request(url, asking, nearest, until)).await.map_err(late)?
    }

    async fn request(
        &self,
        url: &Url,
        asking: &Asking,
        nearest: Option<Standing>,
        until: Instant,
    ) -> Result<Answer, ImageError> {
        let (stream, standing) = self.dial(url, nearest).await?;
        let (mut sender, driver) = if url.scheme() == "https" {
            let config = self.tls.get_or_try_init(|| self.tls(url)).await?.clone();
            let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
            let name = ServerName::try_from(host.to_owned())
                .map_err(|_| failed(url, Fault::Misbehaved, "no certificate can hold that name"))?;
            let stream = TlsConnector::from(config).connect(name, stream).await;
            spoken(
                url,
                stream.map_err(|error| failed(url, Fault::Unreachable, format!("TLS failed: {error}")))?,
            )
            .await?
        } else {
            spoken(url, stream).await?
        };
        let mut request = Request::builder()
            .method(if asking.form.is_some() { Method::POST } else { Method::GET })
            .uri(&url[url::Position::BeforePath..url::Position::AfterQuery]);
        request = request.header(HOST, authority(url)).header(USER_AGENT, "bailiwick");
        if let Some(accept) = asking.accept {
            request = request.header(ACCEPT, accept);
        }
        if let Some(authorization) = &asking.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if asking.from > 0 {
            request = request.header(RANGE, format!("bytes={}-", asking.from));
        }
        if asking.form.is_some() {
            request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
        let request = request.body(Full::new(asking.form.clone().unwrap_or_default()));
        let request = request.map_err(|error| failed(url, Fault::Misbehaved, error.to_string()))?;
        let answer = sender.send_request(request).await;
        let answer = answer.map_err(|error| failed(url, Fault::Unreachable, error.to_string()))?;
        let (head, body) = answer.into_parts();
        Ok(Answer { head, url: url.clone(), standing, body, until, _driver: driver })
    }

    /// Connects to an address of a host that may be asked: none nearer than the registry itself.
    async fn dial(&self, url: &Url, nearest: Option<Standing>) -> Result<(TcpStream, Standing), ImageError> {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(failed(url, Fault::Misbehaved, "that is no host"));
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let found = tokio::net::lookup_host((host, port)).await;
        let found = found
            .map_err(|error| failed(url, Fault::Unreachable, format!("its name is not known: {error}")))?;
        let mut why = failed(url, Fault::Unreachable, "its name has no address");
        for address in found {
            match self.may_ask(url, address, nearest) {
                Err(refused) => why = refused,
                Ok(standing) => match TcpStream::connect(address).await {
                    Ok(stream) => return Ok((stream, standing)),
                    Err(error) => why = failed(url, Fault::Unreachable, error.to_string()),
                },
            }
        }
        Err(why)
    }

    fn may_ask(
        &self,
        url: &Url,
        address: SocketAddr,
        nearest: Option<Standing>,
    ) -> Result<Standing, ImageError> {
        let refused = |why: &str| Err(failed(url, Fault::Misbehaved, why));
        let Some(standing) = Standing::of(address.ip()) else {
            return refused("its address is one that nobody asks");
        };
        if nearest.is_some_and(|nearest| standing > nearest) {
            return refused("the registry sends us to a nearer network than its own, and that is not done");
        }
        let is_clear = url.scheme() != "https";
        if is_clear && standing != Standing::Loopback && !self.insecure.contains(&authority(url)) {
            return refused("it is not listed in `images.insecure`, and would be spoken to in the clear");
        }
        Ok(standing)
    }

    async fn tls(&self, url: &Url) -> Result<Arc<ClientConfig>, ImageError> {
        let broken = |why: String| failed(url, Fault::Unreachable, format!("TLS cannot be set up: {why}"));
        let mut roots = self.extra.clone();
        // Reads files, which may take a while.
        let loaded = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await;
        let loaded = loaded.map_err(|error| broken(error.to_string()))?;
        for error in &loaded.errors {
            tracing::warn!(%error, "some of the platform's root certificates could not be read");
        }
        roots.add_parsable_certificates(loaded.certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| broken(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }
}

async fn spoken<S>(url: &Url, stream: S) -> Result<(http1::SendRequest<Full<Bytes>>, Driver), ImageError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let shaken =
        http1::Builder::new().max_buf_size(64 * 1024).max_headers(100).handshake(TokioIo::new(stream)).await;
    let (sender, connection) = shaken.map_err(|error| failed(url, Fault::Unreachable, error.to_string()))?;
    // How it ends is told by the answer.
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok((sender, Driver(driver)))
}

/// By its name alone: `localhost`, 127.0.0.0/8, `[::1]`. What the name leads to is looked at when it is dialled.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => {
            name == "localhost"
                || name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        }
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl Answer {
    /// The next bytes; none at the end.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, ImageError> {
        let until = self.until.min(Instant::now() + STILL);
        loop {
            let frame = timeout_at(until, self.body.frame()).await;
            let frame = frame.map_err(|_| {
                failed(&self.url, Fault::Unreachable, "it stopped in the middle of an answer")
            })?;
            match frame {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => {
                    let why = format!("it broke off in the middle of an answer: {error}");
                    return Err(failed(&self.url, Fault::Unreachable, why));
                }
            }
        }
    }

    /// All of it, if it is no longer than that.
    pub(super) async fn small(mut self, most: u64) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.piece().await? {
            if (bytes.len() + piece.len()) as u64 > most {
                return Err(failed(
                    &self.url,
                    Fault::Misbehaved,
                    format!("its answer has more than {most} bytes"),
                ));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }
}
