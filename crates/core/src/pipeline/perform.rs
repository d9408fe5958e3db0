//! The last part of a call: intent on the record, cell, outcome on the record.
//!
//! An intent is on the record before the first effect. Code whose policy grants nothing that leaves its cell can have
//! none, so it runs while its intent is written; but nobody hears a word of it before that is committed, and where it
//! cannot be, nobody ever does.

use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_audit::{Entry as Record, Kind};
use bailiwick_policy::{Class, EffectivePolicy};
use bailiwick_runtime::Call;
use bailiwick_store::{Durability, Edition, StoreError, WriteError};
use bailiwick_types::CallReport;
use serde_json::{Value, json};

use super::{Names, Ready, durability_of, of_report, run};
use crate::core::OpenCall;
use crate::journal::told;
use crate::{Caller, Core, Event, Listener, Refusal};

/// What a cell gets, and how people see it.
pub(super) struct Prepared {
    pub(super) call: Call,
    pub(super) shown: Value,
}

/// Whether a call was performed.
pub(super) enum Performed {
    Yes(Box<CallReport>),
    /// The store is in another edition than was expected: what is known of the tool may be old. Nothing of this call is
    /// on the record, and nobody heard of it.
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
    let (noted, report) = if durability == Durability::Process && keeps_to_itself(&ready.standing.policy) {
        let gate = Arc::new(Gate::before(Arc::clone(&names.caller.listener)));
        let caller = Caller { listener: gate.clone(), ..names.caller.clone() };
        let gated = Names {
            caller: &caller,
            call_id: names.call_id,
            correlation: names.correlation.clone(),
            action: names.action,
        };
        let mut running = Box::pin(run(core, &gated, ready, call, &shown));
        let mut noting = std::pin::pin!(noting);
        let mut early = None;
        let noted = loop {
            tokio::select! {
                // First, so that the intent is in the queue before anything else.
                biased;
                noted = &mut noting => break noted,
                report = &mut running, if early.is_none() => early = Some(report),
            }
        };
        match noted {
            Ok(()) => {
                gate.open();
                let report = match early {
                    Some(report) => report,
                    None => running.await,
                };
                (Ok(()), Some(report))
            }
            // The cell ends with the future.
            Err(error) => (Err(error), None),
        }
    } else {
        match noting.await {
            Ok(()) => (Ok(()), Some(Box::pin(run(core, names, ready, call, &shown)).await)),
            Err(error) => (Err(error), None),
        }
    };
    let entry = open.take();
    match noted {
        Ok(()) => {}
        Err(WriteError::Job(NotNoted::Outdated)) => return Ok(Performed::Outdated),
        Err(WriteError::Job(NotNoted::Store(error)) | WriteError::Store(error)) => return Err(error.into()),
        Err(WriteError::Panicked) => return Err(Refusal::internal("a write")),
    }
    let (Some(entry), Some(report)) = (entry, report) else { return Err(Refusal::internal("tool.call")) };
    core.append(ended(entry, &report), durability).await?;
    report.map(|report| Performed::Yes(Box::new(report)))
}

fn ended(entry: Record, report: &Result<CallReport, Refusal>) -> Record {
    match report {
        Ok(report) => of_report(entry, report),
        Err(refusal) => told(entry, json!({"ok": false, "code": refusal.code, "message": refusal.message})),
    }
}

/// Whether nothing that a policy grants leaves the cell.
fn keeps_to_itself(policy: &EffectivePolicy) -> bool {
    policy.allowed().iter().all(|capability| match capability.class() {
        Class::Pure | Class::Reflection => true,
        Class::Ordinary | Class::Network | Class::File | Class::Critical => false,
    })
}

/// Holds back what a caller would hear, until it is opened.
struct Gate {
    behind: Arc<dyn Listener>,
    held: Mutex<Option<Vec<Event>>>,
}

impl Gate {
    fn before(behind: Arc<dyn Listener>) -> Self {
        Self { behind, held: Mutex::new(Some(Vec::new())) }
    }

    fn open(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        for event in held.into_iter().flatten() {
            self.behind.hear(event);
        }
    }
}

impl Listener for Gate {
    fn hear(&self, event: Event) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = &mut *held {
            held.push(event);
            return;
        }
        drop(held);
        self.behind.hear(event);
    }
}
