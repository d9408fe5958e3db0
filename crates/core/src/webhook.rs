//! Addresses of the operator's file that get JSON as a POST: each signed head of the record, each question that waits.
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
/// How often one text is sent.
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
    let hook = Arc::new(Hook::new(settings, "audit.witness", address)?);
    let room = Arc::new(Semaphore::new(MOST_WAITING));
    // Heads come from the thread that writes, which knows no runtime.
    let (posts, runtime) = (posts.clone(), Handle::current());
    Ok(Witness::Custom(Arc::new(move |head: &Head| {
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            posts.miss();
            return;
        };
        let (hook, line) = (Arc::clone(&hook), head_line(head));
        let counted = posts.clone();
        let sending = async move {
            if !hook.send(&line).await {
                counted.miss();
            }
            drop(place);
        };
        posts.on_their_way.spawn_on(sending, &runtime);
    })))
}

/// One address of the operator's file that gets JSON as a POST.
pub(crate) struct Hook {
    /// The setting it stands in.
    setting: &'static str,
    net: Arc<Net>,
    policy: Arc<EffectivePolicy>,
    address: String,
}

impl Hook {
    pub(crate) fn new(settings: &Settings, setting: &'static str, address: &str) -> Result<Self, Refusal> {
        let policy = Arc::new(only(setting, address)?);
        Ok(Self { setting, net: net_of(settings)?, policy, address: address.to_owned() })
    }

    /// Whether the text was taken, after a few tries. The address is told to nobody: such ones often carry a token.
    pub(crate) async fn send(&self, text: &str) -> bool {
        for attempt in 1..=TRIES {
            match self.post(text).await {
                Ok(()) => return true,
                Err(why) => {
                    tracing::warn!(why, attempt, setting = self.setting, "a POST was not taken");
                }
            }
            if attempt < TRIES {
                tokio::time::sleep(PAUSE).await;
            }
        }
        false
    }

    async fn post(&self, text: &str) -> Result<(), String> {
        let none: [&bailiwick_redact::Secret; 0] = [];
        let terms = Terms {
            policy: Arc::clone(&self.policy),
            bounds: FetchBounds::SHIPPED,
            answered: Arc::new(Answered::default()),
            person: Arc::new(Nobody),
            sealed: Arc::new(SealedSet::default()),
            redactor: Redactor::new(none).map_err(|error| error.to_string())?,
        };
        let request = FetchRequest {
            method: "POST".to_owned(),
            url: self.address.clone(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: Some(Bytes::from(text.as_bytes().to_vec())),
            redirect: RedirectMode::Error,
            max_bytes: Some(1),
            offset: 0,
        };
        let fetches = Fetches::new(Transport::Real(Arc::clone(&self.net)), terms);
        let answer = fetches.fetch(request).await.map_err(|refused| refused.message)?;
        if (200..300).contains(&answer.status) {
            Ok(())
        } else {
            Err(format!("it answered {}", answer.status))
        }
    }
}

/// A policy that allows a POST to the host of this address, and nothing else.
fn only(setting: &'static str, address: &str) -> Result<EffectivePolicy, Refusal> {
    // It is not shown: such addresses often carry a token.
    let wrong = |why: String| {
        Refusal::new(ErrorCode::InvalidInput, format!("an address in {setting} cannot be used: {why}"))
            .with_hint("for example https://hooks.example/bailiwick")
    };
    let (usual, rest) = match address.strip_prefix("http://") {
        Some(rest) => (80, rest),
        None => (443, address.strip_prefix("https://").unwrap_or_default()),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            (host, port.parse::<u16>().map_err(|_| wrong("its port is no number".to_owned()))?)
        }
        _ => (authority, usual),
    };
    let overrides = json!({
        "network": "allowlist",
        "hosts": [{"host": host, "port": port, "private": true, "methods": ["POST"]}],
    });
    let text = overrides.to_string();
    let tree = parse(setting, &text, Format::Yaml, Bounds::WRITTEN_BY_HAND)
        .map_err(|problems| wrong(problems.to_string()))?;
    let layer =
        Layer::read(setting, &tree, LayerName::Tool).map_err(|problems| wrong(problems.to_string()))?;
    resolve(&Arc::new(Baseline::shipped()), None, Some(&Arc::new(layer)))
        .map_err(|error| wrong(error.to_string()))
}
