//! A certificate authority for one test, with the certificates it should issue and those nobody should accept.
//!
//! Its keys live in memory and end with the test. Nothing here may be trusted outside of a test.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

#[cfg(test)]
mod tests;

/// A test's own certificate authority.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: CertificateDer<'static>,
}

/// A certificate with its key, as a server presents it.
#[derive(Debug, Clone)]
pub struct Certificate {
    der: CertificateDer<'static>,
    pem: String,
    key: Vec<u8>,
}

/// When a certificate is valid, by the years in which it begins and ends.
#[derive(Debug, Clone, Copy)]
enum Validity {
    Now,
    Past,
    Future,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// A fresh authority.
    ///
    /// # Panics
    /// When no key can be made; a test cannot go on then.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut wanted = CertificateParams::default();
        wanted.distinguished_name.push(DnType::CommonName, "an authority of one test");
        wanted.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        wanted.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = wanted.self_signed(&key).expect("a certificate of the authority");
        Self { pem: certificate.pem(), der: certificate.der().clone(), issuer: Issuer::new(wanted, key) }
    }

    /// The authority's own certificate as PEM, for a client that should trust it.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The authority's own certificate as DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// A sound certificate for these names and addresses.
    ///
    /// # Panics
    /// When one of them is no name.
    pub fn issue(&self, names: &[&str]) -> Certificate {
        self.signed(names, Validity::Now)
    }

    /// A certificate that ran out in 2002.
    ///
    /// # Panics
    /// When one of the names is no name.
    pub fn issue_expired(&self, names: &[&str]) -> Certificate {
        self.signed(names, Validity::Past)
    }

    /// A certificate that begins in the year 3000.
    ///
    /// # Panics
    /// When one of the names is no name.
    pub fn issue_not_yet_valid(&self, names: &[&str]) -> Certificate {
        self.signed(names, Validity::Future)
    }

    /// A sound certificate, but for a name that no test asks for.
    ///
    /// # Panics
    /// When no key can be made.
    pub fn issue_wrong_name(&self) -> Certificate {
        self.signed(&["somebody-else.test"], Validity::Now)
    }

    /// A certificate for these names that another authority has issued under the same name.
    ///
    /// # Panics
    /// When one of the names is no name.
    pub fn issue_by_another(names: &[&str]) -> Certificate {
        Self::new().issue(names)
    }

    /// A certificate for these names that vouches for itself.
    ///
    /// # Panics
    /// When one of the names is no name.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn self_signed(names: &[&str]) -> Certificate {
        let key = KeyPair::generate().expect("a key");
        let certificate = wanted(names, Validity::Now).self_signed(&key).expect("a certificate");
        Certificate::new(&certificate, &key)
    }

    /// What a client needs to trust this authority and no other, over TLS 1.2 and 1.3.
    ///
    /// # Panics
    /// When the authority's certificate cannot be used; a test cannot go on then.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn client(&self) -> rustls::ClientConfig {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.der.clone()).expect("the authority's certificate is sound");
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the usual suites")
            .with_root_certificates(roots)
            .with_no_client_auth()
    }

    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    fn signed(&self, names: &[&str], validity: Validity) -> Certificate {
        let key = KeyPair::generate().expect("a key");
        let certificate = wanted(names, validity).signed_by(&key, &self.issuer).expect("a certificate");
        Certificate::new(&certificate, &key)
    }
}

#[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
fn wanted(names: &[&str], validity: Validity) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut wanted = CertificateParams::new(names).expect("names that a certificate can hold");
    wanted.distinguished_name.push(DnType::CommonName, "an upstream of one test");
    let (from, until) = match validity {
        Validity::Now => (1975, 4096),
        Validity::Past => (2001, 2002),
        Validity::Future => (3000, 3001),
    };
    wanted.not_before = date_time_ymd(from, 1, 1);
    wanted.not_after = date_time_ymd(until, 1, 1);
    wanted
}

impl Certificate {
    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        Self { der: certificate.der().clone(), pem: certificate.pem(), key: key.serialize_der() }
    }

    /// The certificate as PEM, without its key.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The certificate as DER, without its key.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// What a server needs to present it.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub(crate) fn server(&self, protocols: &[&[u8]]) -> rustls::ServerConfig {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut server =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("ring has the usual suites")
                .with_no_client_auth()
                .with_single_cert(vec![self.der.clone()], key)
                .expect("a certificate that fits its key");
        server.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        server
    }
}
