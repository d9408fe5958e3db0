//! What holds each demand, from what the agent saw before anything of a guest ran, what was seen of the sandbox's kernel from
//! outside, and its cgroups. Nothing that was not seen is claimed.

use bailiwick_agent_host::report::{Held, disk, parts, processes};
use bailiwick_sandbox::{Demand, SandboxSpec};
use bailiwick_sys::cgroups::{Controller, Group};
use bailiwick_types::{WallStatus, Wallpart};
use bailiwick_wire::seat::Seen;

use crate::outside::Outside;

/// What a report is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) spec: &'a SandboxSpec,
    pub(crate) seen: &'a Seen,
    pub(crate) outside: &'a Outside,
    pub(crate) group: &'a Group,
    pub(crate) has_way_out: bool,
    /// Bytes of the cgroup's memory that are for gVisor itself; none where that could not be found out.
    pub(crate) of_gvisor: Option<u64>,
}

/// The report on one sandbox.
pub(crate) fn on(about: About<'_>) -> Vec<Wallpart> {
    parts(|demand| match demand {
        Demand::Network => network(about),
        Demand::Files => files(about),
        Demand::Privilege => privilege(about),
        Demand::Kill => kill(about),
        Demand::Uid => uid(about),
        Demand::Memory => memory(about),
        Demand::Cpu => held(about, Controller::Cpu),
        Demand::Disk => disk(about.spec, about.seen, "all of its own folders"),
        Demand::Processes => {
            processes(about.spec, about.seen, "RLIMIT_NPROC of its only user, by its own kernel")
        }
        Demand::Timeout => (WallStatus::Enforced, "the host's clock, then the end of its kernel".to_owned()),
    })
}

/// What holds if all of this was seen; otherwise it is told what was not.
fn if_seen(looked: &[(bool, &str)], mechanism: String) -> Held {
    let unseen: Vec<&str> = looked.iter().filter(|(seen, _)| !seen).map(|(_, what)| *what).collect();
    if unseen.is_empty() {
        return (WallStatus::Enforced, mechanism);
    }
    (WallStatus::Partial, format!("not seen: {}", unseen.join(", ")))
}

fn network(About { seen, outside, has_way_out, .. }: About<'_>) -> Held {
    let way = if has_way_out { ", and a proxy in it that the host serves" } else { "" };
    let looked = [
        (seen.interfaces == ["lo"], "nothing but loopback inside"),
        (outside.has("net"), "a net namespace of its kernel's own"),
        (outside.filtered, "a seccomp filter on its kernel"),
    ];
    let network = "gVisor's own network stack with nothing but loopback";
    let around = "its kernel is in a net namespace of its own, behind a seccomp filter";
    if_seen(&looked, format!("{network}{way}; {around}"))
}

fn files(About { seen, outside, .. }: About<'_>) -> Held {
    let looked = [
        (seen.root_is_read_only, "a root that is read-only inside"),
        (outside.has("mnt"), "a mount namespace of its kernel's own"),
        (outside.empty_root, "a root of its kernel's with nothing of the host in it"),
        (outside.filtered, "a seccomp filter on its kernel"),
    ];
    if_seen(
        &looked,
        "a built, read-only root that a gofer serves; its kernel opens no file of the host".to_owned(),
    )
}

fn privilege(About { seen, outside, .. }: About<'_>) -> Held {
    if !(seen.no_capabilities && seen.no_new_privileges && seen.no_groups) {
        return (WallStatus::Absent, "capabilities, groups or new privileges are left inside".to_owned());
    }
    let filter =
        seen.filter.as_ref().map_or_else(|| "no filter of ours".to_owned(), |mark| format!("seccomp {mark}"));
    let inside = format!("inside: user {}, no groups, no capabilities, no_new_privs, {filter}", seen.user);
    let looked = [
        (outside.user != 0, "a kernel that is not root on the host"),
        (outside.has("user"), "a user namespace of its kernel's own"),
        (outside.no_capabilities, "a kernel without capabilities"),
        (outside.no_new_privileges, "a kernel that gains no privileges"),
        (outside.filtered, "a seccomp filter on its kernel"),
    ];
    let around = "its kernel is in a user namespace, without capabilities, behind a seccomp filter";
    let (status, mechanism) = if_seen(&looked, around.to_owned());
    (status, format!("{mechanism}; {inside}"))
}

fn uid(About { outside, .. }: About<'_>) -> Held {
    let looked = [(outside.is_nobody(), "another user than this program on the host")];
    if_seen(&looked, format!("its kernel is user {} on the host", outside.user))
}

fn kill(About { seen, outside, .. }: About<'_>) -> Held {
    let by = if outside.joined {
        "its processes are killed by their cgroup"
    } else {
        "its kernel ends with the program that started it"
    };
    let looked = [(seen.first, "an agent that is the first process of its kernel")];
    if_seen(&looked, format!("all of it ends with its own kernel; {by}"))
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

/// The cgroup is around all of it: processes, their files, and gVisor itself, which has what it was seen to take.
fn memory(about: About<'_>) -> Held {
    let (status, mechanism) = held(about, Controller::Memory);
    if status != WallStatus::Enforced {
        return (status, mechanism);
    }
    let asked = about.spec.limits.memory.value;
    let all = about.group.held().memory;
    match about.of_gvisor {
        Some(own) if all.is_some_and(|all| all <= asked.saturating_add(own)) => {
            let how = format!(
                "{mechanism}: {asked} bytes for processes and their files, {own} beside them for gVisor itself"
            );
            if about.group.swaps_without_bound() {
                return (WallStatus::Partial, format!("{how}; swap is not counted on this machine"));
            }
            (status, how)
        }
        _ => (
            WallStatus::Partial,
            format!("{mechanism}: how much of it is gVisor's own could not be found out"),
        ),
    }
}

/// What would give a demand that is not held, to root and to an ordinary user.
pub(crate) const fn advice(demand: Demand, is_rootless: bool) -> Option<&'static str> {
    match (demand, is_rootless) {
        (Demand::Privilege, true) => Some(
            "run as root: then its kernel has no capabilities. An ordinary user's (runsc --rootless) keeps those of its user \
             namespace, which has to be said yes to: sandbox.accept = [\"privilege\"]",
        ),
        (Demand::Uid, true) => {
            Some("run as root: an ordinary user's kernel (runsc --rootless) is that user on the host")
        }
        (Demand::Memory | Demand::Cpu, true) => Some(
            "run as root, or in a delegated cgroup v2 (systemd-run --user --scope -p Delegate=yes bailiwick …)",
        ),
        (Demand::Memory | Demand::Cpu, false) => {
            Some("let this program make cgroups: in a container, mount its cgroup writable")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
