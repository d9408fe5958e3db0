//! What holds each demand, from what the agent saw before anything of a guest ran, what was seen of the sandbox's kernel from
//! outside, and its cgroups. Nothing that was not seen is claimed.

use bailiwick_sandbox::{Demand, SandboxSpec};
use bailiwick_sys::cgroups::{Controller, Group};
use bailiwick_types::{WallStatus, Wallpart};
use bailiwick_wire::seat::Seen;

use crate::outside::Outside;

type Held = (WallStatus, String);

/// What a report is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) spec: &'a SandboxSpec,
    pub(crate) seen: &'a Seen,
    pub(crate) outside: &'a Outside,
    pub(crate) group: &'a Group,
    pub(crate) has_way_out: bool,
    /// The most memory of the cgroup.
    pub(crate) memory: u64,
}

/// The report on one sandbox.
pub(crate) fn on(about: About<'_>) -> Vec<Wallpart> {
    let part = |demand: &Demand| {
        let (status, mechanism) = match demand {
            Demand::Network => network(about),
            Demand::Files => files(about),
            Demand::Identity => identity(about),
            Demand::Kill => kill(about),
            Demand::Memory => memory(about),
            Demand::Cpu => held(about, Controller::Cpu),
            Demand::Disk => disk(about),
            Demand::Processes => processes(about),
            Demand::Timeout => {
                (WallStatus::Enforced, "the host's clock, then the end of its kernel".to_owned())
            }
        };
        Wallpart { demand: demand.name().to_owned(), mechanism, status }
    };
    Demand::ALL.iter().map(part).collect()
}

const fn status(holds: bool) -> WallStatus {
    if holds { WallStatus::Enforced } else { WallStatus::Partial }
}

fn network(About { seen, outside, has_way_out, .. }: About<'_>) -> Held {
    let holds = seen.interfaces == ["lo"] && outside.has("net") && outside.filtered;
    let way = if has_way_out { ", and a proxy in it that the host serves" } else { "" };
    let network = "gVisor's own network stack with nothing but loopback";
    (
        status(holds),
        format!("{network}{way}; its kernel is in a net namespace of its own, behind a seccomp filter"),
    )
}

fn files(About { seen, outside, .. }: About<'_>) -> Held {
    let holds = seen.root_is_read_only && outside.has("mnt") && outside.empty_root && outside.filtered;
    let root = "a built, read-only root that a gofer serves; its kernel opens no file of the host";
    (status(holds), root.to_owned())
}

fn identity(About { seen, outside, .. }: About<'_>) -> Held {
    let filter =
        seen.filter.as_ref().map_or_else(|| "no filter of ours".to_owned(), |mark| format!("seccomp {mark}"));
    let inside = seen.no_capabilities && seen.no_new_privileges && seen.no_groups;
    let walls =
        outside.no_capabilities && outside.no_new_privileges && outside.filtered && outside.has("user");
    let mechanism = format!(
        "its kernel is {} outside, in a user namespace, without capabilities, behind a seccomp filter; inside: user {}, no groups, \
         no capabilities, no_new_privs, {filter}",
        outside.user, seen.user
    );
    if !inside {
        return (WallStatus::Absent, "capabilities, groups or new privileges are left inside".to_owned());
    }
    match (walls, outside.is_nobody()) {
        (true, true) => (WallStatus::Enforced, mechanism),
        (_, false) => (WallStatus::Partial, format!("the same user as this program; {mechanism}")),
        (false, true) => (WallStatus::Partial, mechanism),
    }
}

fn kill(About { seen, outside, .. }: About<'_>) -> Held {
    let by = if outside.joined {
        "its processes are killed by their cgroup"
    } else {
        "its kernel ends with the program that started it"
    };
    (status(seen.first), format!("all of it ends with its own kernel; {by}"))
}

fn held(About { outside, group, .. }: About<'_>, controller: Controller) -> Held {
    match group.holds(controller) {
        Ok(mechanism) if outside.joined => {
            (WallStatus::Enforced, format!("{mechanism}, around gVisor's own processes"))
        }
        Ok(_) => (WallStatus::Absent, "its kernel did not join its cgroup".to_owned()),
        Err(why) => (WallStatus::Absent, why),
    }
}

/// The bound is on all of it: what gVisor itself needs and what is in memory for files is in it, so commands have at least what was
/// asked for, and at most what nobody else of it uses.
fn memory(about: About<'_>) -> Held {
    let (status, mechanism) = held(about, Controller::Memory);
    match status {
        WallStatus::Enforced => {
            let how = format!(
                "{mechanism}: {} bytes for commands, files in memory and gVisor itself",
                about.memory
            );
            (status, how)
        }
        _ => (status, mechanism),
    }
}

fn disk(About { spec, seen, .. }: About<'_>) -> Held {
    let wanted = spec.limits.disk.value.max(4096);
    match seen.room {
        // A file system has whole pages.
        Some(room) if room <= wanted.next_multiple_of(4096) => (
            WallStatus::Enforced,
            format!("a file system of {room} bytes in its memory, behind all of its own folders"),
        ),
        Some(room) => (WallStatus::Absent, format!("its file system has {room} bytes")),
        None => (WallStatus::Enforced, "nothing but what is mounted writable can be written to".to_owned()),
    }
}

fn processes(About { spec, seen, .. }: About<'_>) -> Held {
    // One more than commands may have: the agent.
    let wanted = u64::from(spec.limits.processes.value) + 1;
    match seen.most_processes {
        Some(most) if most <= wanted => {
            (WallStatus::Enforced, "RLIMIT_NPROC of its only user, by its own kernel".to_owned())
        }
        _ => (WallStatus::Absent, "no limit on its processes".to_owned()),
    }
}
