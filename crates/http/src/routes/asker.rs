//! Whoever asks, on the way to the desk. A request that nobody answers for is refused.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use bailiwick_core::{Action, Admitted, Caller, Deaf, Listener, NoApprover, Reply, Room};
use bailiwick_types::{CorrelationId, ErrorCode};

use super::Served;
use super::problem::Refused;
use crate::correlation::Correlation;
use crate::perimeter::{Principal, Slot};

/// Who asks, and what their request is tied to.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) principal: Principal,
    pub(crate) correlation: CorrelationId,
    /// The room that their request takes, where it runs something.
    slot: Option<Slot>,
}

impl<S: Sync> FromRequestParts<S> for Asker {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let principal = parts.extensions.get::<Principal>().cloned();
        let correlation = parts.extensions.get::<Correlation>().cloned();
        let slot = parts.extensions.get::<Slot>().cloned();
        match (principal, correlation) {
            (Some(principal), Some(Correlation(correlation))) => Ok(Self { principal, correlation, slot }),
            _ => Err(Refused::new(
                ErrorCode::Unauthorized,
                "nobody vouches for this request",
                "show a key: Authorization: Bearer bwk_…",
            )),
        }
    }
}

impl Asker {
    /// As the inside knows them. Nobody answers for a caller from outside but those who watch the queue.
    ///
    /// From here on something is about to run, so where that needs room it is taken.
    pub(crate) fn caller(&self, listener: Arc<dyn Listener>) -> Result<Caller, Refused> {
        Ok(self.admitted().caller(Arc::new(NoApprover), listener)?)
    }

    /// As what serves behind the perimeter knows them.
    pub(crate) fn admitted(&self) -> Admitted {
        let Self { principal, correlation, slot } = self.clone();
        let Principal { actor, scopes, key, dialogue, ends_s } = principal;
        let room = slot.map(|slot| Arc::new(slot) as Arc<dyn Room>);
        Admitted { actor, scopes, key, dialogue, ends_s, correlation: Some(correlation), room }
    }
}

impl Served {
    /// Performs an action for somebody who hears nothing meanwhile.
    pub(crate) async fn perform(&self, asker: &Asker, action: Action) -> Result<Reply, Refused> {
        Ok(self.desk.perform(asker.caller(Arc::new(Deaf))?, action).await?)
    }
}

/// Takes what a reply holds, if it is the one that the action has.
macro_rules! held {
    ($reply:expr, $variant:ident) => {
        match $reply {
            bailiwick_core::Reply::$variant(held) => held,
            _ => return Err($crate::routes::problem::Refused::unexpected()),
        }
    };
}
pub(crate) use held;
