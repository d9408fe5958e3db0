//! What holds each demand: the engine, what the backend behind was seen to hold, or both. Where only one of them holds all of a
//! demand, that one's word counts.

use bailiwick_sandbox::{Demand, SandboxSpec};
use bailiwick_types::{WallStatus, Wallpart};

use super::create::{LAST, OVERHEAD};

/// The report on a sandbox whose commands may take so many steps, from what the one behind was seen to hold.
pub(crate) fn on(spec: &SandboxSpec, fuel: Option<u64>, behind: &[Wallpart]) -> Vec<Wallpart> {
    Demand::ALL
        .iter()
        .map(|demand| {
            let nothing = (WallStatus::Absent, "nothing".to_owned());
            let found = behind.iter().find(|part| part.demand == demand.name());
            let (status, there) = found.map_or(nothing, |part| (part.status, part.mechanism.clone()));
            let (status, mechanism) = part(*demand, spec, fuel, (status, &there));
            Wallpart { demand: demand.name().to_owned(), mechanism, status }
        })
        .collect()
}

fn part(
    demand: Demand,
    spec: &SandboxSpec,
    fuel: Option<u64>,
    (behind, there): (WallStatus, &str),
) -> (WallStatus, String) {
    let enforced = WallStatus::Enforced;
    match demand {
        Demand::Network => {
            (enforced, format!("wasmtime: every socket and name is refused; behind it: {there}"))
        }
        Demand::Files => {
            (enforced, format!("wasmtime: only folders that were opened for it; behind it: {there}"))
        }
        Demand::Privilege => {
            (behind, format!("wasmtime: a guest asks the kernel for nothing; its host: {there}"))
        }
        Demand::Kill => (behind, format!("a command is one process: {there}")),
        Demand::Memory => {
            let most = spec.limits.memory.value;
            let status = if behind == enforced { enforced } else { WallStatus::Partial };
            let each = format!("wasmtime: {most} bytes of linear memories and tables for each command");
            let own = format!("{OVERHEAD} bytes of these are for the engine");
            (status, format!("{each}; for all of them and their files: {there}; {own}"))
        }
        Demand::Cpu => (behind, format!("one thread computes for a command; {there}")),
        Demand::Uid | Demand::Disk => (behind, there.to_owned()),
        Demand::Processes => (enforced, format!("wasmtime: a guest cannot start one; its host: {there}")),
        Demand::Timeout => {
            let last = LAST.as_millis();
            let steps = fuel.map(|fuel| format!("{fuel} steps of fuel, and ")).unwrap_or_default();
            (behind, format!("wasmtime: {steps}the end of an epoch; {last} ms later from outside: {there}"))
        }
    }
}
