//! Which backend is picked. Never one below the floor: where none is good enough, the error says what was tried.

use std::sync::Arc;

use bailiwick_types::Tier;

use crate::{Available, Backend, Location, SandboxError, SandboxSpec};

/// The backends that there are.
#[derive(Debug, Clone, Default)]
pub struct Backends {
    all: Vec<Arc<dyn Backend>>,
}

/// A backend that was looked at and not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Its name.
    pub backend: String,
    /// How strong it is.
    pub tier: Tier,
    /// Why it was not good enough.
    pub why: String,
}

/// No backend is good enough.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no backend can run this at {floor} or stronger: {}", told(tried))]
pub struct NoneFits {
    /// The floor.
    pub floor: Tier,
    /// What was tried.
    pub tried: Vec<Tried>,
}

fn told(tried: &[Tried]) -> String {
    if tried.is_empty() {
        return "there is no backend at all".to_owned();
    }
    let told: Vec<String> =
        tried.iter().map(|Tried { backend, tier, why }| format!("{backend} ({tier}): {why}")).collect();
    told.join("; ")
}

impl NoneFits {
    /// What to do next.
    pub fn hint(&self) -> String {
        "bailiwick doctor tells what each backend holds here, and what would give the rest".to_owned()
    }
}

impl Backends {
    /// These backends.
    pub fn new(all: impl IntoIterator<Item = Arc<dyn Backend>>) -> Self {
        Self { all: all.into_iter().collect() }
    }

    /// Every backend.
    pub fn all(&self) -> &[Arc<dyn Backend>] {
        &self.all
    }

    /// The backend of this name.
    pub fn by_id(&self, id: &str) -> Option<&Arc<dyn Backend>> {
        self.all.iter().find(|backend| backend.id() == id)
    }

    /// The backend of the highest priority that is available and can run it.
    pub async fn preferred(&self, spec: &SandboxSpec) -> Result<Arc<dyn Backend>, SandboxError> {
        self.pick(Tier::Process, None, spec, |backend| u64::from(backend.priority())).await
    }

    /// The strongest backend at or above the floor.
    pub async fn select(
        &self,
        floor: Tier,
        location: Option<Location>,
        spec: &SandboxSpec,
    ) -> Result<Arc<dyn Backend>, SandboxError> {
        let rank = |backend: &dyn Backend| {
            let tier = Tier::ALL.iter().position(|tier| *tier == backend.tier()).unwrap_or(0) as u64;
            (tier << 32) | u64::from(backend.priority())
        };
        self.pick(floor, location, spec, rank).await
    }

    async fn pick(
        &self,
        floor: Tier,
        location: Option<Location>,
        spec: &SandboxSpec,
        rank: impl Fn(&dyn Backend) -> u64,
    ) -> Result<Arc<dyn Backend>, SandboxError> {
        let mut order: Vec<&Arc<dyn Backend>> = self.all.iter().collect();
        order.sort_by_key(|backend| std::cmp::Reverse(rank(backend.as_ref())));
        let mut tried = Vec::new();
        for backend in order {
            let why = if !backend.tier().meets(floor) {
                format!("it is below {floor}")
            } else if location.is_some_and(|location| location != backend.location()) {
                "it does not run where that was asked for".to_owned()
            } else {
                match (backend.can_run(spec), backend.probe().await.availability) {
                    (Ok(()), Available::Yes) => return Ok(backend.clone()),
                    (Err(error), _) => error.to_string(),
                    (Ok(()), Available::No { reason, .. }) => reason,
                }
            };
            tried.push(Tried { backend: backend.id().to_owned(), tier: backend.tier(), why });
        }
        Err(NoneFits { floor, tried }.into())
    }
}
