//! Which backend is picked. Never one below the floor, nor one that does not hold what is demanded: where none is good
//! enough, the error says what was tried.
//!
//! Backends look in the order in which they would be taken, and no further than the first that is good enough: a look makes a
//! sandbox, so one that nobody needs would start a container or a machine for nothing. Where one takes its time the others look
//! beside it, each with a deadline, so that those that hang keep nobody waiting for long. Another machine is asked where none
//! here is good enough, or where somebody asks for it.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_types::Tier;
use tokio::task::JoinHandle;

use crate::receipt::{Alternative, leave_out, unenforceable};
use crate::{Available, Backend, Demand, Location, Probe, SandboxError, SandboxSpec, judge};

/// How long one look is waited for alone. Most that work here are over by then.
pub(crate) const ALONE: Duration = Duration::from_secs(2);

/// The backends that there are.
#[derive(Debug, Clone, Default)]
pub struct Backends {
    all: Vec<Arc<dyn Backend>>,
    lenient: Vec<Demand>,
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
    /// What would make it so, where that is known.
    pub fix: Option<String>,
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
        tried.iter().map(|Tried { backend, tier, why, .. }| format!("{backend} ({tier}): {why}")).collect();
    told.join("; ")
}

impl NoneFits {
    /// What to do next.
    pub fn hint(&self) -> String {
        let fix = |tried: &Tried| Some(format!("{}: {}", tried.backend, tried.fix.as_ref()?));
        let doctor = "bailiwick doctor tells what each backend holds here, and what would give the rest";
        let hints: Vec<String> = self.tried.iter().filter_map(fix).chain([doctor.to_owned()]).collect();
        hints.join("; ")
    }
}

impl Backends {
    /// These backends.
    pub fn new(all: impl IntoIterator<Item = Arc<dyn Backend>>) -> Self {
        Self { all: all.into_iter().collect(), lenient: Vec::new() }
    }

    /// With walls that may be partial, since the operator said so.
    #[must_use]
    pub fn with_lenient(mut self, demands: impl IntoIterator<Item = Demand>) -> Self {
        self.lenient = demands.into_iter().collect();
        self
    }

    /// The walls that may be partial.
    pub fn lenient(&self) -> &[Demand] {
        &self.lenient
    }

    /// Every backend.
    pub fn all(&self) -> &[Arc<dyn Backend>] {
        &self.all
    }

    /// The backend of this name.
    pub fn by_id(&self, id: &str) -> Option<&Arc<dyn Backend>> {
        self.all.iter().find(|backend| backend.id() == id)
    }

    /// What every backend can do here and now, in their order. One that does not answer is not available.
    pub async fn survey(&self) -> Vec<(Arc<dyn Backend>, Probe)> {
        let looks: Vec<_> = self.all.iter().map(|backend| (backend.clone(), look(backend))).collect();
        let mut seen = Vec::with_capacity(looks.len());
        for (backend, look) in looks {
            seen.push((backend, answer(look).await));
        }
        seen
    }

    /// The backend of the highest priority that is available, can run it and holds what it demands. One on another machine
    /// only where none here does.
    pub async fn preferred(&self, spec: &SandboxSpec) -> Result<Arc<dyn Backend>, SandboxError> {
        self.pick(Tier::Process, None, spec, |backend, tier| (backend.priority(), tier as u32)).await
    }

    /// The strongest backend at or above the floor that is available, can run it and holds what it demands. One on another
    /// machine, however strong, only where none here does, or where that is the location.
    pub async fn select(
        &self,
        floor: Tier,
        location: Option<Location>,
        spec: &SandboxSpec,
    ) -> Result<Arc<dyn Backend>, SandboxError> {
        self.pick(floor, location, spec, |backend, tier| (tier as u32, backend.priority())).await
    }

