//! Retention: the oldest records go, and what stays can still be proven.
//!
//! Only a beginning of the chain is removed, and only up to a signed head. That head is signed anew, with the number of
//! records that are gone, and is what the rest is proven from. It must never remove a record that no head speaks for.

use bailiwick_audit::{Actor, Entry, Head, Kind};
use rusqlite::OptionalExtension;
use serde_json::json;

use crate::error::StoreError;
use crate::options::Durability;
use crate::records;
use crate::store::Store;
use crate::tx::Tx;
use crate::view::View;

/// The most records that one transaction removes, so that others do not wait for long.
const MOST_AT_ONCE: u64 = 20_000;

/// What may stay. What is not said is not bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// No record older than this.
    pub max_age_ms: Option<u64>,
    /// No more records than this.
    pub max_records: Option<u64>,
    /// No more bytes of records' text than this.
    pub max_bytes: Option<u64>,
}

/// What went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retained {
    /// How many records were removed.
    pub removed: u64,
    /// The last of them; 0 when none was.
    pub to: u64,
}

impl Store {
    /// Removes what is too old or too much at `now_ms`, as far as it is signed. Each step is one transaction, and is on
    /// the record itself.
    pub async fn retain(&self, retention: Retention, now_ms: u64) -> Result<Retained, StoreError> {
        let mut all = Retained::default();
        loop {
            let step = self.write(Durability::Machine, move |tx| step(tx, retention, now_ms)).await;
            match step.map_err(crate::WriteError::into_store)? {
                Some(Retained { removed, to }) => {
                    all.removed += removed;
                    all.to = to;
                }
                None => return Ok(all),
            }
        }
    }
}

fn step(tx: &mut Tx<'_>, retention: Retention, now_ms: u64) -> Result<Option<Retained>, StoreError> {
    let removed_before = tx.chain.removed;
    let target = target(tx, retention, now_ms)?.min(removed_before.saturating_add(MOST_AT_ONCE));
    let Some(base) = records::last_head(tx, target)?.filter(|head| head.seq > removed_before) else {
        return Ok(None);
    };
    check(tx, &base)?;
    let removed = tx.remove_records(&base)?;
    let actor = Actor { key: None, client: "bailiwick".to_owned() };
    let mut entry = Entry::new(Kind::Change, actor, "audit.retain");
    let Retention { max_age_ms, max_records, max_bytes } = retention;
    entry.arguments = Some(json!({"maxAgeMs": max_age_ms, "maxRecords": max_records, "maxBytes": max_bytes}));
    entry.outcome =
        Some(json!({"removed": removed, "from": removed_before + 1, "to": base.seq, "hash": base.hash}));
    tx.append(&entry)?;
    Ok(Some(Retained { removed, to: base.seq }))
}

/// The head must be ours and speak of the record that lies there, or a cut chain would be given a good beginning.
fn check(view: &View<'_>, base: &Head) -> Result<(), StoreError> {
    let lies: Option<Vec<u8>> = view
        .connection
        .query_row("SELECT hash FROM audit WHERE seq = ?1", [i64::try_from(base.seq).unwrap_or(0)], |row| {
            row.get(0)
        })
        .optional()
        .map_err(StoreError::sql("read the record", view.path))?;
    let fits = lies.is_some_and(|hash| hash == base.hash.as_bytes());
    if fits && base.verify(&view.keys.public()).is_ok() {
        return Ok(());
    }
    Err(StoreError::NotProvable { seq: base.seq })
}

/// The last record that need not stay.
fn target(tx: &Tx<'_>, retention: Retention, now_ms: u64) -> Result<u64, StoreError> {
    let Retention { max_age_ms, max_records, max_bytes } = retention;
    let last = tx.chain.link.seq;
    let by_age = match max_age_ms {
        None => 0,
        Some(age) => {
            first_not_older(tx, now_ms.saturating_sub(age))?.map_or(last, |seq| seq.saturating_sub(1))
        }
    };
    let by_count = max_records.map_or(0, |most| last.saturating_sub(most));
    let by_size = match max_bytes {
        None => 0,
        Some(most) => last_beyond(tx, most)?,
    };
    Ok(by_age.max(by_count).max(by_size))
}

/// The first record that is not older than a time. Looks only at those that are.
fn first_not_older(view: &View<'_>, time_ms: u64) -> Result<Option<u64>, StoreError> {
    let time_ms = i64::try_from(time_ms).unwrap_or(i64::MAX);
    let first: Option<i64> = view
        .connection
        .query_row("SELECT seq FROM audit WHERE time_ms >= ?1 ORDER BY seq LIMIT 1", [time_ms], |row| {
            row.get(0)
        })
        .optional()
        .map_err(StoreError::sql("read the record", view.path))?;
    Ok(first.and_then(|seq| u64::try_from(seq).ok()))
}

/// The last record that does not fit when the newest come first. Looks only at those that fit.
fn last_beyond(view: &View<'_>, most: u64) -> Result<u64, StoreError> {
    let failed = || StoreError::sql("read the record", view.path);
    let mut statement = view
        .connection
        .prepare_cached("SELECT seq, octet_length(body) FROM audit ORDER BY seq DESC")
        .map_err(failed())?;
    let mut rows = statement.query([]).map_err(failed())?;
    let mut bytes = 0_u64;
    while let Some(row) = rows.next().map_err(failed())? {
        let (seq, length): (i64, i64) = (row.get(0).map_err(failed())?, row.get(1).map_err(failed())?);
        bytes = bytes.saturating_add(u64::try_from(length).unwrap_or(0));
        if bytes > most {
            return Ok(u64::try_from(seq).unwrap_or(0));
        }
    }
    Ok(0)
}
