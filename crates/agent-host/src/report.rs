//! Pieces of the report on a sandbox: what holds each demand, by what was seen. Nothing that was not seen is claimed.

use bailiwick_sandbox::{Demand, SandboxSpec};
use bailiwick_types::{WallStatus, Wallpart};
use bailiwick_wire::seat::Seen;

/// How well something holds, and what holds it.
pub type Held = (WallStatus, String);

/// The report that has this for each demand.
pub fn parts(held: impl Fn(Demand) -> Held) -> Vec<Wallpart> {
    let part = |demand: Demand| {
        let (status, mechanism) = held(demand);
        Wallpart { demand: demand.name().to_owned(), mechanism, status }
    };
    Demand::ALL.into_iter().map(part).collect()
}

/// The disk, where the agent saw how much room the file system behind this has.
pub fn disk(spec: &SandboxSpec, seen: &Seen, behind: &str) -> Held {
    let wanted = spec.limits.disk.value.max(4096);
    match seen.room {
        // A file system has whole pages.
        Some(room) if room <= wanted.next_multiple_of(4096) => {
            (WallStatus::Enforced, format!("a file system of {room} bytes in its memory, behind {behind}"))
        }
        Some(room) => (WallStatus::Absent, format!("its file system has {room} bytes")),
        None => (WallStatus::Enforced, "nothing but what is mounted writable can be written to".to_owned()),
    }
}

/// The processes, where the agent saw how many its own kernel allows.
pub fn processes(spec: &SandboxSpec, seen: &Seen, mechanism: &str) -> Held {
    // One more than commands may have: the agent.
    let wanted = u64::from(spec.limits.processes.value) + 1;
    match seen.most_processes {
        Some(most) if most <= wanted => (WallStatus::Enforced, mechanism.to_owned()),
        _ => (WallStatus::Absent, "no limit on its processes".to_owned()),
    }
}
