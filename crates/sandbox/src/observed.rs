//! A backend that tells what happens to its sandboxes, around any other. What is told is redacted before it is cut, and
//! nobody who listens can break or hold up what is told about. It must never change what the backend inside does.
//!
//! Start reading at [`Observed`]; `sandbox` is what it hands out, `teller` makes the events.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_redact::Redactor;
use bailiwick_types::Tier;

use crate::{
    Backend, Command, Demand, Doing, EventKind, Events, Location, Probe, Sandbox, SandboxError, SandboxSpec,
    Snapshot,
};

mod sandbox;
mod teller;

use sandbox::ObservedSandbox;
use teller::Teller;

/// A backend whose sandboxes are told about.
#[derive(Debug)]
pub struct Observed {
    inner: Arc<dyn Backend>,
    events: Events,
    redactor: Redactor,
}

impl Observed {
    /// This backend, told about to these; no value that the redactor knows is in what they hear.
    pub const fn new(inner: Arc<dyn Backend>, events: Events, redactor: Redactor) -> Self {
        Self { inner, events, redactor }
    }
}

impl Backend for Observed {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn tier(&self) -> Tier {
        self.inner.tier()
    }

    fn may_be(&self) -> Tier {
        self.inner.may_be()
    }

    fn location(&self) -> Location {
        self.inner.location()
    }

    fn priority(&self) -> u32 {
        self.inner.priority()
    }

    fn probe(&self) -> Doing<'_, Probe> {
        self.inner.probe()
    }

    fn patience(&self) -> Duration {
        self.inner.patience()
    }

    fn can_run(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        self.inner.can_run(spec)
    }

    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async move {
            let sandbox = self.inner.create(spec).await?;
            let teller = Teller::new(self.events.clone(), self.redactor.clone(), sandbox.as_ref());
            teller.tell(EventKind::Create, None);
            Ok(ObservedSandbox::boxed(sandbox, teller))
        })
    }

    fn simplest(&self) -> Result<(SandboxSpec, Command), SandboxError> {
        self.inner.simplest()
    }

    fn advice(&self, demand: Demand) -> Option<String> {
        self.inner.advice(demand)
    }

    fn forget<'a>(&'a self, snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        self.inner.forget(snapshot)
    }

    fn begin(&self) -> Doing<'_, ()> {
        self.inner.begin()
    }

    fn close(&self) -> Doing<'_, ()> {
        self.inner.close()
    }
}
