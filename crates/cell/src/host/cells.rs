//! The cells of a program: one nursery per tenant, healed when it dies, replaced when it is old, and a bound on how
//! many calls run and wait.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use bailiwick_types::{LogLine, Wallpart};
use bailiwick_wire::{Job, Probe};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::call::{self, Ended};
use super::nest::{Leased, Nest, NoCell};
use super::{Busy, CallError, Gateway, Options, ProbeResult, StartError, Tenant, start};

/// How often a call is given to another nursery when its own died before the call began.
const TRIES: usize = 3;

/// Cells, ready for calls. Cheap to clone; the nurseries end with the last clone.
#[derive(Debug, Clone)]
pub struct Cells {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: Options,
    tenants: Mutex<BTreeMap<Tenant, Arc<Slot>>>,
    gate: Semaphore,
    waiting: AtomicUsize,
    /// What a call takes, smoothed, in microseconds: for the hint of when to come back.
    usual_us: AtomicU64,
}

/// Where a tenant's nursery is.
#[derive(Debug)]
struct Slot {
    nest: Mutex<Option<Arc<Nest>>>,
    used: Mutex<Instant>,
    mending: tokio::sync::Mutex<()>,
}

impl Cells {
    /// Starts cells, and the nursery of the default tenant: what this machine cannot do is known at once.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        if !has_drivers() {
            return Err(StartError::NoRuntime);
        }
        // Two descriptors per cell that is parked or out.
        bailiwick_sys::descriptors::raise_limit();
        let gate = Semaphore::new(options.at_once.clamp(1, Semaphore::MAX_PERMITS));
        let shared = Arc::new(Shared {
            options,
            tenants: Mutex::default(),
            gate,
            waiting: AtomicUsize::new(0),
            usual_us: AtomicU64::new(1000),
        });
        let cells = Self { shared };
        let slot = cells.slot(&Tenant::default());
        mend(&cells.shared, &slot).await?;
        Ok(cells)
    }

    /// Runs one job in a cell of its own, its effects done by the gateway; without one it can ask for none. Dropping the
    /// future kills the cell.
    pub async fn call(
        &self,
        tenant: &Tenant,
        job: Job,
        gateway: Option<&dyn Gateway>,
        on_line: &mut (dyn FnMut(LogLine) + Send),
    ) -> Result<Ended, CallError> {
        let _turn = self.turn().await?;
        let order = call::Order::new(job)?;
        let mut tries = 0;
        loop {
            let cell = self.cell(tenant).await?;
            let began = Instant::now();
            let ended = call::run(cell, &order, gateway, on_line).await;
            tries += 1;
            match ended {
                // Nothing of the job was read, so nothing of it can happen twice.
                None if tries < TRIES + self.shared.options.parked => {}
                None => return Err(StartError::Silent(None).into()),
                Some(ended) => {
                    self.learn(began.elapsed());
                    return Ok(ended);
                }
            }
        }
    }

    /// Has a fresh cell try to break its wall.
    pub async fn probe(&self, tenant: &Tenant, probe: Probe) -> Result<ProbeResult, CallError> {
        let _turn = self.turn().await?;
        let cell = self.cell(tenant).await?;
        call::probe(cell, probe).await
    }

    /// Which walls were seen to stand around a tenant's cells.
    pub async fn walls(&self, tenant: &Tenant) -> Result<Vec<Wallpart>, StartError> {
        let slot = self.slot(tenant);
        Ok(alive(&self.shared, &slot).await?.walls().to_vec())
    }

    /// What could not be had when a tenant's nursery was built, and why.
    pub async fn missing(&self, tenant: &Tenant) -> Result<Vec<String>, StartError> {
        let slot = self.slot(tenant);
        Ok(alive(&self.shared, &slot).await?.missing().to_vec())
    }

    /// Cells of a tenant that are parked, and that are out.
    pub fn count(&self, tenant: &Tenant) -> (usize, usize) {
        self.known(tenant).map_or((0, 0), |nest| (nest.parked(), nest.out()))
    }

    /// Kills a tenant's nursery, to see that calls go on afterwards.
    pub fn kill_nursery(&self, tenant: &Tenant) {
        if let Some(nest) = self.known(tenant) {
            nest.kill();
        }
    }

    /// The nursery of a tenant that has one.
    fn known(&self, tenant: &Tenant) -> Option<Arc<Nest>> {
        let tenants = self.shared.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.get(tenant).and_then(|slot| current(slot))
    }

    /// Waits for this call's turn.
    async fn turn(&self) -> Result<SemaphorePermit<'_>, Busy> {
        let Shared { options, gate, waiting, .. } = &*self.shared;
        if let Ok(permit) = gate.try_acquire() {
            return Ok(permit);
        }
        let ahead = Counted::enter(waiting);
        if ahead.before >= options.waiting {
            return Err(self.busy(ahead.before));
        }
        match tokio::time::timeout(options.patience, gate.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(self.busy(ahead.before)),
        }
    }

    fn busy(&self, ahead: usize) -> Busy {
        let usual = Duration::from_micros(self.shared.usual_us.load(Ordering::Relaxed));
        let rounds = u32::try_from(ahead / self.shared.options.at_once.max(1) + 1).unwrap_or(u32::MAX);
        Busy { retry_after: (usual * rounds).clamp(Duration::from_millis(10), Duration::from_secs(30)) }
    }

    fn learn(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let usual = self.shared.usual_us.load(Ordering::Relaxed);
        // A lost update among many is no loss.
        self.shared.usual_us.store(usual - usual / 16 + took / 16, Ordering::Relaxed);
    }

    async fn cell(&self, tenant: &Tenant) -> Result<Leased, CallError> {
        let slot = self.slot(tenant);
        for _ in 0..TRIES {
            let nest = alive(&self.shared, &slot).await?;
            match tokio::time::timeout(self.shared.options.patience, nest.take()).await {
                Ok(Ok(cell)) => {
                    self.replace_if_old(&slot, &nest);
                    return Ok(cell);
                }
                Ok(Err(NoCell::Dead)) => {}
                Ok(Err(NoCell::NotBorn)) | Err(_) => return Err(self.busy(0).into()),
            }
        }
        Err(StartError::Silent(None).into())
    }

    fn slot(&self, tenant: &Tenant) -> Arc<Slot> {
        let mut tenants = self.shared.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = tenants.get(tenant) {
            *slot.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            return Arc::clone(slot);
        }
        if tenants.len() >= self.shared.options.tenants.max(1) {
            let idle = tenants
                .iter()
                .filter(|(_, slot)| current(slot).is_none_or(|nest| nest.out() == 0))
                .min_by_key(|(_, slot)| *slot.used.lock().unwrap_or_else(PoisonError::into_inner))
                .map(|(tenant, _)| tenant.clone());
            // Where all are at work there is one more until one is idle.
            if let Some(idle) = idle {
                // Its end may take a while, and nobody has to wait for it under the lock.
                let gone = tenants.remove(&idle);
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn_blocking(move || drop(gone));
                }
            }
        }
        let slot = Arc::new(Slot {
            nest: Mutex::default(),
            used: Mutex::new(Instant::now()),
            mending: tokio::sync::Mutex::default(),
        });
        tenants.insert(tenant.clone(), Arc::clone(&slot));
        slot
    }

    /// Starts a successor in the background; the old one serves until it is ready, and its calls end in peace.
    fn replace_if_old(&self, slot: &Arc<Slot>, nest: &Nest) {
        let Options { calls_per_nursery, nursery_age, .. } = self.shared.options;
        if !nest.is_old(calls_per_nursery, nursery_age) {
            return;
        }
        let (shared, slot) = (Arc::clone(&self.shared), Arc::clone(slot));
        tokio::spawn(async move {
            // Somebody is at it already, or it will be tried again at the next call.
            let Ok(_mending) = slot.mending.try_lock() else { return };
            let still = current(&slot).is_some_and(|nest| nest.is_old(calls_per_nursery, nursery_age));
            if still && let Ok(nest) = make(&shared, &slot).await {
                *slot.nest.lock().unwrap_or_else(PoisonError::into_inner) = Some(nest);
            }
        });
    }
}

