//! What we are to whoever has tokens of the operator's issuer: a protected resource, and where that is told (RFC 9728).
//!
//! Every address here is put together from a host that passed and from the operator's own words. It must never hold
//! anything else that a request says: a client goes where it points, to hand over its credentials.

use std::sync::Arc;

use bailiwick_config::Jwt;
use bailiwick_types::Scopes;
use http::Uri;

use super::host::{Host, usual_port};
use crate::mounted;

/// Where it is told what we are.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The same, as clients of what is at `/mcp` ask for it: the path of a resource stands behind the well-known one.
pub(super) const METADATA_OF_MCP: &str = "/.well-known/oauth-protected-resource/mcp";

/// What of it is the same for every request.
#[derive(Debug)]
pub(super) struct Published {
    issuer: String,
    audience: String,
    scopes: Scopes,
    /// The host, the port and the origin of the audience, where that is an address of the web.
    public: Option<(String, u16, String)>,
}

impl Published {
    pub(super) fn of(jwt: &Jwt) -> Arc<Self> {
        let Jwt { issuer, audience, jwks: _, scopes } = jwt;
        Arc::new(Self {
            issuer: issuer.clone(),
            audience: audience.clone(),
            scopes: *scopes,
            public: public(audience),
        })
    }

    /// As a request reached it, by a host that passed.
    pub(super) fn at(self: &Arc<Self>, host: &Host, encrypted: bool) -> Resource {
        let scheme = if encrypted { "https" } else { "http" };
        let usual = usual_port(encrypted);
        let origin = match &self.public {
            // A proxy that speaks TLS for us: the operator knows by which address we are reached from outside.
            Some((name, port, origin))
                if *name == host.name && (*port == host.port || host.port == usual) =>
            {
                origin.clone()
            }
            _ if host.port == usual => format!("{scheme}://{}", host.name),
            _ => format!("{scheme}://{}:{}", host.name, host.port),
        };
        Resource { published: Arc::clone(self), origin }
    }
}

/// Takes an address of the web apart.
fn public(audience: &str) -> Option<(String, u16, String)> {
    let uri: Uri = audience.parse().ok()?;
    let encrypted = match uri.scheme_str()? {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
    let name = authority.host().to_ascii_lowercase();
    let port = authority.port_u16().unwrap_or(usual_port(encrypted));
    let origin = format!("{}://{authority}", uri.scheme_str()?);
    Some((name, port, origin))
}

/// What we are, as a request reached it; an extension of every request where tokens count.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    published: Arc<Published>,
    origin: String,
}

impl Resource {
    /// By which name tokens for us are asked of the issuer.
    pub(crate) fn identifier(&self) -> String {
        match &self.published.public {
            Some(_) => self.published.audience.clone(),
            None => format!("{}{}", self.origin, mounted::PATH),
        }
    }

    /// Who gives tokens.
    pub(crate) fn issuer(&self) -> &str {
        &self.published.issuer
    }

    /// The most that a token covers.
    pub(crate) fn scopes(&self) -> Scopes {
        self.published.scopes
    }

    /// A demand for credentials that says where to read how they are come by.
    pub(crate) fn pointed(&self, demand: &str) -> String {
        format!("{demand}, resource_metadata=\"{}{METADATA_OF_MCP}\"", self.origin)
    }
}
