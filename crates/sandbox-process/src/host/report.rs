//! What holds each demand, from what a jail saw of itself and from its cgroups. Nothing that was not seen is claimed.

use bailiwick_agent_host::report::{Held, parts};
use bailiwick_sandbox::{Demand, Limits};
use bailiwick_sys::cgroups::{Controller, Group};
use bailiwick_types::{WallStatus, Wallpart};
use bailiwick_wire::jail::{Laid, Own, Plan, Standing};

use super::create::OVERHEAD;

/// The report on one jail.
pub(crate) fn on(plan: &Plan, limits: &Limits, standing: &Standing, group: &Group) -> Vec<Wallpart> {
    parts(|demand| match demand {
        Demand::Network => network(plan, standing),
        Demand::Files => files(plan, standing),
        Demand::Privilege => privilege(standing),
        Demand::Kill => kill(standing),
        Demand::Uid => uid(plan, standing),
        Demand::Memory => memory(plan, limits, standing, group),
        Demand::Cpu => held(standing, group, Controller::Cpu),
        Demand::Disk => disk(plan, standing),
        Demand::Processes => processes(plan, standing, group),
        Demand::Timeout => timeout(standing),
    })
}

/// The filter, by its mark.
fn filter(standing: &Standing) -> String {
    standing.filter.as_ref().map_or_else(|| "no filter".to_owned(), |mark| format!("seccomp {mark}"))
}

fn network(plan: &Plan, standing: &Standing) -> Held {
    let filter = filter(standing);
    match (plan.own_network, standing.net, plan.own, &standing.filter) {
        (false, ..) => (WallStatus::Absent, "the host's own network, as asked for".to_owned()),
        (true, true, _, Some(_)) if plan.listens.is_some() => (
            WallStatus::Enforced,
            format!(
                "net namespace with nothing but loopback, and a proxy in it that the host serves; {filter}"
            ),
        ),
        (true, false, ..) if plan.listens.is_some() => {
            (WallStatus::Absent, "no net namespace that a proxy could be in".to_owned())
        }
        (true, true, _, Some(_)) => {
            (WallStatus::Enforced, format!("net namespace with nothing but loopback; {filter}"))
        }
        (true, true, _, None) => (WallStatus::Partial, "net namespace; AF_VSOCK is not filtered".to_owned()),
        (true, false, Own::Nothing, Some(_)) => {
            (WallStatus::Enforced, format!("{filter}: no sockets but pairs that are connected from birth"))
        }
        (true, false, ..) => (WallStatus::Absent, "no net namespace".to_owned()),
    }
}

fn files(plan: &Plan, standing: &Standing) -> Held {
    let landlock = match standing.landlock {
        Some((version, true)) => format!("Landlock ABI {version}"),
        Some((version, false)) => format!("Landlock ABI {version} in part"),
        None => "no Landlock".to_owned(),
    };
    if plan.own != Own::Nothing {
        // Without Landlock a command can execute the agent's own program by its entry in /proc, and write to that file if it is
        // this user's.
        let is_out_of_reach = standing.landlock.is_some() || !plan.outside.is_empty();
        let holds = standing.mount && standing.root && standing.processes && is_out_of_reach;
        let status = if holds { WallStatus::Enforced } else { WallStatus::Partial };
        let root = match &standing.image {
            Some(Laid::Over) => "an image, and what is written in memory over it",
            Some(Laid::Copied { .. }) => "a copy of an image in memory",
            None => "a built, read-only root",
        };
        return (status, format!("mount namespace with {root}; {landlock}"));
    }
    match standing.landlock {
        // Before version 3, what can be written to can be cut short although it is only read.
        Some((3.., _)) => (WallStatus::Enforced, landlock),
        Some(_) => (WallStatus::Partial, landlock),
        None => (WallStatus::Absent, landlock),
    }
}

fn privilege(standing: &Standing) -> Held {
    let Standing { outside, no_capabilities, no_new_privileges, hidden, .. } = standing;
    if !(*no_capabilities && *no_new_privileges) {
        return (WallStatus::Absent, "capabilities or new privileges are left".to_owned());
    }
    let rest = format!("no capabilities, no_new_privs, {}", filter(standing));
    match (*outside, *hidden && standing.filter.is_some()) {
        (0, _) => (WallStatus::Absent, format!("it is root outside; {rest}")),
        (_, true) => (WallStatus::Enforced, rest),
        (_, false) => (WallStatus::Partial, format!("it can be traced, or has no filter; {rest}")),
    }
}

