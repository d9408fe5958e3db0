//! Sessions of the older era: whose each is, and how many there are.
//!
//! A session is its opener's alone: its id opens nothing for anybody else. It holds what its client said of itself and
//! nothing that a call needs, so an idle one is put aside and set up again when its client comes back.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_core::Admitted;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::session::{
    SessionManager as _, SessionState, SessionStore, SessionStoreError,
};
use serde_json::json;

use crate::door::MOST_ABOUT_ITSELF;

/// The most sessions there are: with one more, one of whoever has most goes.
const MOST: usize = 1024;
/// The most that are one caller's: with one more, the one that was not used for longest ends.
const MOST_OF_ONE: usize = 256;
/// How long an idle session is kept ready.
const READY: Duration = Duration::from_mins(30);
/// How long the answer to a request can be fetched again by a client that lost its connection.
const AGAIN: Duration = Duration::from_secs(10);

/// The sessions.
pub(crate) struct Sessions {
    kept: Mutex<HashMap<String, Kept>>,
    manager: Arc<LocalSessionManager>,
}

struct Kept {
    state: SessionState,
    /// Whose it is; nobody's until its opener was told its id.
    of: Option<String>,
    used: Instant,
}

/// Who somebody is, as far as sessions are concerned.
pub(crate) fn owner(who: &Admitted) -> String {
    json!({"actor": who.actor, "scopes": who.scopes, "key": who.key}).to_string()
}

impl Sessions {
    pub(crate) fn new() -> Arc<Self> {
        let mut manager = LocalSessionManager::default();
        let mut config = SessionConfig::default();
        config.keep_alive = Some(READY);
        config.completed_cache_ttl = AGAIN;
        manager.session_config = config;
        Arc::new(Self { kept: Mutex::default(), manager: Arc::new(manager) })
    }

    pub(crate) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a session is this caller's. Asking counts as using it.
    pub(crate) fn is_of(&self, id: &str, who: &str) -> bool {
        match self.kept().get_mut(id) {
            Some(kept) if kept.of.as_deref() == Some(who) => {
                kept.used = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Gives a session that was just opened to whoever opened it. With one too many, another one goes.
    pub(crate) async fn give(&self, id: &str, who: String) {
        let over = {
            let mut kept = self.kept();
            if let Some(one) = kept.get_mut(id) {
                one.of = Some(who);
            }
            surplus(&kept).inspect(|id| drop(kept.remove(id)))
        };
        if let Some(id) = over
            && let Err(error) = self.manager.close_session(&id.into()).await
        {
            tracing::debug!(%error, "a session that was not used for long could not be closed");
        }
    }
}

/// The session that is one too many: of those of the caller who has most, the one that was not used for longest. So
/// whoever opens many loses their own.
fn surplus(kept: &HashMap<String, Kept>) -> Option<String> {
    let mut of_each: HashMap<Option<&str>, usize> = HashMap::new();
    for one in kept.values() {
        *of_each.entry(one.of.as_deref()).or_default() += 1;
    }
    let count = |one: &Kept| of_each.get(&one.of.as_deref()).copied().unwrap_or_default();
    let most = of_each.values().copied().max().unwrap_or_default();
    if kept.len() <= MOST && most <= MOST_OF_ONE {
        return None;
    }
    let oldest = kept.iter().min_by_key(|(_, one)| (Reverse(count(one)), one.used));
    oldest.map(|(id, _)| id.clone())
}

#[async_trait::async_trait]
impl SessionStore for Sessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        Ok(self.kept().get(id).map(|kept| kept.state.clone()))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        // A client that said too much was refused: nothing of it is kept, and its id opens nothing.
        let said = serde_json::to_vec(&state.initialize_params).map_or(usize::MAX, |said| said.len());
        if said > MOST_ABOUT_ITSELF {
            return Ok(());
        }
        self.kept().insert(id.to_owned(), Kept { state: state.clone(), of: None, used: Instant::now() });
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        self.kept().remove(id);
        Ok(())
    }
}