/// Whether there is a tokio runtime here with its I/O and time drivers. It has no way to ask but trying, and trying
/// without them panics.
fn has_drivers() -> bool {
    let Ok(handle) = tokio::runtime::Handle::try_current() else { return false };
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let tried = std::panic::catch_unwind(|| {
        let _inside = handle.enter();
        let _timer = tokio::time::sleep(Duration::ZERO);
        // A system that has no socket for it is told of later, by the step that needs one.
        tokio::net::UnixDatagram::unbound().is_ok()
    });
    std::panic::set_hook(before);
    tried.is_ok()
}

fn current(slot: &Slot) -> Option<Arc<Nest>> {
    slot.nest.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A tenant's nursery, started if there is none that lives.
async fn alive(shared: &Arc<Shared>, slot: &Arc<Slot>) -> Result<Arc<Nest>, StartError> {
    match current(slot).filter(|nest| !nest.is_dead()) {
        Some(nest) => Ok(nest),
        None => mend(shared, slot).await,
    }
}

/// Starts a nursery where there is none; whoever comes meanwhile waits for the same one.
async fn mend(shared: &Arc<Shared>, slot: &Arc<Slot>) -> Result<Arc<Nest>, StartError> {
    let _mending = slot.mending.lock().await;
    if let Some(nest) = current(slot).filter(|nest| !nest.is_dead()) {
        return Ok(nest);
    }
    let nest = make(shared, slot).await?;
    *slot.nest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&nest));
    Ok(nest)
}

