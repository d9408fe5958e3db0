//! Server-sent events: what happens while an action is performed, and its result at the end.
//!
//! The stream holds the action: whoever goes away ends it. What is heard waits in a bounded room, and who reads too
//! slowly is told how much was left out.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::{MissedEvents, News, Output, Problem};
use bailiwick_core::{Action, Boxed, Event, Happening, Listener, Refusal, Reply, Talk};
use bailiwick_types::{ErrorCode, KeyId, Scopes};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use super::Served;
use super::asker::Asker;
use super::input::Asked;
use super::problem::Refused;
use super::said::Said;

/// How many events wait for a slow reader.
const ROOM: usize = 1024;
/// How often a silent stream shows that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How somebody wants an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// At the end.
    Once,
    /// As it happens.
    Stream,
}

/// How an answer is wanted, in the query.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// Gives server-sent events; so does `accept: text/event-stream`.
    #[param(value_type = Option<bool>)]
    stream: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Wants {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let Asked(StreamQuery { stream }) = Asked::from_request_parts(parts, state).await?;
        match stream.as_deref() {
            Some("" | "true" | "1") => return Ok(Self::Stream),
            Some("false" | "0") => return Ok(Self::Once),
            Some(_) => {
                return Err(Refused::new(
                    ErrorCode::InvalidInput,
                    "`stream` is neither true nor false",
                    "write ?stream, or leave it out",
                ));
            }
            None => {}
        }
        let accepts = parts.headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let is_stream = accepts.flat_map(|value| value.split(',')).any(|kind| {
            kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
        });
        Ok(if is_stream { Self::Stream } else { Self::Once })
    }
}

/// What a reply is at the end of a stream.
pub(crate) type Finish = fn(Reply) -> Result<String, Refused>;

/// Streams an action to its end.
pub(crate) fn to_the_end(served: &Served, asker: &Asker, action: Action, finish: Finish) -> Response {
    live(served, asker, action, None, Some(finish), None)
}

/// The same for an action that speaks: each piece of what it says is an event, and waits for its reader.
pub(crate) fn talked_to_the_end(
    served: &Served,
    asker: &Asker,
    action: Action,
    spoken: (Arc<dyn Talk>, Said),
    finish: Finish,
) -> Response {
    live(served, asker, action, None, Some(finish), Some(spoken))
}

/// Streams what happens until the reader goes or the server ends: only events of these names, or all.
pub(crate) fn watching(served: &Served, asker: &Asker, types: Option<Vec<String>>) -> Response {
    live(served, asker, Action::Watch, types, None, None)
}

