//! Traces for a collector, by OTLP over HTTP; there only with the feature `otlp`.
//!
//! What goes out are spans with the names of routes and tools, never what was sent: the same as in the log. It goes
//! over plain HTTP, to a collector on this machine or beside it, which sends it on over TLS.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes of its answer.
const MOST_BYTES: usize = 64 << 10;

/// Why no traces go out.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// Not an address of a collector.
    #[error("`{0}` is not the address of a collector: write http://127.0.0.1:4318")]
    Address(String),
    /// The exporter cannot be made.
    #[error("the exporter cannot be set up: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// The last spans did not get out.
    #[error("the last spans were not handed over: {0}")]
    Close(#[from] OTelSdkError),
}

/// Traces on their way to a collector.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Hands over what is left. It waits, so it is nothing for a thread that has other things to do.
    pub fn close(self) -> Result<(), OtlpError> {
        Ok(self.0.shutdown()?)
    }
}

/// A layer of the log that sends spans to the collector at `endpoint`, and what to close at the end. Within a runtime
/// only: that is where they are sent from.
pub fn otlp_layer<S>(endpoint: &str) -> Result<(impl Layer<S> + use<S>, Traces), OtlpError>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let wrong = || OtlpError::Address(bailiwick_types::shortened(endpoint));
    let address: Uri = endpoint.parse().map_err(|_| wrong())?;
    if address.scheme_str() != Some("http") || address.host().is_none() {
        return Err(wrong());
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Posts { runtime: Handle::current() })
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(PATIENCE)
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .build()?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(Resource::builder_empty().with_service_name("bailiwick").build())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("bailiwick"));
    Ok((layer, Traces(provider)))
}

/// Sends from our runtime what the exporter has made on a thread of its own.
struct Posts {
    runtime: Handle,
}

impl fmt::Debug for Posts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Posts")
    }
}

impl HttpClient for Posts {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let sending = self.runtime.spawn(async move { tokio::time::timeout(PATIENCE, post(request)).await });
        Box::pin(async move { sending.await?? })
    }
}

async fn post(mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let host = request.uri().host().ok_or("the collector has no host")?.to_owned();
    let port = request.uri().port_u16().unwrap_or(80);
    let stream = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => TcpStream::connect(SocketAddr::new(address, port)).await?,
        Err(_) => TcpStream::connect((host.as_str(), port)).await?,
    };
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let authority = HeaderValue::from_str(&format!("{host}:{port}"))?;
    request.headers_mut().insert(header::HOST, authority);
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).parse()?;
    *request.uri_mut() = target;
    let (head, body) = sender.send_request(request.map(Full::new)).await?.into_parts();
    let body = Limited::new(body, MOST_BYTES).collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}
