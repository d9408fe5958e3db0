//! Who is asked before an effect, where a grant says so.
//!
//! Anything but an explicit yes is a no. What happens to the cell meanwhile is not known here: whoever implements
//! [`Person`] sees to it that it stands still.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_policy::{Answers, AskWhen, Checked, Pending};
use bailiwick_types::{CapabilityName, Denial, DenialReason, ErrorCode, LayerName, Refused};

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The capability.
    pub capability: CapabilityName,
    /// The effect in one line: `GET https://api.github.com/x`.
    pub effect: String,
    /// Whether a yes holds for the rest of the call.
    pub when: AskWhen,
    /// The layer that wants a person asked.
    pub layer: LayerName,
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// A person said yes.
    Yes,
    /// A person said no.
    No,
    /// Nobody answered in time.
    Nothing,
    /// There is nobody to ask.
    Nobody,
}

impl Said {
    /// As a stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Nothing => "nothing",
            Self::Nobody => "nobody",
        }
    }
}

/// Somebody who can be asked.
pub trait Person: Send + Sync {
    /// Asks, and waits for the answer.
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>>;
}

/// Nobody: every question is a no.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Person for Nobody {
    fn ask(&self, _asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        Box::pin(std::future::ready(Said::Nobody))
    }
}

/// What a person said yes to in this call, shared by all that ask in it.
#[derive(Debug, Default)]
pub struct Answered {
    net: AtomicBool,
    fs: AtomicBool,
    /// One question at a time: who waited for another's answer looks again before asking.
    turn: tokio::sync::Mutex<()>,
}

impl Answered {
    /// As the policy takes them.
    pub fn answers(&self) -> Answers {
        Answers { net: self.net.load(Ordering::Acquire), fs: self.fs.load(Ordering::Acquire) }
    }

    /// Waits for the turn to ask. Decide again once it came: another's yes may be enough.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Asks about an effect that waits. A yes is remembered where it holds for the rest of the call.
    pub async fn ask<T>(
        &self,
        person: &dyn Person,
        pending: Pending<T>,
        code: ErrorCode,
        capability: CapabilityName,
        effect: String,
    ) -> Result<Checked<T>, Refused> {
        let (when, layer) = (pending.when(), pending.layer().clone());
        let asked =
            Asked { capability: capability.clone(), effect: effect.clone(), when, layer: layer.clone() };
        let said = person.ask(asked).await;
        metrics::counter!("bailiwick_asks_total", "said" => said.word()).increment(1);
        let reason = match said {
            Said::Yes => {
                if when == AskWhen::First {
                    let place = if code == ErrorCode::NetDenied { &self.net } else { &self.fs };
                    place.store(true, Ordering::Release);
                }
                return Ok(pending.grant_because_a_person_said_yes());
            }
            Said::No => DenialReason::Declined,
            Said::Nothing => DenialReason::Unanswered,
            Said::Nobody => DenialReason::NobodyToAsk,
        };
        let rule = "ask".to_owned();
        Err(Refused::of(Denial { code, capability, asked: effect, rule, layer, reason, fix: None }))
    }
}