/// Waits for the end of whatever somebody watches by; for ever where that tells its end by itself.
pub(crate) async fn until_gone(ends_s: Option<u64>) -> Refusal {
    match ends_s {
        None => std::future::pending().await,
        Some(ends_s) => {
            // Looked at again and again, so that a clock that is set anew counts.
            while now_s() < ends_s {
                tokio::time::sleep(Duration::from_secs(ends_s.saturating_sub(now_s()).clamp(1, 60))).await;
            }
            Refusal::new(ErrorCode::Unauthorized, "the token that this was watched by has expired")
                .with_hint("get a new one, and watch again")
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a token ends at a time of the clock")]
fn now_s() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(u64::MAX, |since| since.as_secs())
}

fn live(
    served: &Served,
    asker: &Asker,
    action: Action,
    types: Option<Vec<String>>,
    finish: Option<Finish>,
    spoken: Option<(Arc<dyn Talk>, Said)>,
) -> Response {
    let (room, heard) = mpsc::channel(ROOM);
    let (scopes, key) = (asker.principal.scopes, asker.principal.key);
    let outlet = Arc::new(Outlet { room, missed: AtomicU64::new(0), scopes, key, types });
    let mut caller = match asker.caller(outlet.clone()) {
        Ok(caller) => caller,
        Err(refused) => return refused.into_response(),
    };
    let said = spoken.map(|(talk, said)| {
        caller.talk = talk;
        said
    });
    let desk = Arc::clone(&served.desk);
    // A call that began goes on; watching does not.
    let ends_s = asker.principal.ends_s.filter(|_| matches!(action, Action::Watch));
    let live = Live {
        work: Some(Box::pin(async move {
            tokio::select! {
                ended = desk.perform(caller, action) => ended,
                gone = until_gone(ends_s) => Err(gone),
            }
        })),
        heard,
        said,
        outlet,
        finish,
        last: None,
        closing: served.closing.clone(),
        correlation: asker.correlation.to_string(),
    };
    let events = stream::unfold(live, |mut live| async move {
        let event = live.next().await?;
        Some((Ok::<_, Infallible>(event), live))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("alive")).into_response()
}

/// Where events go on their way to the reader.
struct Outlet {
    room: mpsc::Sender<News>,
    missed: AtomicU64,
    scopes: Scopes,
    key: Option<KeyId>,
    /// The names of the events that are wanted; none for all.
    types: Option<Vec<String>>,
}

impl Outlet {
    fn is_for_them(&self, event: &Event) -> bool {
        match event {
            Event::Happened(happening) => happening.is_for(self.scopes, self.key),
            _ => true,
        }
    }

    fn wants(&self, news: &News) -> bool {
        // What was left out is told whatever is wanted.
        matches!(news, News::Missed(_))
            || self.types.as_ref().is_none_or(|types| types.iter().any(|name| name == news.name()))
    }
}

impl Listener for Outlet {
    fn hear(&self, event: Event) {
        if !self.is_for_them(&event) {
            return;
        }
        if let Event::Happened(happening) = &event
            && let Happening::Missed(count) = **happening
        {
            self.missed.fetch_add(count, Ordering::Relaxed);
            return;
        }
        let news = News::from(event);
        if self.wants(&news) && self.room.try_send(news).is_err() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A stream that is being read. Dropping it ends the action.
struct Live {
    work: Option<Boxed<Result<Reply, Refusal>>>,
    heard: mpsc::Receiver<News>,
    /// What a command says, where one runs.
    said: Option<Said>,
    outlet: Arc<Outlet>,
    /// What the reply is at the end; none where only what happens counts.
    finish: Option<Finish>,
    last: Option<Sent>,
    closing: CancellationToken,
    correlation: String,
}

impl Live {
    async fn next(&mut self) -> Option<Sent> {
        loop {
            let missed = self.outlet.missed.swap(0, Ordering::Relaxed);
            if missed > 0 {
                return sent(&News::Missed(MissedEvents { count: missed }));
            }
            let Some(work) = &mut self.work else {
                // Nobody speaks any more: what was said is told, then the end.
                return match self.heard.try_recv() {
                    Ok(news) => sent(&news),
                    Err(_) => match self.said.as_mut().and_then(Said::left) {
                        Some(output) => spoke(&output),
                        None => self.last.take(),
                    },
                };
            };
            let ends = self.finish.is_none();
            tokio::select! {
                biased;
                Some(news) = self.heard.recv() => return sent(&news),
                Some(output) = speaks(&mut self.said) => return spoke(&output),
                result = work => self.ended(result),
                // A call goes on to its own deadline; who only watches is let go.
                () = self.closing.cancelled(), if ends => {
                    self.work = None;
                    self.heard.close();
                }
            }
        }
    }

    fn ended(&mut self, result: Result<Reply, Refusal>) {
        self.work = None;
        self.heard.close();
        let told = match (result, self.finish) {
            (Ok(reply), Some(finish)) => finish(reply).map(|data| Sent::default().event("result").data(data)),
            (Ok(_), None) => return,
            (Err(refusal), _) => Err(refusal.into()),
        };
        self.last = Some(told.unwrap_or_else(|refused| failed(refused.problem(), &self.correlation)));
    }
}

/// The next that a command says; none where none runs, or it has said all.
async fn speaks(said: &mut Option<Said>) -> Option<Output> {
    match said {
        Some(said) => said.next().await,
        None => None,
    }
}

/// An event as it is written. One that cannot be is a fault of ours, and ends the stream.
fn sent(news: &News) -> Option<Sent> {
    match news.data() {
        Ok(data) => Some(Sent::default().event(news.name()).data(data)),
        Err(error) => {
            tracing::error!(%error, event = news.name(), "an event could not be written");
            None
        }
    }
}

/// What a command said, as it is written.
fn spoke(output: &Output) -> Option<Sent> {
    match serde_json::to_string(output) {
        Ok(data) => Some(Sent::default().event(Output::EVENT).data(data)),
        Err(error) => {
            tracing::error!(%error, "what a command said could not be written");
            None
        }
    }
}

fn failed(problem: Problem, correlation: &str) -> Sent {
    let problem = problem.of_request(correlation);
    Sent::default().event("error").data(serde_json::to_string(&problem).unwrap_or_default())
}
