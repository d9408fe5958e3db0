//! A certificate authority of one sandbox: made with it, believed only in it, gone with it.
//!
//! Its key never leaves memory. It vouches for a host only while we stand between a program and that host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SerialNumber,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// How many hosts' certificates are kept.
const MOST_KEPT: usize = 512;
/// The longest name that a certificate's subject can hold.
const MOST_COMMON_NAME: usize = 64;

/// Why there is no authority, or no certificate.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthorityError {
    #[error("no certificate could be made: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("no certificate could be used: {0}")]
    Tls(#[from] rustls::Error),
    #[error("no randomness: {0}")]
    NoRandomness(std::io::Error),
}

/// The authority of one sandbox.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: CertificateDer<'static>,
    /// Of all hosts: nobody else has it.
    key: KeyPair,
    servers: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl Authority {
    /// A new one.
    pub(super) fn new() -> Result<Self, AuthorityError> {
        let key = KeyPair::generate()?;
        let mut wanted = CertificateParams::default();
        wanted.distinguished_name.push(DnType::CommonName, "Bailiwick: the authority of one sandbox");
        wanted.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        wanted.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        wanted.serial_number = Some(serial()?);
        let certificate = wanted.self_signed(&key)?;
        Ok(Self {
            pem: certificate.pem(),
            der: certificate.der().clone(),
            issuer: Issuer::new(wanted, key),
            key: KeyPair::generate()?,
            servers: Mutex::default(),
        })
    }

    /// Its own certificate, for programs to believe.
    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// What speaks TLS as this host, for HTTP/1.1.
    pub(super) fn server_for(&self, host: &str) -> Result<Arc<ServerConfig>, AuthorityError> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = servers.get(host) {
            return Ok(server.clone());
        }
        let server = Arc::new(self.server(host)?);
        if servers.len() >= MOST_KEPT {
            servers.clear();
        }
        servers.insert(host.to_owned(), server.clone());
        Ok(server)
    }

    fn server(&self, host: &str) -> Result<ServerConfig, AuthorityError> {
        let mut wanted = CertificateParams::new([host.to_owned()])?;
        let common_name = if host.len() <= MOST_COMMON_NAME { host } else { "a host of one sandbox" };
        wanted.distinguished_name.push(DnType::CommonName, common_name);
        wanted.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        wanted.use_authority_key_identifier_extension = true;
        wanted.serial_number = Some(serial()?);
        let certificate = wanted.signed_by(&self.key, &self.issuer)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.serialize_der()));
        let chain = vec![certificate.der().clone(), self.der.clone()];
        let mut server =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_no_client_auth()
                .with_single_cert(chain, key)?;
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(server)
    }
}

/// A number that no other certificate has.
fn serial() -> Result<SerialNumber, AuthorityError> {
    let mut random = [0; 16];
    bailiwick_sys::clock::random(&mut random).map_err(|errno| AuthorityError::NoRandomness(errno.into()))?;
    // A number that is not negative, and that needs all its bytes.
    random[0] = random[0] & 0x3f | 0x40;
    Ok(SerialNumber::from_slice(&random))
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}
