//! A small registry on loopback: manifests, blobs, a token at the door, and lies where a test wants them.

use std::collections::HashMap;
use std::sync::Mutex;

use bailiwick_image::Digest;
use bailiwick_testkit::upstream::{Answer, Framing, Piece, Request, Upstream};
use serde_json::json;

use crate::made::Made;

/// What it does with blobs.
#[derive(Debug, Clone, Default)]
pub(crate) enum Blobs {
    /// Gives them.
    #[default]
    Given,
    /// Breaks off after so many bytes, each time; from where it is asked on if it heeds ranges.
    Cut { after: usize, heeds_ranges: bool },
    /// Sends whoever asks to another address.
    Elsewhere(String),
    /// Gives these instead.
    Instead(Vec<u8>),
    /// Never ends.
    Endless,
}

/// Who is let in.
#[derive(Debug, Clone, Default)]
pub(crate) enum Door {
    /// Everybody.
    #[default]
    Open,
    /// Who shows a token that is to be had at this address.
    Token(String),
    /// Who shows a token that is to be had of itself, for this `Authorization`.
    OwnToken(Option<String>),
    /// Who shows a token that is to be had of itself in exchange for this identity.
    Exchange(String),
    /// Who shows this, each time.
    Basic(String),
}

/// The registry of one repository, `team/tool`.
#[derive(Default)]
pub(crate) struct Registry {
    pub(crate) manifests: HashMap<String, Vec<u8>>,
    pub(crate) blobs: HashMap<Digest, Vec<u8>>,
    pub(crate) lies: Blobs,
    pub(crate) door: Door,
    /// What it answers to every question about a manifest, if it does so.
    pub(crate) manifest_says: Option<Answer>,
    pub(crate) port: Mutex<u16>,
}

/// The token that opens the door.
pub(crate) const TOKEN: &str = "let-me-in";

impl Registry {
    /// With this image under the tag `1`.
    pub(crate) fn of(made: Made) -> Self {
        let (blobs, manifest) = made.settled();
        let mut registry = Self::default();
        registry.blobs.extend(blobs);
        registry.manifests.insert("1".to_owned(), manifest);
        registry
    }

    /// The same behind an index of platforms.
    pub(crate) fn index(mut self, entries: impl FnOnce(serde_json::Value) -> serde_json::Value) -> Self {
        let manifest = self.manifests.remove("1").expect("a manifest");
        let index = json!({"schemaVersion": 2, "manifests": entries(crate::made::part(&manifest))});
        self.manifests.insert(Digest::of(&manifest).to_string(), manifest);
        self.manifests.insert("1".to_owned(), index.to_string().into_bytes());
        self
    }

    pub(crate) fn serve(self) -> Upstream {
        let registry = std::sync::Arc::new(self);
        let answers = std::sync::Arc::clone(&registry);
        let upstream = Upstream::http(move |request: &Request| answers.answer(request));
        *registry.port.lock().expect("no panic") = upstream.port();
        upstream
    }

    fn answer(&self, request: &Request) -> Answer {
        if request.path() == "/token" {
            return self.token(request);
        }
        if let Some(refused) = self.closed(request) {
            return refused;
        }
        match request.path().strip_prefix("/v2/team/tool/").and_then(|rest| rest.split_once('/')) {
            Some(("manifests", wanted)) => match (&self.manifest_says, self.manifests.get(wanted)) {
                (Some(answer), _) => answer.clone(),
                (None, Some(manifest)) => Answer::new(200).body(manifest.clone()),
                (None, None) => Answer::new(404)
                    .body(r#"{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "no such\u001b tag"}]}"#),
            },
            Some(("blobs", digest)) => match digest.parse().ok().and_then(|digest| self.blobs.get(&digest)) {
                Some(blob) => self.blob(request, blob),
                None => Answer::new(404).body("{}"),
            },
            _ => Answer::new(404).body("{}"),
        }
    }

    fn blob(&self, request: &Request, blob: &[u8]) -> Answer {
        match &self.lies {
            Blobs::Given => Answer::new(200).body(blob),
            Blobs::Instead(bytes) => Answer::new(200).body(bytes.clone()),
            Blobs::Endless => {
                Answer::new(200).framing(Framing::Chunked).piece(Piece::Endless(vec![b'x'; 8192]))
            }
            Blobs::Elsewhere(address) => {
                Answer::new(307).header("location", format!("{address}{}", request.path()))
            }
            Blobs::Cut { after, heeds_ranges } => {
                let range = request.header("range").and_then(|range| range.strip_prefix("bytes="));
                let from = range
                    .and_then(|range| range.trim_end_matches('-').parse().ok())
                    .filter(|_| *heeds_ranges);
                let from: usize = from.unwrap_or(0);
                let rest = &blob[from..];
                let part = &rest[..rest.len().min(*after)];
                let answer = match from {
                    0 => Answer::new(200),
                    _ => Answer::new(206)
                        .header("content-range", format!("bytes {from}-{}/{}", blob.len() - 1, blob.len())),
                };
                answer
                    .framing(Framing::Claimed(rest.len() as u64))
                    .piece(Piece::Bytes(part.to_vec()))
                    .piece(Piece::Close)
            }
        }
    }

    /// The refusal of who is not let in.
    fn closed(&self, request: &Request) -> Option<Answer> {
        let shown = request.header("authorization");
        let (challenge, opens) = match &self.door {
            Door::Open => return None,
            Door::Token(realm) => {
                (format!(r#"Bearer realm="{realm}",service="here""#), format!("Bearer {TOKEN}"))
            }
            Door::OwnToken(_) | Door::Exchange(_) => {
                let port = *self.port.lock().expect("no panic");
                (
                    format!(r#"Bearer realm="http://127.0.0.1:{port}/token",service="here""#),
                    format!("Bearer {TOKEN}"),
                )
            }
            Door::Basic(opens) => ("Basic realm=\"x\"".to_owned(), opens.clone()),
        };
        (shown != Some(&opens)).then(|| Answer::new(401).header("www-authenticate", challenge).body("{}"))
    }

    fn token(&self, request: &Request) -> Answer {
        if let Door::Exchange(identity) = &self.door {
            let said = String::from_utf8_lossy(&request.body);
            let form = format!(
                "grant_type=refresh_token&client_id=bailiwick&service=here&scope=repository%3Ateam%2Ftool%3Apull&refresh_token={identity}"
            );
            let is_form = request.header("content-type") == Some("application/x-www-form-urlencoded");
            if request.method == "POST" && is_form && said == form {
                return Answer::new(200).body(json!({"access_token": TOKEN}).to_string());
            }
            return Answer::new(401).body(r#"{"errors": [{"message": "who are you"}]}"#);
        }
        let wanted = match &self.door {
            Door::OwnToken(wanted) => wanted.as_deref(),
            _ => None,
        };
        if request.header("authorization") == wanted
            && request.target.contains("scope=repository%3Ateam%2Ftool%3Apull")
        {
            return Answer::new(200).body(json!({"token": TOKEN}).to_string());
        }
        Answer::new(401).body(r#"{"errors": [{"message": "who are you"}]}"#)
    }
}
