//! What this backend can do here, found out by doing it: a sandbox is made, looked at, and ended.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_agent_host::label;
use bailiwick_sandbox::{Available, Limits, Preset, Probe, SandboxError, SandboxSpec};
use bailiwick_types::{SandboxId, Tier};

use crate::backend::Inner;
use crate::create::{Stands, stand};
use crate::reap;

/// How long a look may take: whoever asked does not wait longer.
const PATIENCE: Duration = Duration::from_secs(9);

/// What was found, and how strong the wall was seen to be.
pub(crate) async fn look(inner: &Arc<Inner>) -> (Probe, Tier) {
    match tokio::time::timeout(PATIENCE, make(inner)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => (not(error.to_string(), error.hint()), Tier::Container),
        Err(_) => {
            let reason = format!("no container stood after {PATIENCE:?}");
            (not(reason, Some("look whether the engine is busy, and try again".to_owned())), Tier::Container)
        }
    }
}

async fn make(inner: &Arc<Inner>) -> Result<(Probe, Tier), SandboxError> {
    let engine = inner.engine().await?;
    let spec = SandboxSpec::new(Limits::preset(Preset::Standard));
    let (now, random) = label::random()?;
    let id = SandboxId::from_parts(now, &random);
    let Stands { container, link, seen, report, tier, .. } =
        stand(inner, engine.clone(), spec, id, None).await?;
    drop(link);
    container.kill();
    container.ended().await;
    let mut found =
        vec![format!("{} at {}", engine.version, engine.socket.display()), format!("kernel {}", seen.kernel)];
    found.extend(inner.options.runtime.as_ref().map(|runtime| format!("runtime {runtime}")));
    found.extend(seen.filter.as_ref().map(|mark| format!("seccomp {mark}")));
    let unknown = reap::unknown(&engine, &inner.options.state).await?;
    if unknown > 0 {
        found.push(format!("{unknown} containers of owners that cannot be looked at from here"));
    }
    Ok((Probe { availability: Available::Yes, enforces: report, found }, tier))
}

fn not(reason: String, fix: Option<String>) -> Probe {
    Probe::unusable(reason, fix, Vec::new())
}
