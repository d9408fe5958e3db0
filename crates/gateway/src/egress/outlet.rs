//! The way out of one sandbox, as a backend holds it: sockets in, answers out.

use std::net::SocketAddrV4;
use std::sync::Arc;

use bailiwick_policy::EgressScope;
use bailiwick_sandbox::outlet::{NAMES, PROXY};
use bailiwick_sandbox::{Doing, Duplex, Outlet, SandboxPath};
use bailiwick_types::{Denial, WallStatus, Wallpart};

use super::direct::serve_direct;
use super::dns;
use super::line::Line;
use super::proxy::{count, refuse_crowd, serve_proxy};
use super::way::Way;

/// Where the certificate of the sandbox's own authority is inside.
const AUTHORITY: &str = "/etc/bailiwick-ca.pem";
/// What is never meant for the proxy.
const NO_PROXY: &str = "localhost,127.0.0.1,::1";
/// Variables by which programs learn whom to believe.
const BELIEVED: [&str; 6] = [
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
];

/// The way out of one sandbox.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) way: Arc<Way>,
}

impl Outlet for Door {
    fn ports(&self) -> Vec<u16> {
        // The proxy has its port for itself.
        self.way.policy.ports().into_iter().filter(|port| *port != PROXY.port()).collect()
    }

    fn variables(&self) -> Vec<(String, String)> {
        let http = format!("http://{PROXY}");
        let socks = format!("socks5h://{PROXY}");
        let proxies = [("HTTP_PROXY", &http), ("HTTPS_PROXY", &http), ("ALL_PROXY", &socks)];
        let mut variables: Vec<(String, String)> = proxies
            .into_iter()
            .map(|(name, value)| (name, value.clone()))
            .chain([("NO_PROXY", NO_PROXY.to_owned())])
            .flat_map(|(name, value)| [(name.to_owned(), value.clone()), (name.to_ascii_lowercase(), value)])
            .collect();
        if self.way.authority.is_some() {
            variables.extend(BELIEVED.map(|name| (name.to_owned(), AUTHORITY.to_owned())));
        }
        variables.extend(
            self.way.sealed.iter().map(|sealed| (sealed.name().to_owned(), sealed.placeholder().to_owned())),
        );
        variables
    }

    fn files(&self) -> Vec<(SandboxPath, String)> {
        let resolv = ("/etc/resolv.conf", format!("nameserver {}\n", NAMES.ip()));
        let believed = self.way.authority.as_ref().map(|authority| (AUTHORITY, authority.pem().to_owned()));
        [Some(resolv), believed]
            .into_iter()
            .flatten()
            .filter_map(|(path, text)| SandboxPath::new(path).ok().map(|path| (path, text)))
            .collect()
    }

    fn proxied(&self, stream: Box<dyn Duplex>) -> Doing<'static, ()> {
        let way = self.way.clone();
        Box::pin(async move {
            let line = Line::handed(stream);
            match way.turn() {
                Some(_turn) => serve_proxy(&way, line).await,
                None => refuse_crowd(&way, line).await,
            }
        })
    }

    fn direct(&self, stream: Box<dyn Duplex>, to: SocketAddrV4) -> Doing<'static, ()> {
        let way = self.way.clone();
        Box::pin(async move {
            let line = Line::handed(stream);
            match way.turn() {
                Some(_turn) => {
                    count("direct");
                    serve_direct(&way, line, to).await;
                }
                None => refuse_crowd(&way, line).await,
            }
        })
    }

    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        dns::answer(&self.way, query)
    }

    fn walls(&self) -> Vec<Wallpart> {
        let part = |demand: &str, mechanism: &str, status: WallStatus| Wallpart {
            demand: demand.to_owned(),
            mechanism: mechanism.to_owned(),
            status,
        };
        let scope = match self.way.policy.scope() {
            EgressScope::Listed(_) => "the hosts that the spec names",
            EgressScope::AnyPublic => "public hosts",
        };
        let network = format!(
            "network namespace with only loopback; a proxy of the host inside lets out {scope} only, over TLS or HTTP"
        );
        let mut walls = vec![part("network", &network, WallStatus::Enforced)];
        walls.push(if self.way.authority.is_some() {
            let mechanism = "TLS is ended by an authority of this sandbox: the host in each request is checked";
            part("hosts inside TLS", mechanism, WallStatus::Enforced)
        } else {
            let mechanism = "the server name of TLS is checked; which host a request inside names is not seen \
                             (no authority of the sandbox)";
            part("hosts inside TLS", mechanism, WallStatus::Partial)
        });
        if !self.way.sealed.is_empty() {
            let mechanism =
                "placeholders inside; the values are put into their header for their hosts, over https";
            walls.push(part("sealed secrets", mechanism, WallStatus::Enforced));
        }
        if !self.way.net.is_pinned() {
            let mechanism = "addresses are not pinned: the operator's proxy resolves names";
            walls.push(part("checked addresses", mechanism, WallStatus::Absent));
        }
        walls
    }

    fn refused(&self) -> u64 {
        self.way.ledger.count()
    }

    fn denials(&self, before: u64) -> Vec<Denial> {
        self.way.ledger.after(before)
    }
}
