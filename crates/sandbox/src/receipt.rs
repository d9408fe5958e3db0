//! What a sandbox is handed with: each demand and what was seen to hold it; and the error where something demanded is not
//! held, with what would hold it. Neither must ever claim more than a report does.

use bailiwick_types::{Receipt, Tier, WallStatus, Wallpart};

use crate::{Demand, From, Limit, Network, SandboxError, SandboxSpec, Unheld};

/// What stands where nobody said anything.
pub(crate) const NOTHING: &str = "nothing";

/// What another backend holds, for a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// Its name.
    pub backend: String,
    /// What it was seen to hold.
    pub enforces: Vec<Wallpart>,
}

/// The receipt of a sandbox: only what is asked for, as the report has it.
pub fn receipt(tier: Tier, spec: &SandboxSpec, report: &[Wallpart]) -> Receipt {
    let asked = Demand::ALL.into_iter().filter(|demand| spec.asks_for(*demand));
    let mut walls: Vec<Wallpart> = asked.clone().map(|demand| part(demand, report)).collect();
    note_lowered_disk(spec, &mut walls);
    if spec.network == Network::Host {
        let mechanism = "the host's own network, as asked for".to_owned();
        let demand = Demand::Network.name().to_owned();
        walls.insert(0, Wallpart { demand, mechanism, status: WallStatus::Absent });
    }
    let is_floor = |demand: &Demand| demand.is_wall() || *demand == Demand::Uid && spec.separate_uid;
    let floor: Vec<&str> = asked.filter(is_floor).map(Demand::name).collect();
    Receipt::new(tier, walls, &floor)
}

/// Names a preset's limit on disk that is above the limit on memory: files count within memory, so less than that fits.
fn note_lowered_disk(spec: &SandboxSpec, walls: &mut [Wallpart]) {
    let (disk, memory) = (spec.limits.disk.value, spec.limits.memory.value);
    let held = |part: &&mut Wallpart| part.demand == Demand::Disk.name() && part.status != WallStatus::Absent;
    if disk > memory
        && let Some(part) = walls.iter_mut().find(held)
    {
        let (disk, memory) = (Limit::Disk.told(disk), Limit::Memory.told(memory));
        let lowered = format!("the preset's {disk} is lowered to {memory}: files count within memory");
        part.mechanism = format!("{}; {lowered}", part.mechanism);
    }
}

fn part(demand: Demand, report: &[Wallpart]) -> Wallpart {
    let named = |part: &&Wallpart| part.demand == demand.name();
    report.iter().find(named).cloned().unwrap_or_else(|| Wallpart {
        demand: demand.name().to_owned(),
        mechanism: NOTHING.to_owned(),
        status: WallStatus::Absent,
    })
}

/// The error of a backend that does not hold what a spec demands; the fix names a backend that does, the limit to leave
/// out, or where to look.
pub fn unenforceable(
    backend: &str,
    spec: &SandboxSpec,
    unheld: &[Unheld],
    others: &[Alternative],
) -> SandboxError {
    SandboxError::Unenforceable {
        backend: backend.to_owned(),
        unheld: unheld.iter().map(ToString::to_string).collect(),
        fix: fix(backend, spec, unheld, others),
    }
}

fn fix(backend: &str, spec: &SandboxSpec, unheld: &[Unheld], others: &[Alternative]) -> String {
    let holds = |other: &&Alternative| {
        other.backend != backend
            && unheld.iter().all(|gap| part(gap.demand, &other.enforces).status == WallStatus::Enforced)
    };
    if let Some(other) = others.iter().find(holds) {
        return format!("the backend `{}` holds it here", other.backend);
    }
    let doctor = "bailiwick doctor tells what would give the rest";
    leave_out(spec, unheld).map_or_else(|| doctor.to_owned(), |leave_out| format!("{leave_out}; {doctor}"))
}

/// What to leave out so that nothing is demanded that is not held, where that is anybody's to leave out.
pub(crate) fn leave_out(spec: &SandboxSpec, unheld: &[Unheld]) -> Option<String> {
    let typed = |gap: &&Unheld| spec.limits.of_demand(gap.demand) == Some(From::Typed);
    let names: Vec<&str> = unheld.iter().filter(typed).map(|gap| gap.demand.name()).collect();
    // Leaving out one thing of several helps nobody.
    let is_all = !names.is_empty() && names.len() == unheld.len();
    is_all.then(|| {
        format!(
            "leave out the limit on {}: the preset's is held as far as this machine can",
            names.join(" and ")
        )
    })
}
