//! What this backend can do here, found out by doing it: a sandbox is made, looked at, and ended.

use std::sync::Arc;

use bailiwick_sandbox::{Available, Demand, Limits, Preset, Probe, SandboxSpec};
use bailiwick_types::{WallStatus, Wallpart};

use super::backend::Inner;
use super::create::{Lent, Stands, stand};

/// Looks.
pub(crate) async fn look(inner: &Arc<Inner>) -> Probe {
    let spec = SandboxSpec::new(Limits::preset(Preset::Standard));
    match stand(inner, &spec, &Lent::default()).await {
        Ok(Stands { jail, link, standing, report, .. }) => {
            drop(link);
            jail.kill();
            jail.ended().await;
            let mut found = vec![format!("kernel {}", kernel())];
            found.extend(standing.landlock.map(|(version, _)| format!("Landlock ABI {version}")));
            found.extend(standing.filter.as_ref().map(|mark| format!("seccomp {mark}")));
            Probe { availability: Available::Yes, enforces: report, found }
        }
        Err(error) => Probe {
            availability: Available::No { reason: error.to_string(), fix: error.hint() },
            enforces: Demand::ALL
                .iter()
                .map(|demand| Wallpart {
                    demand: demand.name().to_owned(),
                    mechanism: "no sandbox could be made".to_owned(),
                    status: WallStatus::Absent,
                })
                .collect(),
            found: vec![format!("kernel {}", kernel())],
        },
    }
}

fn kernel() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}
