//! An address outside that gets each signed head of the record, as a POST.
//!
//! It goes through the guard of the gateway like any request, under a policy that allows this one host and method.
//! A head that could not be handed over after a few tries is counted, and told when the record is closed; the file of
//! heads in the data folder has it in any case.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bailiwick_audit::{Head, head_line};
use bailiwick_config::Settings;
use bailiwick_document::{Bounds, Format, parse};
use bailiwick_gateway::net::{Fetches, Net, SealedSet, Terms, Transport};
use bailiwick_gateway::person::{Answered, Nobody};
use bailiwick_policy::{Baseline, EffectivePolicy, FetchBounds, Layer, resolve};
use bailiwick_redact::Redactor;
use bailiwick_store::Witness;
use bailiwick_types::{Bytes, ErrorCode, FetchRequest, LayerName, RedirectMode};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::Refusal;
use crate::world::net_of;

/// How many heads may be on their way to one address.
const MOST_WAITING: usize = 256;
/// How often one head is sent.
const TRIES: u32 = 3;
/// The pause before it is sent again.
const PAUSE: Duration = Duration::from_millis(500);

/// Heads on their way to addresses, and how many of them never got there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Posts {
    pub(crate) on_their_way: TaskTracker,
    missed: Arc<AtomicU64>,
}

impl Posts {
    /// One head did not get there.
    fn miss(&self) {
        self.missed.fetch_add(1, Ordering::Relaxed);
    }

    /// How many never got there; what is still on its way counts with them.
    pub(crate) fn missed(&self) -> u64 {
        let unsettled = u64::try_from(self.on_their_way.len()).unwrap_or(u64::MAX);
        self.missed.load(Ordering::Relaxed).saturating_add(unsettled)
    }
}

/// A witness that posts heads to this address. Whoever closes the record waits for what is on its way in `posts`.
pub(crate) fn witness(settings: &Settings, address: &str, posts: &Posts) -> Result<Witness, Refusal> {
    let policy = Arc::new(only(address)?);
    let net = net_of(settings)?;
    let room = Arc::new(Semaphore::new(MOST_WAITING));
    // Heads come from the thread that writes, which knows no runtime.
    let (posts, runtime, address) = (posts.clone(), Handle::current(), Arc::<str>::from(address));
    Ok(Witness::Custom(Arc::new(move |head: &Head| {
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            posts.miss();
            return;
        };
        let (net, policy, address, line) =
            (Arc::clone(&net), Arc::clone(&policy), Arc::clone(&address), head_line(head));
        let counted = posts.clone();
        let sending = async move {
            if !send(&net, &policy, &address, &line).await {
                counted.miss();
            }
            drop(place);
        };
        posts.on_their_way.spawn_on(sending, &runtime);
    })))
}

/// Whether the head was taken. The address is told to nobody: such ones often carry a token.
async fn send(net: &Arc<Net>, policy: &Arc<EffectivePolicy>, address: &str, head: &str) -> bool {
    for attempt in 1..=TRIES {
        match post(net, policy, address, head).await {
            Ok(()) => return true,
            Err(why) => tracing::warn!(why, attempt, "a signed head was not taken by its witness"),
        }
        if attempt < TRIES {
            tokio::time::sleep(PAUSE).await;
        }
    }
    false
}

async fn post(
    net: &Arc<Net>,
    policy: &Arc<EffectivePolicy>,
    address: &str,
    head: &str,
) -> Result<(), String> {
    let none: [&bailiwick_redact::Secret; 0] = [];
    let terms = Terms {
        policy: Arc::clone(policy),
        bounds: FetchBounds::SHIPPED,
        answered: Arc::new(Answered::default()),
        person: Arc::new(Nobody),
        sealed: Arc::new(SealedSet::default()),
        redactor: Redactor::new(none).map_err(|error| error.to_string())?,
    };
    let request = FetchRequest {
        method: "POST".to_owned(),
        url: address.to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Some(Bytes::from(head.as_bytes().to_vec())),
        redirect: RedirectMode::Error,
        max_bytes: Some(1),
        offset: 0,
    };
    let fetches = Fetches::new(Transport::Real(Arc::clone(net)), terms);
    let answer = fetches.fetch(request).await.map_err(|refused| refused.message)?;
    if (200..300).contains(&answer.status) { Ok(()) } else { Err(format!("it answered {}", answer.status)) }
}

/// A policy that allows a POST to the host of this address, and nothing else.
fn only(address: &str) -> Result<EffectivePolicy, Refusal> {
    let wrong = |why: String| {
        Refusal::new(ErrorCode::InvalidInput, format!("audit.witness: `{address}`: {why}"))
            .with_hint("for example https://witness.example/heads")
    };
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
        "hosts": [{"host": host, "port": port, "private": true, "methods": ["POST"]}],
    });
    let text = overrides.to_string();
    let tree = parse("audit.witness", &text, Format::Yaml, Bounds::WRITTEN_BY_HAND)
        .map_err(|problems| wrong(problems.to_string()))?;
    let layer = Layer::read("audit.witness", &tree, LayerName::Tool)
        .map_err(|problems| wrong(problems.to_string()))?;
    resolve(&Arc::new(Baseline::shipped()), None, Some(&Arc::new(layer)))
        .map_err(|error| wrong(error.to_string()))
}