/// An ordinary user's sandboxes are that user outside, whatever a user namespace calls it inside.
fn uid(plan: &Plan, standing: &Standing) -> Held {
    let Standing { user, outside, no_groups, .. } = standing;
    let groups = if *no_groups { "no groups" } else { "the groups of this user" };
    let inside = if *user { format!("{} in its user namespace; ", plan.inside) } else { String::new() };
    if *no_groups && plan.outside.contains(outside) {
        return (
            WallStatus::Enforced,
            format!("{inside}user {outside} on the host, which is nobody's; {groups}"),
        );
    }
    (WallStatus::Partial, format!("{inside}the same user as this program on the host ({outside}); {groups}"))
}

fn kill(standing: &Standing) -> Held {
    if standing.pid {
        return (WallStatus::Enforced, "pid namespace: all of it ends with its first process".to_owned());
    }
    if standing.signals_stay {
        let how = "no pid namespace; a signal to everybody, which Landlock keeps from everybody else";
        return (WallStatus::Partial, how.to_owned());
    }
    (WallStatus::Partial, "no pid namespace: sessions of commands are killed".to_owned())
}

fn held(standing: &Standing, group: &Group, controller: Controller) -> Held {
    match group.holds(controller) {
        Ok(mechanism) if standing.joined > 0 => (WallStatus::Enforced, mechanism),
        Ok(_) => (WallStatus::Absent, "it did not join its cgroup".to_owned()),
        Err(why) => (WallStatus::Absent, why),
    }
}

/// The cgroup counts processes and the sandbox's own files together. A limit on each process is not one on all of them: it is
/// named, and nothing is claimed for it.
fn memory(plan: &Plan, limits: &Limits, standing: &Standing, group: &Group) -> Held {
    let (status, mechanism) = held(standing, group, Controller::Memory);
    if status == WallStatus::Enforced {
        let asked = limits.memory.value;
        let most = asked.saturating_add(OVERHEAD);
        return match group.held().memory.filter(|held| *held <= most) {
            None => (WallStatus::Absent, format!("{mechanism} does not hold it to {most} bytes")),
            Some(_) if group.swaps_without_bound() => (
                WallStatus::Partial,
                format!("{mechanism}: {asked} bytes, but swap beside them is not counted on this machine"),
            ),
            Some(_) => {
                // Without namespaces no socket of the internet can be made.
                let has_sockets = plan.own != Own::Nothing;
                if has_sockets && !group.counts_sockets() {
                    let why = "buffers of sockets are not counted: no memory.kmem.tcp.limit_in_bytes";
                    return (WallStatus::Partial, format!("{mechanism}: {asked} bytes; {why}"));
                }
                if !standing.supervised {
                    let sockets = if has_sockets { "connections that nobody accepts and " } else { "" };
                    let why = format!("{sockets}locks on files are not bounded");
                    return (WallStatus::Partial, format!("{mechanism}: {asked} bytes; {why}"));
                }
                let beside = format!("{OVERHEAD} bytes beside them for its first process");
                (status, format!("{mechanism}: {asked} bytes for processes and their files, {beside}"))
            }
        };
    }
    match (plan.data, standing.most_data) {
        (Some(wanted), Some(most)) if most <= wanted => {
            (status, format!("{mechanism}; only each process alone is held, by RLIMIT_DATA"))
        }
        _ => (status, mechanism),
    }
}

fn disk(plan: &Plan, standing: &Standing) -> Held {
    if standing.root {
        let copy = match &standing.image {
            Some(Laid::Copied { .. }) => ", the copy of its image among them",
            Some(Laid::Over) | None => "",
        };
        let Plan { disk, files, .. } = plan;
        return (
            WallStatus::Enforced,
            format!("tmpfs of {disk} bytes and {files} files{copy}, within its memory"),
        );
    }
    (WallStatus::Absent, "its files are in a folder of the host's".to_owned())
}

fn processes(plan: &Plan, standing: &Standing, group: &Group) -> Held {
    let wanted = plan.processes.map(|most| u64::from(most) + 1);
    let by_user = standing.user && wanted.is_some() && standing.most_processes <= wanted;
    match (by_user, group.holds(Controller::Pids)) {
        (true, _) => (WallStatus::Enforced, "RLIMIT_NPROC of a user namespace of its own".to_owned()),
        (false, Ok(mechanism)) if standing.joined > 0 => (WallStatus::Enforced, mechanism),
        (false, Ok(_)) => (WallStatus::Absent, "it did not join its cgroup".to_owned()),
        (false, Err(why)) => (WallStatus::Absent, why),
    }
}

fn timeout(standing: &Standing) -> Held {
    let how = if standing.pid { "the end of its pid namespace" } else { "a kill of what is found" };
    (WallStatus::Enforced, format!("the host's clock, then {how}"))
}
