//! Calls that wait for their client to ask again, in the era in which a question is a result.
//!
//! What the client gets to carry is a sealed text: it names one waiting call and counts only for the caller, the tool and
//! the arguments that it was made for, once, for a while, and in this process. Everything else is refused and runs
//! nothing. A call whose client never comes back is ended when its text expires.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_core::{Admitted, Dialogue, Refusal};
use bailiwick_tool::Hash;
use bailiwick_types::ErrorCode;
use rmcp::model::{InputRequests, InputRequiredResult, JsonObject, RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::going::Going;
use crate::line::Asked;

/// The most calls that wait for their clients.
const MOST: usize = 256;
/// The most of them that are one caller's.
const MOST_OF_ONE: usize = 32;

/// The calls that wait.
pub(crate) struct Parked {
    calls: Arc<Mutex<HashMap<String, Waits>>>,
    codec: RequestStateCodec,
    lasts: Duration,
}

impl std::fmt::Debug for Parked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parked").field("lasts", &self.lasts).finish_non_exhaustive()
    }
}

/// A call that waits.
pub(crate) struct Waits {
    pub(crate) going: Going,
    pub(crate) asked: Asked,
    of: String,
}

/// What a sealed text holds.
#[derive(Serialize, Deserialize)]
struct Named {
    call: String,
}

/// What a sealed text is bound to.
pub(crate) struct Bound {
    of: String,
    seal: String,
}

impl Bound {
    /// A call of this tool with these arguments, by this caller.
    pub(crate) fn to(who: &Admitted, tool: &str, arguments: &JsonObject) -> Self {
        // What the client calls itself is left out: it proves nothing, and by many names one would be many.
        let counts = who.dialogue == Dialogue::Counts;
        let of = json!({"name": who.actor.key, "scopes": who.scopes, "key": who.key, "dialogue": counts})
            .to_string();
        let seal = Hash::of(&json!([of, tool, Value::Object(arguments.clone())])).to_string();
        Self { of, seal }
    }
}

/// The text that a client brought is not one that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotOurs;

impl Parked {
    /// Room for calls that wait, each for so long.
    pub(crate) fn new(lasts: Duration) -> Result<Self, Refusal> {
        let fault = || Refusal::new(ErrorCode::Internal, "no key for what clients carry could be made");
        let codec = RequestStateCodec::try_new(random::<32>().ok_or_else(fault)?).map_err(|_| fault())?;
        Ok(Self { calls: Arc::default(), codec, lasts })
    }

    /// Leaves a call here until its client asks again; gives the result that says so.
    pub(crate) fn park(
        &self,
        bound: &Bound,
        going: Going,
        asked: Asked,
    ) -> Result<InputRequiredResult, Refusal> {
        let busy = || {
            Refusal::new(ErrorCode::Busy, "too many calls wait for an answer of their clients")
                .with_hint("answer those first, or wait until they end")
        };
        let call = random::<16>()
            .map(|bytes| u128::from_be_bytes(bytes).to_string())
            .ok_or_else(|| Refusal::new(ErrorCode::Internal, "no name for a waiting call could be made"))?;
        let requests: InputRequests = asked.requests.clone();
        {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            let of_one = calls.values().filter(|waits| waits.of == bound.of).count();
            if calls.len() >= MOST || of_one >= MOST_OF_ONE {
                return Err(busy());
            }
            calls.insert(call.clone(), Waits { going, asked, of: bound.of.clone() });
        }
        self.end_in_time(call.clone());
        let options = SealOptions::new().associated_data(bound.seal.as_bytes()).ttl(self.lasts);
        let state = self.codec.seal_json_with(&Named { call }, &options).map_err(|_| {
            Refusal::new(ErrorCode::Internal, "what the client would carry could not be sealed")
        })?;
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// The call that a client came back for. It is found once.
    pub(crate) fn find(&self, bound: &Bound, state: &str) -> Result<Waits, NotOurs> {
        let Named { call } = self.codec.open_json_with(state, bound.seal.as_bytes()).map_err(|_| NotOurs)?;
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&call).ok_or(NotOurs)
    }

    /// Ends all that wait.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        drop(all);
    }

    fn end_in_time(&self, call: String) {
        let (calls, lasts) = (Arc::downgrade(&self.calls), self.lasts);
        tokio::spawn(async move {
            tokio::time::sleep(lasts).await;
            if let Some(calls) = calls.upgrade() {
                drop(calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&call));
            }
        });
    }
}

fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        let rest = bytes.get_mut(filled..)?;
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