    /// The backend of this name, if it is at or above the floor, available, can run it and holds what it demands. Where it
    /// does not, the error says which other backend would.
    pub async fn named(
        &self,
        id: &str,
        floor: Tier,
        spec: &SandboxSpec,
    ) -> Result<Arc<dyn Backend>, SandboxError> {
        spec.check()?;
        let Some(backend) = self.by_id(id) else {
            let known = self.all.iter().map(|backend| backend.id().to_owned()).collect();
            return Err(SandboxError::NoBackend { name: bailiwick_types::shortened(id), known });
        };
        let below = || {
            let why = Why::plain(format!("it is below {floor}"));
            SandboxError::from(NoneFits { floor, tried: vec![why.of(backend.as_ref())] })
        };
        if !backend.may_be().meets(floor) {
            return Err(below());
        }
        backend.can_run(spec)?;
        let probe = answer(look(backend)).await;
        if let Available::No { reason, fix } = probe.availability {
            return Err(SandboxError::Unavailable { backend: id.to_owned(), reason, fix });
        }
        if !backend.tier().meets(floor) {
            return Err(below());
        }
        if let Err(unheld) = judge(spec, &probe.enforces, &self.lenient) {
            let others = self.alternatives(floor, spec).await;
            return Err(unenforceable(id, spec, &unheld, &others));
        }
        Ok(backend.clone())
    }

    /// What the backends here hold that could run this at the floor.
    pub async fn alternatives(&self, floor: Tier, spec: &SandboxSpec) -> Vec<Alternative> {
        // Nobody has to look who is out of the question, and no other machine is asked for the sake of a hint.
        let here = Some(Location::Here);
        let could = |backend: &&Arc<dyn Backend>| unfit(backend.as_ref(), floor, here, spec).is_none();
        let looks: Vec<_> = self.all.iter().filter(could).map(|backend| (backend, look(backend))).collect();
        let mut able = Vec::new();
        for (backend, look) in looks {
            let probe = answer(look).await;
            if probe.availability == Available::Yes && backend.tier().meets(floor) {
                able.push(Alternative { backend: backend.id().to_owned(), enforces: probe.enforces });
            }
        }
        able
    }

    async fn pick(
        &self,
        floor: Tier,
        location: Option<Location>,
        spec: &SandboxSpec,
        rank: impl Fn(&dyn Backend, Tier) -> (u32, u32),
    ) -> Result<Arc<dyn Backend>, SandboxError> {
        spec.check()?;
        let mut left: Vec<(&Arc<dyn Backend>, Look)> = self
            .all
            .iter()
            .map(|backend| {
                let unfit = unfit(backend.as_ref(), floor, location, spec);
                (backend, unfit.map_or(Look::NotYet, Look::Unfit))
            })
            .collect();
        let mut none = Vec::new();
        while let Some((backend, known)) = next(&mut left, &rank) {
            let probe = match known {
                Look::Unfit(why) => {
                    none.push(why.of(backend.as_ref()));
                    continue;
                }
                Look::Seen(probe) => probe,
                Look::NotYet | Look::Begun(_) => {
                    let hoped = backend.may_be();
                    let begun = if let Look::Begun(begun) = known { begun } else { look(backend) };
                    let probe = beside(begun, backend.location(), &mut left).await;
                    if backend.tier() != hoped {
                        // It is weaker than it might have been, so that others may come before it now.
                        left.push((backend, Look::Seen(probe)));
                        continue;
                    }
                    probe
                }
            };
            match self.suits(backend.as_ref(), floor, &probe, spec) {
                Ok(()) => return Ok(backend.clone()),
                Err(why) => none.push(why.of(backend.as_ref())),
            }
        }
        Err(NoneFits { floor, tried: none }.into())
    }

