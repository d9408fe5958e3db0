//! What holds each demand, from what the agent saw before anything of a guest ran, what was seen of its monitor from outside, and
//! its cgroups. Nothing that was not seen is claimed.

use bailiwick_agent_host::report::{Held, disk, parts, processes};
use bailiwick_sandbox::{Demand, SandboxSpec};
use bailiwick_sys::cgroups::{Controller, Group};
use bailiwick_types::{WallStatus, Wallpart};
use bailiwick_wire::seat::Seen;

use crate::create::OF_THE_MONITOR;
use crate::monitor::{Accelerator, Monitor, Size};
use crate::outside::Outside;
use crate::plan::{KERNELS, OVERHEAD};

/// What a report is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) spec: &'a SandboxSpec,
    pub(crate) seen: &'a Seen,
    pub(crate) outside: &'a Outside,
    pub(crate) group: &'a Group,
    pub(crate) monitor: Monitor,
    pub(crate) accelerator: Accelerator,
    pub(crate) size: Size,
    pub(crate) has_way_out: bool,
    pub(crate) has_image: bool,
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
        Demand::Cpu => cpu(about),
        Demand::Disk => disk(about.spec, about.seen, "all that is its own"),
        Demand::Processes => processes(
            about.spec,
            about.seen,
            "a cgroup and RLIMIT_NPROC of its only user, by its machine's own kernel",
        ),
        Demand::Timeout => (WallStatus::Enforced, "the host's clock, then the end of its machine".to_owned()),
    })
}

const fn status(holds: bool) -> WallStatus {
    if holds { WallStatus::Enforced } else { WallStatus::Partial }
}

fn network(About { seen, outside, monitor, has_way_out, .. }: About<'_>) -> Held {
    let holds = seen.interfaces == ["lo"] && outside.has("net") && outside.filtered;
    let way =
        if has_way_out { ", and a proxy on it that the host serves over the agent's stream" } else { "" };
    let network = "a machine with no network card, nothing but its own loopback";
    let sockets = match monitor {
        Monitor::Qemu => "",
        // The doors are gone when the last of them has opened, and without all three nothing stands.
        Monitor::Firecracker => "; its virtual sockets lead to nobody since its streams came",
    };
    let name = monitor.name();
    (
        status(holds),
        format!(
            "{network}{way}{sockets}; {name} is in a net namespace of its own, behind its seccomp filter"
        ),
    )
}

fn files(About { seen, outside, monitor, has_image, .. }: About<'_>) -> Held {
    let holds = (seen.root_is_read_only || has_image) && outside.filtered && outside.sees_nothing;
    let root = if has_image {
        "the image with a layer in the machine's memory over it"
    } else {
        "a built, read-only root"
    };
    let sees =
        if outside.sees_nothing { "sees no file of anybody's" } else { "is not kept from this user's files" };
    let served = "served by this program, which opens only beneath what is named";
    (status(holds), format!("{root}, {served}; no disk; {} {sees}", monitor.name()))
}

fn privilege(About { seen, outside, monitor, accelerator, .. }: About<'_>) -> Held {
    let filter =
        seen.filter.as_ref().map_or_else(|| "no filter of ours".to_owned(), |mark| format!("seccomp {mark}"));
    let inside = seen.no_capabilities && seen.no_new_privileges && seen.no_groups && seen.user != 0;
    let walls = outside.user != 0 && outside.no_capabilities && outside.no_new_privileges && outside.filtered;
    let mechanism = format!(
        "a machine of its own by {}; {} is without capabilities, behind its seccomp filter; inside: user {}, no groups, no \
         capabilities, no_new_privs, {filter}",
        accelerator.says(),
        monitor.name(),
        seen.user
    );
    if !inside {
        return (
            WallStatus::Absent,
            "root, capabilities, groups or new privileges are left inside".to_owned(),
        );
    }
    (status(walls), mechanism)
}

fn uid(About { outside, monitor, .. }: About<'_>) -> Held {
    let name = monitor.name();
    if outside.is_nobody() {
        return (
            WallStatus::Enforced,
            format!("{name} is user {} on the host, which is nobody's", outside.user),
        );
    }
    (WallStatus::Partial, format!("{name} is the same user as this program on the host ({})", outside.user))
}

fn kill(About { seen, outside, .. }: About<'_>) -> Held {
    let by = if outside.joined { "by its pidfd and its cgroup" } else { "by its pidfd" };
    (
        status(seen.first),
        format!("all of it ends with its machine, which is ended {by} and dies with this program"),
    )
}

fn held(About { outside, monitor, group, .. }: About<'_>, controller: Controller) -> Held {
    match group.holds(controller) {
        Ok(mechanism) if outside.joined => {
            (WallStatus::Enforced, format!("{mechanism}, around {}", monitor.name()))
        }
        Ok(_) => (WallStatus::Absent, format!("{} did not join its cgroup", monitor.name())),
        Err(why) => (WallStatus::Absent, why),
    }
}

/// The machine's own kernel holds processes and their files to the limit; the size of the machine bounds that kernel, too.
fn memory(about: About<'_>) -> Held {
    let Size { memory: size, .. } = about.size;
    let asked = about.spec.limits.memory.value;
    let inside =
        format!("{asked} bytes for processes and their files, {OVERHEAD} beside them for its first process");
    let machine = format!("a machine of {size} MiB, {} of them for its kernel", KERNELS >> 20);
    let outer = match held(about, Controller::Memory) {
        (WallStatus::Enforced, mechanism) => format!("{mechanism} with {OF_THE_MONITOR} bytes of its own"),
        (_, why) => format!("no cgroup outside: {why}"),
    };
    (WallStatus::Enforced, format!("a cgroup of the machine's own kernel: {inside}; {machine}; {outer}"))
}

fn cpu(about: About<'_>) -> Held {
    let (status, mechanism) = held(about, Controller::Cpu);
    (status, format!("{mechanism}; a machine of {} processors", about.size.processors))
}
