//! Keys of an issuer at an https address, fetched through the guard of the gateway like any request, under a policy
//! that allows this one host and nothing but reading.

use std::pin::Pin;
use std::sync::Arc;

use bailiwick_config::Settings;
use bailiwick_document::{Bounds, Format, parse};
use bailiwick_gateway::net::{Fetches, Net, SealedSet, Terms, Transport};
use bailiwick_gateway::person::{Answered, Nobody};
use bailiwick_policy::{Baseline, EffectivePolicy, FetchBounds, Layer, resolve};
use bailiwick_redact::{Redactor, Secret};
use bailiwick_types::{FetchRequest, LayerName, RedirectMode};
use serde_json::json;

use super::KeySource;
use crate::listen::ServeError;

/// The most bytes of a set of keys.
const MOST_BYTES: u64 = 256 << 10;

/// An address with keys.
pub(super) struct Address {
    url: String,
    net: Arc<Net>,
    policy: Arc<EffectivePolicy>,
}

impl Address {
    pub(super) fn new(address: &str, settings: &Settings) -> Result<Self, ServeError> {
        let net =
            bailiwick_core::net_of(settings).map_err(|refusal| ServeError::Tokens(refusal.to_string()))?;
        Ok(Self { url: address.to_owned(), net, policy: Arc::new(only(address)?) })
    }
}

impl KeySource for Address {
    fn read(&self) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + '_>> {
        Box::pin(async move {
            let none: [&Secret; 0] = [];
            let terms = Terms {
                policy: Arc::clone(&self.policy),
                bounds: FetchBounds { body_bytes: MOST_BYTES, redirects: 0, ..FetchBounds::SHIPPED },
                answered: Arc::new(Answered::default()),
                person: Arc::new(Nobody),
                sealed: Arc::new(SealedSet::default()),
                redactor: Redactor::new(none).map_err(|error| error.to_string())?,
            };
            let request = FetchRequest {
                method: "GET".to_owned(),
                url: self.url.clone(),
                headers: vec![("accept".to_owned(), "application/jwk-set+json, application/json".to_owned())],
                body: None,
                redirect: RedirectMode::Error,
                max_bytes: None,
                offset: 0,
            };
            let fetches = Fetches::new(Transport::Real(Arc::clone(&self.net)), terms);
            let answer = fetches.fetch(request).await.map_err(|refused| refused.message)?;
            if answer.status != 200 {
                return Err(format!("the issuer answered {}", answer.status));
            }
            String::from_utf8(answer.body.0).map_err(|_| "the issuer's answer is not text".to_owned())
        })
    }
}

/// A policy that allows reading from the host of this address, and nothing else.
fn only(address: &str) -> Result<EffectivePolicy, ServeError> {
    let wrong = |why: String| ServeError::Tokens(format!("`jwks` names no address that can be asked: {why}"));
    let rest = address.strip_prefix("https://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            (host, port.parse::<u16>().map_err(|_| wrong("its port is no number".to_owned()))?)
        }
        _ => (authority, 443),
    };
    let overrides = json!({
        "network": "allowlist",
        "hosts": [{"host": host, "port": port, "private": true, "methods": ["GET"]}],
    });
    let tree = parse("server.jwt.jwks", &overrides.to_string(), Format::Yaml, Bounds::WRITTEN_BY_HAND)
        .map_err(|problems| wrong(problems.to_string()))?;
    let layer = Layer::read("server.jwt.jwks", &tree, LayerName::Tool)
        .map_err(|problems| wrong(problems.to_string()))?;
    resolve(&Arc::new(Baseline::shipped()), None, Some(&Arc::new(layer)))
        .map_err(|error| wrong(error.to_string()))
}
