//! The last part of a call: intent on the record, cell, outcome on the record.
//!
//! Nothing is taken from a cell before the intent is committed, and nothing is replied before the outcome is.

use bailiwick_audit::{Entry as Record, Kind};
use bailiwick_runtime::Call;
use bailiwick_store::{Edition, StoreError, WriteError};
use bailiwick_types::CallReport;
use serde_json::{Value, json};

use super::{Names, Ready, durability_of, of_report, run};
use crate::core::OpenCall;
use crate::journal::told;
use crate::{Core, Refusal};

/// What a cell gets, and how people see it.
pub(super) struct Prepared {
    pub(super) call: Call,
    pub(super) shown: Value,
}

/// Whether a call was performed.
pub(super) enum Performed {
    Yes(Box<CallReport>),
    /// The store is in another edition than was expected: what is known of the tool may be old. Nothing ran, and nothing
    /// of this call is on the record.
    Outdated,
}

/// Why an intent is not on the record.
enum NotNoted {
    Outdated,
    Store(StoreError),
}

impl From<StoreError> for NotNoted {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Performs a call; only while the store is in the expected edition, if one is.
pub(super) async fn perform(
    core: &Core,
    names: &Names<'_>,
    ready: &Ready,
    prepared: Prepared,
    entry: Record,
    expected: Option<Edition>,
    open: &OpenCall,
) -> Result<Performed, Refusal> {
    let Prepared { call, shown } = prepared;
    let durability = durability_of(&ready.standing, &entry);
    let intent = Record { kind: Kind::Intent, ..entry.clone() };
    // Whoever goes away from here on leaves an outcome.
    open.begin(entry);
    let noting = core.inner.store.write(durability, move |tx| -> Result<(), NotNoted> {
        if let Some(expected) = expected
            && tx.edition()? != expected
        {
            return Err(NotNoted::Outdated);
        }
        tx.append(&intent)?;
        Ok(())
    });
    if let Err(error) = noting.await {
        open.take();
        return match error {
            WriteError::Job(NotNoted::Outdated) => Ok(Performed::Outdated),
            WriteError::Job(NotNoted::Store(error)) | WriteError::Store(error) => Err(error.into()),
            WriteError::Panicked => Err(Refusal::internal("a write")),
        };
    }
    let report = Box::pin(run(core, names, ready, call, &shown)).await;
    let Some(entry) = open.take() else { return Err(Refusal::internal("tool.call")) };
    core.append(ended(entry, &report), durability).await?;
    report.map(|report| Performed::Yes(Box::new(report)))
}

fn ended(entry: Record, report: &Result<CallReport, Refusal>) -> Record {
    match report {
        Ok(report) => of_report(entry, report),
        Err(refusal) => told(entry, json!({"ok": false, "code": refusal.code, "message": refusal.message})),
    }
}
