//! What this backend can do here, found out by doing it: the smallest program there is is compiled and run.

use std::sync::Arc;

use bailiwick_sandbox::{
    Available, Command, Demand, Exit, Image, Limits, Preset, Probe, SandboxError, SandboxSpec,
};
use bailiwick_types::{WallStatus, Wallpart};

use super::backend::Inner;
use super::{create, nothing};

/// The version of the engine, as the manifest of this tree pins it.
const ENGINE: &str = "48";

/// The simplest sandbox, and its command.
pub(crate) fn simplest() -> Result<(SandboxSpec, Command), SandboxError> {
    let mut spec = SandboxSpec::new(Limits::preset(Preset::Standard));
    spec.image = Image::Named(nothing::NAME.to_owned());
    Ok((spec, Command::new(["nothing"])?))
}

/// Looks.
pub(crate) async fn look(inner: &Arc<Inner>) -> Probe {
    let behind = inner.behind.probe().await;
    let mut found = vec![format!("wasmtime {ENGINE}"), format!("behind it: `{}`", inner.behind.id())];
    found.extend(behind.found);
    if let Available::No { .. } = behind.availability {
        return Probe { availability: behind.availability, enforces: absent(), found };
    }
    match tried(inner).await {
        Ok(enforces) => Probe { availability: Available::Yes, enforces, found },
        Err(error) => {
            let availability = Available::No { reason: error.to_string(), fix: error.hint() };
            Probe { availability, enforces: absent(), found }
        }
    }
}

fn absent() -> Vec<Wallpart> {
    let absent = |demand: &Demand| Wallpart {
        demand: demand.name().to_owned(),
        mechanism: "no program could be run".to_owned(),
        status: WallStatus::Absent,
    };
    Demand::ALL.iter().map(absent).collect()
}

async fn tried(inner: &Arc<Inner>) -> Result<Vec<Wallpart>, SandboxError> {
    let (spec, command) = simplest()?;
    let sandbox = create::create(inner, spec).await?;
    let ran = sandbox.exec(command).await;
    let walls = sandbox.receipt().walls.clone();
    sandbox.terminate().await?;
    let ran = ran?;
    match ran.exit {
        Exit::Code(0) => Ok(walls),
        exit => Err(SandboxError::Failed {
            step: "run the smallest program".to_owned(),
            reason: format!("{exit:?}: {}", String::from_utf8_lossy(&ran.stderr.bytes).trim()),
        }),
    }
}
