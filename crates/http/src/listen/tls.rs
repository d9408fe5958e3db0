//! The server's certificates: read at the start, and again when their files change.
//!
//! A connection keeps what it began with. Files that are broken, half written or do not belong together change nothing;
//! what was there before stays until both are whole.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bailiwick_config::{TlsFiles, files};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

use super::ServeError;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(2);

/// What tells one version of a file from another.
type Version = Option<(u64, u64, i64, i64, u64)>;

/// The certificates that connections get.
#[derive(Debug)]
pub(super) struct Certificates {
    files: TlsFiles,
    now: Arc<Current>,
    versions: [Version; 2],
}

#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl Certificates {
    /// Reads them.
    pub(super) fn load(files: TlsFiles) -> Result<Self, ServeError> {
        // Looked at before they are read, so that a change in between is seen as one.
        let versions = versions(&files);
        let certified = read(&files)?;
        Ok(Self { files, now: Arc::new(Current(ArcSwap::from_pointee(certified))), versions })
    }

    /// Speaks TLS with them, whatever they are by then.
    pub(super) fn acceptor(&self) -> Result<TlsAcceptor, ServeError> {
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(&self.files.certificates, &error))?;
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Current>::clone(&self.now);
        let mut config = config.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads them again whenever the files change, for ever.
    pub(super) async fn follow(mut self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let looked = tokio::task::spawn_blocking(move || {
                self.look();
                self
            });
            match looked.await {
                Ok(same) => self = same,
                Err(error) => {
                    tracing::error!(%error, "changed certificates will not be read any more");
                    return;
                }
            }
        }
    }

    /// Reads them again if they changed.
    pub(super) fn look(&mut self) {
        let versions = versions(&self.files);
        if versions == self.versions {
            return;
        }
        self.versions = versions;
        match read(&self.files) {
            Ok(certified) => {
                self.now.0.store(Arc::new(certified));
                tracing::info!("changed certificates were read and are used from now on");
            }
            Err(error) => {
                tracing::warn!(%error, "changed certificates cannot be used; the old ones are kept");
            }
        }
    }

    /// The first certificate that a connection would get.
    #[cfg(test)]
    pub(super) fn first(&self) -> Option<Vec<u8>> {
        self.now.0.load().cert.first().map(|der| der.to_vec())
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn versions(files: &TlsFiles) -> [Version; 2] {
    [&files.certificates, &files.key].map(|path| {
        let data = std::fs::metadata(path).ok()?;
        Some((data.dev(), data.ino(), data.mtime(), data.mtime_nsec(), data.size()))
    })
}

fn read(tls: &TlsFiles) -> Result<CertifiedKey, ServeError> {
    let text = files::read_document(&tls.certificates).map_err(ServeError::TlsFile)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(text.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(&tls.certificates, &error))?;
    if certificates.is_empty() {
        return Err(wrong(&tls.certificates, &"it holds no certificate"));
    }
    if std::fs::metadata(&tls.key).is_ok_and(|data| data.permissions().mode() & 0o004 != 0) {
        tracing::warn!("the key of server.tls can be read by every user of this machine: chmod o-r it");
    }
    let text = files::read_document(&tls.key).map_err(ServeError::TlsFile)?;
    // What the parser says could hold a part of the key.
    let key = PrivateKeyDer::from_pem_slice(text.as_bytes())
        .map_err(|_| wrong(&tls.key, &"it holds no key in PEM"))?;
    CertifiedKey::from_der(certificates, key, &provider()).map_err(|error| wrong(&tls.key, &error))
}

fn wrong(path: &Path, why: &dyn std::fmt::Display) -> ServeError {
    ServeError::Tls { path: path.display().to_string(), why: why.to_string() }
}
