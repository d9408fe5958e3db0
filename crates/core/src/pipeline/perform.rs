//! The last part of a call: intent on the record, cell or sandbox, outcome on the record.
//!
//! Nothing is taken from a cell and no sandbox is made before the intent is committed, and nothing is replied before the outcome is.

use bailiwick_audit::Entry as Record;
use bailiwick_runtime::Call;
use bailiwick_store::{Edition, Stamp, StoreError, WriteError};
use bailiwick_types::CallReport;
use serde_json::{Value, json};

use super::command::run_command;
use super::{Names, Ready, durability_of, of_report, run};
use crate::budget;
use crate::command::{Chosen, Order};
use crate::core::OpenCall;
use crate::journal::{intent_and_outcome, told};
use crate::{Core, Refusal};

/// What runs, and how people see what it was given.
pub(super) struct Prepared {
    pub(super) work: Work,
    pub(super) shown: Value,
}

/// What runs.
pub(super) enum Work {
    /// Code in a cell.
    Cell(Box<Call>),
    /// A command in a sandbox.
    Command(Box<Order>),
}

/// What runs, and where.
pub(super) enum Placed {
    Cell(Box<Call>),
    Command(Box<Order>, Box<Chosen>),
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
    (placed, shown): (Placed, &Value),
    entry: Record,
    expected: Option<Edition>,
    open: &OpenCall,
) -> Result<Performed, Refusal> {
    let durability = durability_of(&ready.standing, &entry);
    let (intent, outcome) = intent_and_outcome(entry);
    // Whoever goes away from here on leaves an outcome.
    open.begin(outcome);
    let noting = core.inner.store.write(durability, move |tx| -> Result<Stamp, NotNoted> {
        if let Some(expected) = expected
            && tx.edition()? != expected
        {
            return Err(NotNoted::Outdated);
        }
        Ok(tx.append(&intent)?)
    });
    match noting.await {
        Ok(stamp) => budget::charge(stamp.bytes),
        Err(error) => {
            open.take();
            return match error {
                WriteError::Job(NotNoted::Outdated) => Ok(Performed::Outdated),
                WriteError::Job(NotNoted::Store(error)) | WriteError::Store(error) => Err(error.into()),
                WriteError::Panicked => Err(Refusal::internal("a write")),
            };
        }
    }
    let report = match placed {
        Placed::Cell(call) => {
            Box::pin(run(core, names, ready, *call, shown)).await.map(|report| (report, None))
        }
        Placed::Command(order, chosen) => Box::pin(run_command(core, names, ready, *order, &chosen)).await,
    };
    let Some(entry) = open.take() else { return Err(Refusal::internal("tool.call")) };
    core.append(ended(entry, &report), durability).await?;
    report.map(|(report, _)| Performed::Yes(Box::new(report)))
}

fn ended(entry: Record, report: &Result<(CallReport, Option<Value>), Refusal>) -> Record {
    match report {
        Ok((report, command)) => {
            let mut entry = of_report(entry, report);
            if let (Some(Value::Object(outcome)), Some(command)) = (&mut entry.outcome, command) {
                outcome.insert("command".to_owned(), command.clone());
            }
            entry
        }
        Err(refusal) => told(entry, json!({"ok": false, "code": refusal.code, "message": refusal.message})),
    }
}
