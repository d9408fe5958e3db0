//! Where a server listens, how it is reached from this machine, and what whoever starts it that way should know.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use bailiwick_http::perimeter::NoAuth;

/// Where, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listens {
    pub(super) bound: SocketAddr,
    pub(super) tls: bool,
    pub(super) no_auth: NoAuth,
}

impl Listens {
    /// The address it is bound to.
    pub(super) fn address(&self) -> String {
        self.with(self.bound)
    }

    /// An address that a command on this machine can ask: none can ask "every address".
    pub(super) fn reached(&self) -> String {
        let ip = match self.bound.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        self.with(SocketAddr::new(ip, self.bound.port()))
    }

    fn with(&self, address: SocketAddr) -> String {
        format!("{}://{address}", if self.tls { "https" } else { "http" })
    }

    /// What it risks.
    pub(super) fn risks(&self) -> Vec<String> {
        let mut risks = Vec::new();
        if self.no_auth == NoAuth::Insecure {
            let address = self.bound;
            risks.push(format!(
                "--insecure-no-auth: everybody who reaches {address} may call published tools without a key"
            ));
        }
        if !self.tls && !self.bound.ip().to_canonical().is_loopback() {
            risks.push("keys travel in clear: set server.tls".to_owned());
        }
        risks
    }
}
