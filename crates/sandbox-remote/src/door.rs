//! The server that is asked, and what keeps its key out of everything that is told.

use bailiwick_client::{Bounds, Credential, Remote, Server};
use bailiwick_core::{Action, Actor, Caller, Refusal, Reply};
use bailiwick_redact::{Redactor, Secret};
use bailiwick_types::{ErrorCode, visible};
use std::sync::Arc;
use std::time::Duration;

/// The most bytes of an answer: a file of the largest size that a server hands over, and some room around it.
const MOST_BYTES: usize = 40 << 20;
/// The most characters of a text of a server's that is passed on.
const MOST_TEXT: usize = 600;
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(90);

/// A server, with its key.
#[derive(Debug)]
pub struct Door {
    remote: Remote,
    redactor: Redactor,
}

impl Door {
    /// A server at this address. The key is from `found_in`, which refusals name in its place.
    pub fn new(
        address: &str,
        key: Option<(&Secret, String)>,
        roots: Option<String>,
        patience: Duration,
    ) -> Result<Self, Refusal> {
        let mut server = Server::parse(address)?.with_patience(patience);
        if let Some(pem) = roots {
            server = server.with_roots(pem);
        }
        let secret = key.as_ref().map(|(secret, _)| *secret);
        // A key that is too short to be found in a text is none of ours, and is refused there.
        let redactor = Redactor::new(secret).map_err(|error| {
            Refusal::new(
                ErrorCode::InvalidInput,
                format!("the key cannot be kept out of what is told: {error}"),
            )
        })?;
        if let Some((secret, found_in)) = key {
            server = server.with_key(Credential::new(secret.expose_secret(), found_in)?)?;
        }
        let tells = Arc::new(|line: &str| tracing::warn!("{line}"));
        let bounds = Bounds { bytes: MOST_BYTES, time: ANSWER };
        Ok(Self { remote: Remote::new(server, tells).within(bounds), redactor })
    }

    /// Its address.
    pub(crate) fn address(&self) -> String {
        self.remote.server().shown()
    }

    pub(crate) const fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Asks for an action, and waits no longer than this for the answer.
    pub(crate) async fn ask(&self, action: Action, within: Duration) -> Result<Reply, Refusal> {
        let what = action.name();
        let caller = Caller::alone(Actor { key: None, client: crate::ID.to_owned() });
        let answer = tokio::time::timeout(within, self.remote.perform(caller, action)).await;
        answer.unwrap_or_else(|_| {
            let seconds = within.as_secs();
            let message = format!("it did not answer for {seconds} seconds when it was asked for `{what}`");
            Err(Refusal::new(ErrorCode::Unavailable, message)
                .with_hint("check whether that server runs, and what else it does"))
        })
    }

    /// A text of the server's as it can be passed on: short, visible, and without the key.
    pub(crate) fn told(&self, text: &str) -> String {
        let text = self.redactor.redact(text);
        let mut shown = visible(&text.chars().take(MOST_TEXT).collect::<String>());
        if text.chars().nth(MOST_TEXT).is_some() {
            shown.push('…');
        }
        shown
    }
}
