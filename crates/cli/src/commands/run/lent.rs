//! `sandbox.exec` of a run: its commands go into sandboxes of this process, as those of a tool's call do, and end with it.
//! Their records go to whoever owns the data folder, beside the run's own.

use std::sync::Arc;

use bailiwick::Call;
use bailiwick::policy::{Capability, EffectivePolicy};
use bailiwick::types::{CorrelationId, ErrorCode};
use bailiwick_config::SandboxSettings;
use bailiwick_core::sandboxes::{ExecIntent, ExecOutcome};
use bailiwick_core::{Action, Backends, InSandboxes, Lends, Refusal};
use bailiwick_sandbox::Doing;
use tokio::sync::{mpsc, oneshot};

use crate::backends;
use crate::desk::{At, ask};
use crate::failure::Failure;
use crate::resolved::Session;

/// The sandboxes of a run, where its policy lets it have some.
pub(super) struct Lent {
    backends: Backends,
    notes: mpsc::UnboundedReceiver<Note>,
}

/// Something for the record, and who waits until it is there.
struct Note {
    action: Action,
    written: Option<oneshot::Sender<Result<(), Refusal>>>,
}

/// What the commands of the run go by.
struct Here {
    settings: SandboxSettings,
    backends: Backends,
    /// As long as a call's commands are bounded, so is this.
    notes: mpsc::UnboundedSender<Note>,
}

/// The call with sandboxes for its commands, if it may run any.
pub(super) fn to(
    session: &Session,
    call: Call,
    policy: &EffectivePolicy,
    correlation: &CorrelationId,
) -> Result<(Call, Option<Lent>), Failure> {
    if !policy.allowed().contains(Capability::ProcessExec) {
        return Ok((call, None));
    }
    let backends = backends::of(session)?;
    let (notes, heard) = mpsc::unbounded_channel();
    let settings = session.loaded.settings.sandbox.clone();
    let here = Here { settings, backends: backends.clone(), notes };
    let call = call.executing(Arc::new(InSandboxes::new(here, correlation.clone())));
    Ok((call, Some(Lent { backends, notes: heard })))
}

/// Runs what was lent sandboxes, and puts what it does in them on the record meanwhile; with what came of it comes whether
/// all of that is there. Nothing of the sandboxes is left then.
pub(super) async fn beside<T>(
    desk: &At,
    lent: Option<Lent>,
    running: impl Future<Output = T>,
) -> (T, Result<(), Refusal>) {
    let Some(Lent { backends, mut notes }) = lent else { return (running.await, Ok(())) };
    // All that is noted comes before the end: whoever notes goes away with the call.
    let noting = async {
        let mut all = Ok(());
        while let Some(Note { action, written }) = notes.recv().await {
            let wrote = ask(desk, action).await.map(drop);
            match written {
                // Where nobody listens any more, the call is over, and its own record tells of it.
                Some(written) => drop(written.send(wrote)),
                None => all = all.and(wrote),
            }
        }
        all
    };
    let (ran, noted) = tokio::join!(running, noting);
    for backend in backends.all() {
        backend.close().await;
    }
    (ran, noted)
}

impl Here {
    fn note(&self, action: Action) -> Doing<'_, Result<(), Refusal>> {
        let (written, wrote) = oneshot::channel();
        let sent = self.notes.send(Note { action, written: Some(written) });
        Box::pin(async move {
            match sent {
                Ok(()) => wrote.await.unwrap_or_else(|_| Err(unheard())),
                Err(_) => Err(unheard()),
            }
        })
    }
}

/// Nobody is there who writes the record, so nothing begins.
fn unheard() -> Refusal {
    let message = "the record of this run is closed, and no command begins without one";
    Refusal::new(ErrorCode::Internal, message).with_hint("run it again")
}

impl Lends for Here {
    fn settings(&self) -> &SandboxSettings {
        &self.settings
    }

    fn backends(&self) -> &Backends {
        &self.backends
    }

    fn begins(&self, intent: ExecIntent) -> Doing<'_, Result<(), Refusal>> {
        self.note(Action::ExecBegins(Box::new(intent)))
    }

    fn ended(&self, outcome: ExecOutcome) -> Doing<'_, Result<(), Refusal>> {
        self.note(Action::ExecEnded(Box::new(outcome)))
    }

    fn left(&self, outcome: ExecOutcome) {
        let action = Action::ExecEnded(Box::new(outcome));
        // It is heard until the call is gone, and this is a part of it.
        let _heard = self.notes.send(Note { action, written: None });
    }
}
