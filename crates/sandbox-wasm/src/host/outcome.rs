//! What the backend behind says, in the words of this one: how commands ended, whose refusal it is, whose snapshot.

use bailiwick_sandbox::{Ended, Exit, SandboxError, Snapshot};

use crate::ID;
use crate::order::End;

const SIGKILL: i32 = 9;

/// How a command ended: what its host told by a signal is told as what it means.
pub(crate) fn told(exit: &mut Exit, timed_out: &mut bool, oom: &mut bool) -> Option<End> {
    let Exit::Signal(signal) = *exit else { return None };
    let end = End::of(signal)?;
    match end {
        End::Late => (*exit, *timed_out) = (Exit::Signal(SIGKILL), true),
        End::OutOfMemory => (*exit, *oom) = (Exit::Signal(SIGKILL), true),
        End::NotRunnable => *exit = Exit::NotExecutable,
        End::OurFault => {}
    }
    Some(end)
}

/// The same for what comes with streams.
pub(crate) fn ended(mut ended: Ended) -> Result<Ended, SandboxError> {
    match told(&mut ended.exit, &mut ended.timed_out, &mut ended.oom) {
        Some(End::OurFault) => Err(our_fault("its standard error says more")),
        _ => Ok(ended),
    }
}

/// The engine's host could not do its part.
pub(crate) fn our_fault(said: &str) -> SandboxError {
    SandboxError::Failed { step: "run a program in WebAssembly".to_owned(), reason: said.trim().to_owned() }
}

/// A refusal of the backend behind, which nobody asked for by its name.
pub(crate) fn named(error: SandboxError, behind: &str) -> SandboxError {
    let ours = |backend: String| if backend == behind { ID.to_owned() } else { backend };
    match error {
        SandboxError::Unenforceable { backend, unheld, fix } => {
            SandboxError::Unenforceable { backend: ours(backend), unheld, fix }
        }
        SandboxError::Unavailable { backend, reason, fix } => {
            SandboxError::Unavailable { backend: ours(backend), reason, fix }
        }
        SandboxError::Unsupported { backend, what } => {
            SandboxError::Unsupported { backend: ours(backend), what }
        }
        other => other,
    }
}

/// A snapshot of the backend behind, as this one hands it out.
pub(crate) fn from_behind(mut snapshot: Snapshot) -> Snapshot {
    ID.clone_into(&mut snapshot.backend);
    snapshot
}

/// A snapshot that this backend handed out, as the backend behind knows it.
pub(crate) fn to_behind(snapshot: &Snapshot, behind: &str) -> Snapshot {
    Snapshot { backend: behind.to_owned(), ..snapshot.clone() }
}
