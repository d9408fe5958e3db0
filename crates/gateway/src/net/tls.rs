//! Whom we believe: the platform's root certificates, read when the first https request comes, and the operator's.
//!
//! There is no switch that turns the check off.

use std::io;
use std::sync::Arc;

use bailiwick_types::{DenialReason, Refused};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::refusal::failed;

/// Why certificates of the operator cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// Not PEM.
    #[error("the extra root certificates are not PEM: {0}")]
    Pem(String),
    /// PEM without a certificate in it.
    #[error("the extra root certificates hold no certificate; they begin with `-----BEGIN CERTIFICATE-----`")]
    Empty,
    /// A certificate that cannot be a root.
    #[error("an extra root certificate cannot be used: {0}")]
    Certificate(#[source] rustls::Error),
}

/// Which platform roots are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Platform {
    /// Those of this machine.
    Believed,
    /// None; only the operator's.
    Ignored,
}

/// The roots and what is made of them.
pub(super) struct Tls {
    extra: RootCertStore,
    platform: Platform,
    config: OnceCell<Arc<ClientConfig>>,
    http1: OnceCell<Arc<ClientConfig>>,
}

impl Tls {
    pub(super) fn new(extra_pem: &[String], platform: Platform) -> Result<Self, RootsError> {
        let mut extra = RootCertStore::empty();
        for pem in extra_pem {
            let before = extra.len();
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let certificate = certificate.map_err(|error| RootsError::Pem(error.to_string()))?;
                extra.add(certificate).map_err(RootsError::Certificate)?;
            }
            if extra.len() == before {
                return Err(RootsError::Empty);
            }
        }
        Ok(Self { extra, platform, config: OnceCell::new(), http1: OnceCell::new() })
    }

    /// Speaks TLS over a stream, as a client of this host.
    pub(super) async fn over<S>(&self, host: &str, stream: S) -> Result<TlsStream<S>, Refused>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = self.config.get_or_try_init(|| self.build()).await?.clone();
        Self::speak(config, host, stream).await
    }

    /// The same, for HTTP/1.1 only.
    pub(super) async fn over_for_http1<S>(&self, host: &str, stream: S) -> Result<TlsStream<S>, Refused>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let build = || async {
            let config = self.config.get_or_try_init(|| self.build()).await?;
            let mut only: ClientConfig = (**config).clone();
            only.alpn_protocols = vec![b"http/1.1".to_vec()];
            Ok::<_, Refused>(Arc::new(only))
        };
        let config = self.http1.get_or_try_init(build).await?.clone();
        Self::speak(config, host, stream).await
    }

    async fn speak<S>(config: Arc<ClientConfig>, host: &str, stream: S) -> Result<TlsStream<S>, Refused>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            failed(DenialReason::Tls, format!("`{host}` is a name that no certificate can hold"))
        })?;
        TlsConnector::from(config)
            .connect(name, stream)
            .await
            .map_err(|error| failed(DenialReason::Tls, format!("TLS with {host} failed: {}", shown(&error))))
    }

    async fn build(&self) -> Result<Arc<ClientConfig>, Refused> {
        let mut roots = self.extra.clone();
        if self.platform == Platform::Believed {
            // Reads files, which may take a while.
            let loaded =
                tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await.map_err(|_| {
                    failed(DenialReason::Tls, "the platform's root certificates could not be read")
                })?;
            for error in &loaded.errors {
                tracing::warn!(%error, "some of the platform's root certificates could not be read");
            }
            let (_, ignored) = roots.add_parsable_certificates(loaded.certs);
            if ignored > 0 {
                tracing::debug!(ignored, "some of the platform's root certificates cannot be used");
            }
        }
        let mut config =
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|error| failed(DenialReason::Tls, format!("TLS cannot be set up: {error}")))?
                .with_root_certificates(roots)
                .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // A ticket would tie the calls of different tools together in the eyes of a server.
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Arc::new(config))
    }
}

/// What went wrong, by TLS's own words where it has some.
fn shown(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => error.to_string(),
        None => error.kind().to_string(),
    }
}
