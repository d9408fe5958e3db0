//! Budgets of the audit log: the bytes that each caller may add in an hour, and disk space that is kept for the operator.
//!
//! An action is admitted before anything of it is done, and charged with the bytes of its records. A refusal for lack of room
//! is counted and not recorded: a record of it would take the room. The operator has no hourly budget; what is refused to the
//! operator is only what could not be recorded.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_config::Audit;
use bailiwick_gateway::files::kept_free;
use bailiwick_store::Store;
use bailiwick_sys::capacity::{self, Disk};
use bailiwick_types::{ErrorCode, format_size};
use tokio::time::Instant;

use crate::{Action, Caller, Rank, Refusal};

/// The most callers that have an account of their own; all others share one.
const MOST_ACCOUNTS: usize = 1024;
/// What a record takes beside its text: its row, and its places in the indexes.
const ROW: u64 = 256;
/// All callers together may add this many times what one may.
const CALLERS: u64 = 4;
/// The time for which a budget is.
const WINDOW: Duration = Duration::from_hours(1);
/// How long the result of a trial write is believed.
const BELIEVED: Duration = Duration::from_secs(1);

tokio::task_local! {
    /// Whom the records of the running action are charged to.
    static CHARGED: Arc<Charge>;
}

/// Budgets of one data directory.
#[derive(Debug)]
pub(crate) struct Budget {
    data: PathBuf,
    reserve: Option<u64>,
    hourly: Option<u64>,
    accounts: Mutex<Accounts>,
    tried: tokio::sync::Mutex<Option<(Instant, Result<(), Refusal>)>>,
}

#[derive(Debug, Default)]
struct Accounts {
    all: Account,
    by_caller: HashMap<String, Account>,
}

/// Bytes that were added, less what has been forgiven since.
#[derive(Debug, Default)]
struct Account {
    bytes: u64,
    at: Option<Instant>,
}

impl Account {
    /// The bytes that count now: a whole budget is forgiven in a window.
    fn now(&mut self, budget: u64, now: Instant) -> u64 {
        let since = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let forgiven = u128::from(budget) * since.as_millis() / WINDOW.as_millis();
        // A time that forgives less than a byte goes on counting.
        if forgiven > 0 || self.at.is_none() {
            self.bytes = self.bytes.saturating_sub(u64::try_from(forgiven).unwrap_or(u64::MAX));
            self.at = Some(now);
        }
        self.bytes
    }
}

/// Whom an action is charged to.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    name: String,
}

/// How much there may be, by the disk as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Terms {
    /// Below this only the operator acts.
    reserve: u64,
    /// Below this nothing is done that has to be recorded.
    least: u64,
    /// What one caller may add in an hour.
    hourly: u64,
}

impl Terms {
    fn of(disk: Disk, reserve: Option<u64>, hourly: Option<u64>) -> Self {
        let reserve = reserve.unwrap_or(kept_free(disk.total));
        let hourly = hourly.unwrap_or((disk.free / 16).max(1 << 20));
        Self { reserve, least: (reserve / 8).min(16 << 20), hourly }
    }
}

impl Budget {
    pub(crate) fn new(data: &Path, audit: &Audit) -> Self {
        Self {
            data: data.to_owned(),
            reserve: audit.reserve_bytes,
            hourly: audit.hourly_bytes,
            accounts: Mutex::default(),
            tried: tokio::sync::Mutex::default(),
        }
    }

    /// The disk as it is now. None where the system does not say; then only writes themselves tell.
    fn disk(&self) -> Option<(Disk, Terms)> {
        match capacity::disk(&self.data) {
            Ok(disk) => {
                #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
                metrics::gauge!("bailiwick_data_free_bytes").set(disk.free as f64);
                Some((disk, Terms::of(disk, self.reserve, self.hourly)))
            }
            Err(error) => {
                tracing::warn!(%error, "the free space of the data directory is not known");
                None
            }
        }
    }

    /// Admits an action that leaves records, or refuses it for lack of room.
    async fn admit(self: &Arc<Self>, store: &Store, caller: &Caller) -> Result<Option<Charge>, Refusal> {
        let Some((disk, terms)) = self.disk() else { return Ok(None) };
        let rank = caller.rank();
        let needed = if rank == Rank::Operator { terms.least } else { terms.reserve };
        if disk.free < needed {
            // Records that were removed left room within the database, which is filled before the file grows.
            let free = disk.free.saturating_add(store.free_within().await.unwrap_or(0));
            if free < needed {
                metrics::counter!("bailiwick_audit_refused_total", "reason" => "disk").increment(1);
                return Err(if rank == Rank::Operator {
                    no_room(free, terms.least)
                } else {
                    kept_back(free, terms.reserve)
                });
            }
        }
        if rank == Rank::Operator {
            return Ok(None);
        }
        let charge = Charge { budget: Arc::clone(self), name: name_of(caller) };
        let (used, used_by_all) = self.used(&charge.name, terms.hourly);
        let most_of_all = terms.hourly.saturating_mul(CALLERS);
        let (used, most, whose) = if used >= terms.hourly {
            (used, terms.hourly, "this caller")
        } else if used_by_all >= most_of_all {
            (used_by_all, most_of_all, "all callers together")
        } else {
            return Ok(Some(charge));
        };
        metrics::counter!("bailiwick_audit_refused_total", "reason" => "hourly").increment(1);
        Err(over(used, most, whose, terms.hourly))
    }

