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

/// Whether a caller's yes in the dialogue of its own MCP client counts as a person's answer.
///
/// An agent can answer such a dialogue by itself, so it counts only where the operator said that a person sits there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialogue {
    /// It does not count: callers without a key, tokens, and every key that was made without `--dialogue`.
    #[default]
    Ignored,
    /// It counts: a key made with `--dialogue`, and `bailiwick mcp` started by the operator's own user.
    Counts,
}

impl Dialogue {
    /// As a key says it.
    pub const fn of_key(counts: bool) -> Self {
        if counts { Self::Counts } else { Self::Ignored }
    }
}

/// Whoever was let in.
#[derive(Clone)]
pub struct Admitted {
    /// As the record names them.
    pub actor: Actor,
    /// What their credentials cover.
    pub scopes: Scopes,
    /// The key they showed; none without one, and for a token.
    pub key: Option<KeyId>,
    /// Whether their client's own dialogue counts as an answer.
    pub dialogue: Dialogue,
    /// When their token ends, in seconds since 1970: whoever watches by it goes then. A key tells its end by itself.
    pub ends_s: Option<u64>,
    /// What their request is tied to.
    pub correlation: Option<CorrelationId>,
    /// The room that their request takes, if what it asks for runs something.
    pub room: Option<Arc<dyn Room>>,
}

impl std::fmt::Debug for Admitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { actor, scopes, key, dialogue, ends_s, correlation, room: _ } = self;
        let mut shown = f.debug_struct("Admitted");
        shown.field("actor", actor).field("scopes", scopes).field("key", key).field("dialogue", dialogue);
        shown.field("ends_s", ends_s);
        shown.field("correlation", correlation).finish_non_exhaustive()
    }
}

impl Admitted {
    /// A caller who needs no room: the one at the other end of a pipe. Its client's dialogue does not count unless
    /// [`Admitted::dialogue`] says so.
    pub const fn alone(actor: Actor, scopes: Scopes) -> Self {
        let dialogue = Dialogue::Ignored;
        Self { actor, scopes, key: None, dialogue, ends_s: None, correlation: None, room: None }
    }

    /// As the inside knows them.
    ///
    /// From here on something is about to run, so where that needs room it is taken.
    pub fn caller(
        &self,
        approver: Arc<dyn Approver>,
        listener: Arc<dyn Listener>,
    ) -> Result<Caller, Refusal> {
        let Self { actor, scopes, key, dialogue: _, ends_s: _, correlation: _, room } = self.clone();
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