    fn suits(
        &self,
        backend: &dyn Backend,
        floor: Tier,
        probe: &Probe,
        spec: &SandboxSpec,
    ) -> Result<(), Why> {
        if let Available::No { reason, fix } = &probe.availability {
            return Err(Why { why: reason.clone(), fix: fix.clone() });
        }
        if !backend.tier().meets(floor) {
            return Err(Why::plain(format!("it is below {floor}")));
        }
        judge(spec, &probe.enforces, &self.lenient).map(drop).map_err(|unheld| {
            let gaps: Vec<String> = unheld.iter().map(ToString::to_string).collect();
            let why = format!("it does not hold {}", gaps.join(", "));
            Why { why, fix: leave_out(spec, &unheld) }
        })
    }
}

/// How far a backend was looked at.
enum Look {
    /// It is out of the question.
    Unfit(Why),
    /// It has not begun to.
    NotYet,
    /// It looks.
    Begun(JoinHandle<Probe>),
    /// It has looked.
    Seen(Probe),
}

/// Takes out the one that comes first: one here, then the highest rank, and of those the first by name.
fn next<'a>(
    left: &mut Vec<(&'a Arc<dyn Backend>, Look)>,
    rank: &impl Fn(&dyn Backend, Tier) -> (u32, u32),
) -> Option<(&'a Arc<dyn Backend>, Look)> {
    let place = |(backend, look): &(&Arc<dyn Backend>, Look)| {
        let is_open = matches!(look, Look::NotYet | Look::Begun(_));
        let tier = if is_open { backend.may_be() } else { backend.tier() };
        let is_elsewhere = backend.location() != Location::Here;
        (is_elsewhere, Reverse(rank(backend.as_ref(), tier)), backend.id().to_owned())
    };
    let first = left.iter().enumerate().min_by_key(|(_, one)| place(one)).map(|(index, _)| index)?;
    Some(left.swap_remove(first))
}

/// Waits for a look. One that takes its time is not waited for alone: then the others of its location look beside it.
async fn beside(
    begun: JoinHandle<Probe>,
    location: Location,
    left: &mut [(&Arc<dyn Backend>, Look)],
) -> Probe {
    let mut answer = std::pin::pin!(answer(begun));
    if let Ok(probe) = tokio::time::timeout(ALONE, &mut answer).await {
        return probe;
    }
    for (backend, known) in left.iter_mut().filter(|(backend, _)| backend.location() == location) {
        if matches!(known, Look::NotYet) {
            *known = Look::Begun(look(backend));
        }
    }
    answer.await
}

/// Why a backend is not taken.
struct Why {
    why: String,
    fix: Option<String>,
}

impl Why {
    const fn plain(why: String) -> Self {
        Self { why, fix: None }
    }

    fn of(self, backend: &dyn Backend) -> Tried {
        let Self { why, fix } = self;
        Tried { backend: backend.id().to_owned(), tier: backend.tier(), why, fix }
    }
}

/// Why a backend is out of the question, whatever it would find.
fn unfit(backend: &dyn Backend, floor: Tier, location: Option<Location>, spec: &SandboxSpec) -> Option<Why> {
    if !backend.may_be().meets(floor) {
        return Some(Why::plain(format!("it is below {floor}")));
    }
    if let Some(location) = location.filter(|location| *location != backend.location()) {
        return Some(Why::plain(format!("it does not run {location}")));
    }
    backend.can_run(spec).err().map(|error| Why { why: error.to_string(), fix: error.hint() })
}

/// Begins to look. It goes on when nobody waits for it any more: what it finds is remembered by the backend.
fn look(backend: &Arc<dyn Backend>) -> JoinHandle<Probe> {
    let backend = backend.clone();
    tokio::spawn(async move {
        match tokio::time::timeout(backend.patience(), backend.probe()).await {
            Ok(probe) => probe,
            Err(_) => missing("it did not answer in time"),
        }
    })
}

async fn answer(look: JoinHandle<Probe>) -> Probe {
    look.await.unwrap_or_else(|_| missing("its look at this machine failed by a mistake of ours"))
}

fn missing(reason: &str) -> Probe {
    let availability = Available::No { reason: reason.to_owned(), fix: None };
    Probe { availability, enforces: Vec::new(), found: Vec::new() }
}