    /// What counts against a caller and against all, now.
    fn used(&self, name: &str, hourly: u64) -> (u64, u64) {
        let now = Instant::now();
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let all = accounts.all.now(hourly.saturating_mul(CALLERS), now);
        let name = accounts.name(name, hourly, now);
        (accounts.by_caller.entry(name).or_default().now(hourly, now), all)
    }

    fn add(&self, name: &str, bytes: u64) {
        metrics::counter!("bailiwick_audit_bytes_total").increment(bytes);
        let now = Instant::now();
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let name = accounts.name(name, 0, now);
        let accounts = &mut *accounts;
        for account in [&mut accounts.all, accounts.by_caller.entry(name).or_default()] {
            account.bytes = account.bytes.saturating_add(bytes);
            account.at.get_or_insert(now);
        }
    }

    /// Whether an action of the operator could be recorded now.
    pub(crate) async fn can_record(&self, store: &Store) -> Result<(), Refusal> {
        let disk = self.disk();
        if let Some((disk, terms)) = disk
            && disk.free < terms.least
        {
            let free = disk.free.saturating_add(store.free_within().await.unwrap_or(0));
            if free < terms.least {
                return Err(no_room(free, terms.least));
            }
        }
        let in_doubt =
            store.last_write_failed() || disk.is_none_or(|(disk, terms)| disk.free < terms.reserve);
        if !in_doubt {
            return Ok(());
        }
        let mut tried = self.tried.lock().await;
        if let Some((at, result)) = tried.as_ref()
            && at.elapsed() < BELIEVED
        {
            return result.clone();
        }
        let result = store.probe().await.map_err(Refusal::from);
        *tried = Some((Instant::now(), result.clone()));
        result
    }
}

impl Accounts {
    /// The name of a caller's account: their own, or that of all for whom there is none.
    fn name(&mut self, name: &str, hourly: u64, now: Instant) -> String {
        if !self.by_caller.contains_key(name) && self.by_caller.len() >= MOST_ACCOUNTS {
            self.by_caller.retain(|_, account| account.now(hourly, now) > 0);
            if self.by_caller.len() >= MOST_ACCOUNTS {
                return String::new();
            }
        }
        name.to_owned()
    }
}

/// The account of a caller. Callers without a key share one: nothing tells them apart that they do not choose.
fn name_of(caller: &Caller) -> String {
    caller.actor.key.as_ref().map_or_else(|| "keyless".to_owned(), |key| format!("key {key}"))
}

fn kept_back(free: u64, reserve: u64) -> Refusal {
    let message = format!(
        "the disk of the data directory has {} left, and the last {} are kept for the operator (audit.reserve)",
        format_size(free),
        format_size(reserve),
    );
    Refusal::new(ErrorCode::Unavailable, message)
        .with_hint("have the operator make room: bailiwick audit retain, or free space on that disk")
}

fn no_room(free: u64, least: u64) -> Refusal {
    let message = format!(
        "the disk of the data directory has {} left, and the audit log needs {} to record anything",
        format_size(free),
        format_size(least),
    );
    Refusal::new(ErrorCode::Unavailable, message)
        .with_hint("free space on that disk, or remove old records: bailiwick audit retain")
}

fn over(used: u64, most: u64, whose: &str, hourly: u64) -> Refusal {
    let seconds = WINDOW.as_secs().saturating_mul(used.saturating_sub(most)) / most.max(1);
    let message = format!(
        "{whose} added {} to the audit log within an hour, and may add {} (audit.hourly is {} for each caller)",
        format_size(used),
        format_size(most),
        format_size(hourly),
    );
    let hint = format!("try again in {} seconds; the operator can raise audit.hourly", seconds.max(1));
    Refusal::new(ErrorCode::RateLimited, message).with_hint(hint)
}

/// An action that there is room for.
pub(crate) struct Admission(Option<Arc<Charge>>);

/// Admits an action, or refuses it for lack of room for its records.
pub(crate) async fn admission(
    budget: &Arc<Budget>,
    store: &Store,
    caller: &Caller,
    action: &Action,
) -> Result<Admission, Refusal> {
    if action.only_reads() || action.makes_room() {
        return Ok(Admission(None));
    }
    Ok(Admission(budget.admit(store, caller).await?.map(Arc::new)))
}

impl Admission {
    /// Performs the action. Its records are charged to its caller.
    pub(crate) async fn charging<T>(self, acting: impl Future<Output = T>) -> T {
        match self.0 {
            Some(charge) => CHARGED.scope(charge, acting).await,
            None => acting.await,
        }
    }
}

/// Charges a record to the caller of the running action.
pub(crate) fn charge(bytes: u64) {
    // What is done for nobody, or for the operator, is not charged.
    let _uncharged = CHARGED.try_with(|charge| charge.budget.add(&charge.name, bytes.saturating_add(ROW)));
}

#[cfg(test)]
mod tests;
