//! What a server can do, found out by having it done: its version, a sandbox, a command in it, and its end.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::Refusal;
use bailiwick_sandbox::{
    Available, Command, Exit, Limits, Preset, Probe, Sandbox as _, SandboxError, SandboxSpec, Ttl,
};
use bailiwick_types::{Tier, Wallpart};

use crate::ID;
use crate::backend::Inner;
use crate::door::Door;
use crate::fault::fault;
use crate::place::make;
use crate::sandbox::RemoteSandbox;

/// How long a look may take in all.
const MOST: Duration = Duration::from_mins(1);
/// How long what a look makes lives there if this process ends meanwhile.
const LIVES: Ttl = Ttl { idle: Duration::from_mins(1), absolute: Duration::from_mins(2) };
/// This version.
const OURS: &str = env!("CARGO_PKG_VERSION");

/// A server that was seen to work.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) door: Arc<Door>,
    /// The backend that it uses; the one that everything is asked for from here on.
    pub(crate) backend: Option<String>,
    /// How strong it says that is.
    pub(crate) tier: Tier,
}

/// Looks.
pub(crate) async fn look(inner: &Arc<Inner>) -> (Probe, Option<Seen>) {
    let looked = match (inner.options.finds)() {
        Ok(door) => {
            let door = Arc::new(door);
            match tokio::time::timeout(MOST, at(inner, &door)).await {
                Ok(looked) => looked,
                Err(_) => Err(SandboxError::Unavailable {
                    backend: ID.to_owned(),
                    reason: format!("{} took longer than {} seconds", door.address(), MOST.as_secs()),
                    fix: Some("look at that server: bailiwick doctor there".to_owned()),
                }),
            }
        }
        Err(Refusal { message, hint, .. }) => {
            Err(SandboxError::Unavailable { backend: ID.to_owned(), reason: message, fix: hint })
        }
    };
    match looked {
        Ok((seen, enforces, found)) => (Probe { availability: Available::Yes, enforces, found }, Some(seen)),
        Err(error) => {
            let fix = error.hint();
            let reason = match error {
                SandboxError::Unavailable { reason, .. } => reason,
                other => other.to_string(),
            };
            let availability = Available::No { reason, fix };
            (Probe { availability, enforces: Vec::new(), found: Vec::new() }, None)
        }
    }
}

async fn at(
    inner: &Arc<Inner>,
    door: &Arc<Door>,
) -> Result<(Seen, Vec<Wallpart>, Vec<String>), SandboxError> {
    let version = version(door).await?;
    let mut spec = SandboxSpec::new(Limits::preset(Preset::Minimal));
    spec.ttl = LIVES;
    let backend = inner.options.backend.clone();
    // Nothing is known of its strength yet: the weakest is all that is asked of this one.
    let first = Seen { door: door.clone(), backend, tier: Tier::Process };
    let place = make(inner, &inner.looks, &first, spec).await?;
    let (theirs, receipt) = (place.backend.clone(), place.made.receipt.clone());
    let sandbox = RemoteSandbox::new(place);
    let ran = sandbox.exec(Command::new(["true"])?).await;
    let ended = sandbox.terminate().await;
    let exit = ran?.exit;
    ended?;
    if exit != Exit::Code(0) {
        return Err(SandboxError::Unavailable {
            backend: ID.to_owned(),
            reason: format!(
                "`true` does not run at {} behind its backend `{theirs}` ({exit:?})",
                door.address()
            ),
            fix: Some("name another of its backends: sandbox.remote.backend".to_owned()),
        });
    }
    let found = vec![format!("bailiwick {version} at {}", door.address()), format!("its backend `{theirs}`")];
    let seen = Seen { door: door.clone(), backend: Some(theirs), tier: receipt.tier };
    Ok((seen, receipt.walls, found))
}

/// The version of the server, if it is one that fits.
async fn version(door: &Door) -> Result<String, SandboxError> {
    let no = |reason: String, fix: &str| SandboxError::Unavailable {
        backend: ID.to_owned(),
        reason,
        fix: Some(fix.to_owned()),
    };
    match door.remote().version().await {
        Ok(Some(version)) if fits(&version) => Ok(version),
        Ok(Some(version)) => {
            let reason =
                format!("{} is bailiwick {}, and this is {OURS}", door.address(), door.told(&version));
            Err(no(reason, "run one version on both machines"))
        }
        Ok(None) => Err(no(
            format!("what answers at {} is no Bailiwick server", door.address()),
            "check the address: sandbox.remote.url",
        )),
        Err(refusal) => Err(fault(door, &refusal)),
    }
}

/// Whether a server of that version says what we understand: below 1 every minor version may be another language.
fn fits(theirs: &str) -> bool {
    let parts = |version: &str| {
        let mut numbers = version.split(['.', '-', '+']).map(|part| part.parse::<u64>().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    match (parts(theirs), parts(OURS)) {
        (Some(theirs), Some(ours)) => theirs.0 == ours.0 && (ours.0 > 0 || theirs.1 == ours.1),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
