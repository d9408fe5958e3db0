//! What this backend can do here, found out by doing it: a sandbox is made, looked at, and ended. And what a runtime is, which is told
//! by the kernel that the agent meets, and not by its name alone.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{Available, Demand, Limits, Preset, Probe, SandboxError, SandboxSpec};
use bailiwick_types::{SandboxId, Tier, WallStatus, Wallpart};

use crate::backend::Inner;
use crate::create::{Stands, stand};

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
    let (now, random) = Inner::random()?;
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
    Ok((Probe { availability: Available::Yes, enforces: report, found }, tier))
}

fn not(reason: String, fix: Option<String>) -> Probe {
    let absent = |demand: &Demand| Wallpart {
        demand: demand.name().to_owned(),
        mechanism: "no sandbox could be made".to_owned(),
        status: WallStatus::Absent,
    };
    Probe {
        availability: Available::No { reason, fix },
        enforces: Demand::ALL.iter().map(absent).collect(),
        found: Vec::new(),
    }
}

/// How strong the wall is: a runtime that the operator named is more than a container only if the agent was seen to run on another
/// kernel than this machine's.
pub(crate) fn tier(runtime: Option<&str>, kernel: &str) -> Tier {
    let ours = rustix::system::uname().release().to_string_lossy().into_owned();
    tier_of(runtime, kernel, &ours)
}

fn tier_of(runtime: Option<&str>, kernel: &str, ours: &str) -> Tier {
    if kernel.is_empty() || kernel == ours {
        return Tier::Container;
    }
    match runtime.map(|runtime| runtime.rsplit('/').next().unwrap_or_default()) {
        Some(name) if name.starts_with("runsc") => Tier::UserKernel,
        Some(name) if name.starts_with("kata") => Tier::MicroVm,
        _ => Tier::Container,
    }
}

#[cfg(test)]
mod tests;
