//! A server, asked for actions: one request each, and for what takes long a stream of what happens meanwhile.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_core::{Action, BoxFuture, Caller, Refusal, Reply, ToolLine};
use bailiwick_types::ErrorCode;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, Response, StatusCode};

use crate::ask::{Accept, Ask, Expected};
use crate::connect::{not_reached, not_understood, send};
use crate::place::Server;
use crate::{audit, refused, sandbox, stream};

/// How much of an answer is read, and how long it is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes of one answer.
    pub bytes: usize,
    /// How long an answer may take that is not a stream.
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 256 << 20, time: Duration::from_mins(10) }
    }
}

/// Hears what a person should know that is neither a reply nor an event.
pub type Tells = Arc<dyn Fn(&str) + Send + Sync>;

/// A server that is asked for actions.
pub struct Remote {
    pub(crate) server: Server,
    pub(crate) tells: Tells,
    bounds: Bounds,
    /// Where the list of tools goes on behind the last name of a page; none where it ends there.
    goes_on: Mutex<Option<(String, Option<String>)>>,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Remote {
    /// Asks this server; what a person should know beside the replies is told to `tells`.
    pub fn new(server: Server, tells: Tells) -> Self {
        Self { server, tells, bounds: Bounds::default(), goes_on: Mutex::new(None) }
    }

    /// Within other bounds than the usual ones.
    #[must_use]
    pub const fn within(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// The server that is asked.
    pub const fn server(&self) -> &Server {
        &self.server
    }

    /// The version of the server; none where it is no Bailiwick.
    pub async fn version(&self) -> Result<Option<String>, Refusal> {
        Ok(version_of(&self.body(Ask::get("/v1/openapi.json")).await?))
    }

    /// Performs an action. Dropping the future ends it: the server hears that nobody waits.
    pub fn perform(&self, caller: Caller, action: Action) -> BoxFuture<'_, Result<Reply, Refusal>> {
        Box::pin(self.perform_there(caller, action))
    }

    async fn perform_there(&self, caller: Caller, action: Action) -> Result<Reply, Refusal> {
        match action {
            Action::ToolList { after, limit } => self.tools(after, limit).await,
            Action::AuditTail { limit } => audit::tail(self, limit).await,
            Action::AuditPage { from, newest_first, limit } => {
                audit::page(self, from, newest_first, limit).await
            }
            Action::AuditExport { from, limit } => audit::export(self, from, limit).await,
            Action::SandboxList => sandbox::list(self).await,
            Action::SnapshotList => sandbox::snapshots(self).await,
            other => {
                let other = match other {
                    Action::SandboxExec(wish) => {
                        Action::SandboxExec(Box::new(sandbox::whole(&caller, *wish).await?))
                    }
                    other => other,
                };
                let (ask, expected) = Ask::of(other)?;
                match ask.accept {
                    Accept::Events => stream::perform(self, &caller, ask, expected).await,
                    Accept::Json | Accept::Lines | Accept::Bytes => self.reply(ask, expected).await,
                }
            }
        }
    }

    /// One request, and the reply in its answer.
    pub(crate) async fn reply(&self, ask: Ask, expected: Expected) -> Result<Reply, Refusal> {
        let body = self.body(ask).await?;
        match expected.read(&body) {
            Ok(reply) => Ok(reply),
            Err(error) => Err(self.strange(&error.to_string()).await),
        }
    }

    /// One request, and the bytes of its answer.
    pub(crate) async fn body(&self, ask: Ask) -> Result<Vec<u8>, Refusal> {
        let answer = async {
            let response = self.head(ask).await?;
            self.rest(response).await
        };
        tokio::time::timeout(self.bounds.time, answer).await.unwrap_or_else(|_| {
            let why = format!("it did not answer for {} seconds", self.bounds.time.as_secs());
            Err(not_reached(&self.server, &why))
        })
    }

    /// Sends a request; what is refused comes back as such.
    pub(crate) async fn head(&self, ask: Ask) -> Result<Response<Incoming>, Refusal> {
        let response = send(&self.server, ask).await?;
        if response.status().is_success() { Ok(response) } else { Err(self.refused(response).await) }
    }

    async fn rest(&self, response: Response<Incoming>) -> Result<Vec<u8>, Refusal> {
        match Limited::new(response.into_body(), self.bounds.bytes).collect().await {
            Ok(body) => Ok(body.to_bytes().to_vec()),
            Err(error) => Err(not_understood(&self.server, &error.to_string())),
        }
    }

    /// Why a server refused, as it says itself; with what this side knows about the key.
    async fn refused(&self, response: Response<Incoming>) -> Refusal {
        let (status, headers) = (response.status(), response.headers().clone());
        match self.rest(response).await {
            Ok(body) => self.told(status, &headers, &body),
            Err(refusal) => refusal,
        }
    }

    /// The refusal in an answer.
    pub(crate) fn told(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Refusal {
        let is_problem = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_problem = is_problem.is_some_and(|kind| kind.starts_with(bailiwick_api::MEDIA_TYPE));
        let told = if is_problem { refused::read(status, body) } else { None };
        match told {
            Some(refusal) if refusal.code == ErrorCode::Unauthorized => self.about_the_key(&refusal),
            Some(refusal) => refusal,
            None if status == StatusCode::UNAUTHORIZED => self
                .about_the_key(&Refusal::new(ErrorCode::Unauthorized, "the server wants a key that holds")),
            None => not_understood(&self.server, &format!("it answers {status}")),
        }
    }

    fn about_the_key(&self, refusal: &Refusal) -> Refusal {
        let shown = match &self.server.key {
            Some(key) => format!("{} (the key is from {})", refusal.message, key.found_in()),
            None => format!("{} (no key was sent)", refusal.message),
        };
        let how = "give a key that holds: --key-file FILE, BAILIWICK_KEY or BAILIWICK_KEY_FILE";
        Refusal::new(refusal.code, shown).with_hint(match &refusal.hint {
            Some(hint) => format!("{hint}; {how}"),
            None => format!("{how}; bailiwick key create makes one"),
        })
    }

    /// What is said about an answer that is none of ours: perhaps it is of another version.
    pub(crate) async fn strange(&self, why: &str) -> Refusal {
        match self.version().await {
            Ok(Some(theirs)) if theirs != env!("CARGO_PKG_VERSION") => {
                let message = format!(
                    "{} is bailiwick {theirs}, and this is {}: {why}",
                    self.server.shown(),
                    env!("CARGO_PKG_VERSION")
                );
                Refusal::new(ErrorCode::Unavailable, message).with_hint("use the version of the server")
            }
            _ => not_understood(&self.server, why),
        }
    }

    /// Tools behind a name. A server gives them by pages with cursors of its own.
    async fn tools(&self, after: Option<String>, limit: u32) -> Result<Reply, Refusal> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let known = self.goes_on.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut cursor = match (&after, known) {
            (Some(after), Some((last, None))) if *after == last => return Ok(Reply::Tools(Vec::new())),
            (Some(after), Some((last, next))) if *after == last => next,
            _ => None,
        };
        let mut tools: Vec<ToolLine> = Vec::new();
        let mut last: Option<String> = None;
        loop {
            let ask = Ask::page("/v1/tools", &[("after", cursor.as_deref())]);
            let body = self.body(ask).await?;
            let page: bailiwick_api::ToolPage = match serde_json::from_slice(&body) {
                Ok(page) => page,
                Err(error) => return Err(self.strange(&error.to_string()).await),
            };
            let ends_with = page.tools.last().map(|tool| tool.name.clone());
            if page.next.is_some() && ends_with <= last {
                // A page that goes on begins behind the one before; else this would never end.
                return Err(self.strange("its list of tools does not get on from page to page").await);
            }
            last = ends_with;
            let lines = page.tools.into_iter().map(ToolLine::from);
            tools.extend(lines.filter(|tool| after.as_ref().is_none_or(|after| tool.name > *after)));
            cursor = page.next;
            if cursor.is_none() || tools.len() >= limit {
                break;
            }
        }
        let is_whole = tools.len() <= limit;
        tools.truncate(limit);
        // Where a page was cut there is no cursor behind the last name.
        let goes_on = tools.last().filter(|_| is_whole).map(|tool| (tool.name.clone(), cursor));
        *self.goes_on.lock().unwrap_or_else(PoisonError::into_inner) = goes_on;
        Ok(Reply::Tools(tools))
    }
}

/// The version of a Bailiwick, by the description of its interface.
fn version_of(description: &[u8]) -> Option<String> {
    let description: serde_json::Value = serde_json::from_slice(description).ok()?;
    let title = description.pointer("/info/title")?.as_str()?;
    let version = description.pointer("/info/version")?.as_str()?;
    let is_plain = version.len() < 64 && version.bytes().all(|byte| byte.is_ascii_graphic());
    (title.contains("Bailiwick") && is_plain).then(|| version.to_owned())
}

#[cfg(test)]
mod tests;
