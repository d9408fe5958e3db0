//! One request of a fetch: the first, or one that a redirect asked for. What a redirect does to a request is here.
//!
//! Nothing of this is checked yet: every hop goes through the whole guard like the first one.

use bailiwick_policy::FetchTarget;
use bailiwick_types::{DenialReason, Refused};
use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, COOKIE, HeaderMap,
    HeaderName, HeaderValue, PROXY_AUTHORIZATION,
};

use super::refusal::{failed, guard};

/// A request as the guest or a redirect made it, with placeholders where sealed secrets will stand.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

/// Whether an answer is a redirect, by its status.
pub(super) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

impl Hop {
    /// The request that a redirect asks for. `is_sealed` tells the headers that hold a placeholder.
    pub(super) fn follow(
        mut self,
        from: &FetchTarget,
        status: u16,
        location: &str,
        is_sealed: impl Fn(&HeaderValue) -> bool,
    ) -> Result<Self, Refused> {
        let mut next = from
            .url()
            .join(location)
            .map_err(|_| failed(DenialReason::BadAnswer, "a redirect leads to something that is no URL"))?;
        if next.fragment().is_none() {
            next.set_fragment(from.url().fragment());
        }
        let becomes_get = matches!((status, self.method.as_str()), (301 | 302, "POST"))
            || (status == 303 && !matches!(self.method.as_str(), "GET" | "HEAD"));
        if becomes_get {
            "GET".clone_into(&mut self.method);
            self.body = None;
            for name in [CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE] {
                self.headers.remove(name);
            }
        }
        if from.url().scheme() == "https" && next.scheme() == "http" {
            return Err(guard(DenialReason::Downgrade, &self.method, next.as_str()));
        }
        if from.url().origin() != next.origin() {
            for name in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
                self.headers.remove(name);
            }
            let sealed: Vec<HeaderName> = self
                .headers
                .iter()
                .filter(|(_, value)| is_sealed(value))
                .map(|(name, _)| name.clone())
                .collect();
            for name in sealed {
                self.headers.remove(name);
            }
        }
        self.url = next.into();
        Ok(self)
    }
}
