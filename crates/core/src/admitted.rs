//! Whoever was let in at a door that others reach, and the room that what they run takes.
//!
//! A door hands one of these to whatever serves behind it. What it says is what the door made sure of: nothing in it is
//! taken from a message.

use std::sync::Arc;

use bailiwick_types::{CorrelationId, ErrorCode, KeyId, Scopes};

use crate::{Actor, Approver, Caller, Event, Listener, Refusal};

/// Room for one thing that runs.
pub trait Room: Send + Sync {
    /// Takes it, if there is any right now. Taking what is held already changes nothing.
    fn take(&self) -> Result<(), NoRoom>;

    /// Gives it back.
    fn release(&self);
}

/// There is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

/// Whoever was let in.
#[derive(Clone)]
pub struct Admitted {
    /// As the record names them.
    pub actor: Actor,
    /// What their credentials cover.
    pub scopes: Scopes,
    /// The key they showed; none without one, and for a token.
    pub key: Option<KeyId>,
    /// When their token ends, in seconds since 1970: whoever watches by it goes then. A key tells its end by itself.
    pub ends_s: Option<u64>,
    /// What their request is tied to.
    pub correlation: Option<CorrelationId>,
    /// The room that their request takes, if what it asks for runs something.
    pub room: Option<Arc<dyn Room>>,
}

impl std::fmt::Debug for Admitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { actor, scopes, key, ends_s, correlation, room: _ } = self;
        let mut shown = f.debug_struct("Admitted");
        shown.field("actor", actor).field("scopes", scopes).field("key", key).field("ends_s", ends_s);
        shown.field("correlation", correlation).finish_non_exhaustive()
    }
}

impl Admitted {
    /// Somebody who needs no room: who is alone at their end of a pipe.
    pub const fn alone(actor: Actor, scopes: Scopes) -> Self {
        Self { actor, scopes, key: None, ends_s: None, correlation: None, room: None }
    }

    /// As the inside knows them.
    ///
    /// From here on something is about to run, so where that needs room it is taken.
    pub fn caller(
        &self,
        approver: Arc<dyn Approver>,
        listener: Arc<dyn Listener>,
    ) -> Result<Caller, Refusal> {
        let Self { actor, scopes, key, ends_s: _, correlation: _, room } = self.clone();
        let listener = match room {
            Some(room) => {
                room.take().map_err(|NoRoom| {
                    let message = "as many calls are under way as `server.calls` allows";
                    Refusal::new(ErrorCode::Busy, message).with_hint("wait a second and ask again")
                })?;
                Arc::new(MakesRoom { room, listener })
            }
            None => listener,
        };
        Ok(Caller { key, approver, listener, ..Caller::covering(actor, scopes) })
    }
}

/// Gives the room of an action back when that is over, or as soon as it waits for a person.
///
/// It takes none again after a yes: whoever has one is not turned away, and how many cells run at once is bounded by the
/// runtime itself.
struct MakesRoom {
    room: Arc<dyn Room>,
    listener: Arc<dyn Listener>,
}

impl Drop for MakesRoom {
    fn drop(&mut self) {
        self.room.release();
    }
}

impl Listener for MakesRoom {
    fn hear(&self, event: Event) {
        if matches!(event, Event::Waiting(_)) {
            self.room.release();
        }
        self.listener.hear(event);
    }
}
