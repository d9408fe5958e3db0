//! Asking a person while the cell stands still. All waiting of one call together has one bound; after it every
//! question is a no.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_cell::Standstill;
use bailiwick_gateway::person::{Asked, Person, Said};
use bailiwick_redact::Redactor;

use crate::redaction;

/// Whoever can be asked, as far as one call is concerned.
pub(super) struct Waiting {
    person: Arc<dyn Person>,
    standstill: OnceLock<Standstill>,
    /// How long this call may still wait for people.
    left: Mutex<Duration>,
    /// What a person is shown leaves the call like any other text.
    redactor: Redactor,
}

impl Waiting {
    pub(super) fn new(person: Arc<dyn Person>, deadline: Duration, redactor: Redactor) -> Self {
        Self { person, standstill: OnceLock::new(), left: Mutex::new(deadline), redactor }
    }

    /// Says which cell has to stand still.
    pub(super) fn of(&self, standstill: &Standstill) {
        self.standstill.get_or_init(|| standstill.clone());
    }

    fn left(&self) -> Duration {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spend(&self, spent: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(spent);
    }
}

impl Person for Waiting {
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        Box::pin(async move {
            let asked = Asked { effect: redaction::line_of_effect(&self.redactor, &asked.effect), ..asked };
            let (left, since) = (self.left(), Instant::now());
            // Nobody is troubled for an answer that would come too late.
            if left.is_zero() {
                return Said::Nothing;
            }
            let _still = self.standstill.get().map(Standstill::hold);
            let said = tokio::time::timeout(left, self.person.ask(asked)).await.unwrap_or(Said::Nothing);
            self.spend(since.elapsed());
            said
        })
    }
}