async fn make(shared: &Arc<Shared>, slot: &Arc<Slot>) -> Result<Arc<Nest>, StartError> {
    let options = shared.options.clone();
    let fresh = tokio::task::spawn_blocking(move || start::start(&options))
        .await
        .map_err(|_| StartError::Silent(None))??;
    let (shared_then, slot_then) = (Arc::downgrade(shared), Arc::downgrade(slot));
    Nest::adopt(fresh, shared.options.parked, move |nest| {
        bury(&slot_then, nest);
        if !nest.died_young() {
            heal(&shared_then, &slot_then);
        }
    })
}

/// Lets go of a nursery that has died, so that its process is reaped.
fn bury(slot: &Weak<Slot>, dead: &Nest) {
    let Some(slot) = slot.upgrade() else { return };
    let mut place = slot.nest.lock().unwrap_or_else(PoisonError::into_inner);
    if place.as_ref().is_some_and(|nest| std::ptr::eq(&raw const **nest, &raw const *dead)) {
        *place = None;
    }
}

/// Starts the next nursery as soon as one has died, so that the next call does not have to.
fn heal(shared: &Weak<Shared>, slot: &Weak<Slot>) {
    let (Some(shared), Some(slot)) = (shared.upgrade(), slot.upgrade()) else { return };
    tokio::spawn(async move {
        // A call that comes before it is done waits for it; one that comes after a failure tries again.
        let _tried_again_by_the_next_call = mend(&shared, &slot).await;
    });
}

/// One more, for as long as it lives.
struct Counted<'a> {
    counter: &'a AtomicUsize,
    before: usize,
}

impl<'a> Counted<'a> {
    fn enter(counter: &'a AtomicUsize) -> Self {
        Self { counter, before: counter.fetch_add(1, Ordering::AcqRel) }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.counter.fetch_sub(1, Ordering::AcqRel);
    }
}
