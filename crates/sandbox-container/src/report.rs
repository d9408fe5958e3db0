//! What holds each demand, from what the agent saw from inside before a guest ran, and what is seen from outside. Nothing that was not
//! seen is claimed.

use bailiwick_agent_host::report::{Held, parts};
use bailiwick_sandbox::Demand;
use bailiwick_sys::cgroups::Group;
use bailiwick_sys::privileges;
use bailiwick_types::{WallStatus, Wallpart};
use bailiwick_wire::seat::Seen;

use crate::engine::{Engine, Kind};
use crate::look::Outside;
use crate::plan::{PAGE, Plan, USER};
use crate::runtime::Kernel;

/// The report on one container.
pub(crate) fn on(
    engine: &Engine,
    plan: &Plan,
    seen: &Seen,
    outside: &Outside,
    serves: bool,
) -> Vec<Wallpart> {
    let look = Look { engine, plan, seen, outside, serves };
    parts(|demand| match demand {
        Demand::Network => look.network(),
        Demand::Files => look.files(),
        Demand::Privilege => look.privilege(),
        Demand::Kill => look.kill(),
        Demand::Uid => look.uid(),
        Demand::Memory => look.memory(),
        Demand::Cpu => look.cpu(),
        Demand::Disk => look.disk(),
        Demand::Processes => look.processes(),
        Demand::Timeout => {
            (WallStatus::Enforced, "the host's clock, then the end of its pid namespace".to_owned())
        }
    })
}

/// Devices that the kernel puts into every network namespace where it can make tunnels: none of them leads anywhere until somebody
/// with capabilities makes it.
const NOWHERE: [&str; 9] =
    ["tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0"];

struct Look<'a> {
    engine: &'a Engine,
    plan: &'a Plan,
    seen: &'a Seen,
    outside: &'a Outside,
    serves: bool,
}

impl Look<'_> {
    /// The filter, by its mark.
    fn filter(&self) -> String {
        self.seen.filter.as_ref().map_or_else(|| "no filter".to_owned(), |mark| format!("seccomp {mark}"))
    }

    fn network(&self) -> Held {
        if !self.plan.own_network {
            return (WallStatus::Absent, "the host's own network, as asked for".to_owned());
        }
        let leads_out = |name: &&String| *name != "lo" && !NOWHERE.contains(&name.as_str());
        if let Some(name) = self.seen.interfaces.iter().find(leads_out) {
            return (WallStatus::Absent, format!("its network has `{name}` in it"));
        }
        if self.seen.filter.is_none() {
            return (WallStatus::Partial, "nothing but loopback; AF_VSOCK is not filtered".to_owned());
        }
        let proxy = if self.serves { ", and a proxy in it that the host serves" } else { "" };
        (WallStatus::Enforced, format!("network `none`: nothing but loopback{proxy}; {}", self.filter()))
    }

    fn files(&self) -> Held {
        if !(self.seen.root_is_read_only && self.seen.first) {
            return (WallStatus::Absent, "its root can be written to, or is not its own".to_owned());
        }
        let image = self.plan.begins.image.trim_start_matches("sha256:");
        let image = image.get(..12).unwrap_or(image);
        let who = if self.outside.mounted.is_some() { "the kernel" } else { "the engine" };
        let is_told = self.outside.mounted.is_some() || self.outside.account.readonly_rootfs == Some(true);
        let status = if is_told { WallStatus::Enforced } else { WallStatus::Partial };
        (status, format!("mount namespace with the image {image}, read-only; mounts as {who} tells them"))
    }

    fn privilege(&self) -> Held {
        let Seen { user, no_groups, no_capabilities, no_new_privileges, hidden, .. } = self.seen;
        if !(*no_capabilities && *no_new_privileges) {
            return (WallStatus::Absent, "capabilities or new privileges are left".to_owned());
        }
        if *user != USER {
            return (WallStatus::Absent, format!("it is the user {user} inside"));
        }
        let inside = format!("user {USER} inside, no capabilities, no_new_privs, {}", self.filter());
        // Code that breaks out of a kernel in user space has that kernel's rights.
        match (self.outside.kernel, self.outside.user) {
            (Kernel::Own, None) => {
                let why = "who its own kernel is on the host is not to be seen";
                return (WallStatus::Partial, format!("{why}; {inside}"));
            }
            (Kernel::Own, Some(0)) => {
                let why = "its own kernel is started by the engine as root";
                return (WallStatus::Partial, format!("{why}; {inside}"));
            }
            (Kernel::Ours, Some(0)) => return (WallStatus::Absent, "it is root outside".to_owned()),
            _ => {}
        }
        let is_whole = *no_groups && *hidden && self.seen.filter.is_some();
        (if is_whole { WallStatus::Enforced } else { WallStatus::Partial }, inside)
    }

    fn uid(&self) -> Held {
        let whose = match self.outside.kernel {
            Kernel::Ours => "it",
            Kernel::Own => "its own kernel",
        };
        let own = privileges::identity().0;
        match self.outside.user {
            None => (WallStatus::Partial, format!("who {whose} is on the host is not to be seen")),
            Some(0) => (WallStatus::Absent, format!("{whose} is root on the host")),
            Some(user) if user == own => (
                WallStatus::Partial,
                format!("{whose} is the same user as this program on the host ({user})"),
            ),
            Some(user) if self.seen.no_groups => {
                (WallStatus::Enforced, format!("{whose} is user {user} on the host, which is nobody's"))
            }
            Some(user) => (WallStatus::Partial, format!("{whose} is user {user} on the host, with groups")),
        }
    }

    fn kill(&self) -> Held {
        if self.seen.first && self.outside.kernel == Kernel::Own {
            return (WallStatus::Enforced, "all of it ends with its own kernel".to_owned());
        }
        if self.seen.first {
            return (WallStatus::Enforced, "pid namespace: all of it ends with its first process".to_owned());
        }
        (WallStatus::Absent, "its agent is not the first of a pid namespace".to_owned())
    }

    /// A limit: as the files of the kernel say; where they are not to be seen, as Docker says, which takes back what it cannot
    /// hold. Podman does not.
    fn limit(&self, by_kernel: Option<u64>, by_engine: Option<i64>, most: u64, file: &str) -> Held {
        if self.outside.group.is_some() {
            return match by_kernel {
                Some(held) if held <= most => (WallStatus::Enforced, format!("cgroup {file}: {held}")),
                _ => (WallStatus::Absent, format!("its cgroup has no such {file}")),
            };
        }
        let told =
            by_engine.and_then(|told| u64::try_from(told).ok()).filter(|told| *told > 0 && *told <= most);
        match (told, self.engine.kind) {
            (Some(told), Kind::Docker) => (WallStatus::Enforced, format!("{told}, as the engine tells")),
            _ => (WallStatus::Absent, "its cgroup is not to be seen".to_owned()),
        }
    }

    fn memory(&self) -> Held {
        let held = self.outside.group.as_ref().and_then(|group| group.held().memory);
        let Plan { memory, beside, .. } = self.plan;
        let (status, mechanism) = self.limit(held, self.outside.account.memory, *memory, "memory limit");
        if status == WallStatus::Absent {
            return (status, mechanism);
        }
        let asked = memory.saturating_sub(*beside);
        let group = self.outside.group.as_ref();
        if group.is_some_and(Group::swaps_without_bound) {
            return (
                WallStatus::Partial,
                format!("{mechanism}, but swap beside it is not counted on this machine"),
            );
        }
        match self.outside.kernel {
            Kernel::Ours if !group.map_or(self.outside.is_unified, Group::counts_sockets) => {
                let why = "buffers of sockets are not counted: no memory.kmem.tcp.limit_in_bytes";
                (WallStatus::Partial, format!("{mechanism}; {why}"))
            }
            Kernel::Ours if !self.seen.supervises => {
                let why = "connections that nobody accepts and locks on files are not bounded";
                (WallStatus::Partial, format!("{mechanism}; {why}"))
            }
            Kernel::Ours => (
                status,
                format!(
                    "{mechanism}: {asked} bytes for processes and their files, {beside} beside them for its first process"
                ),
            ),
            // The engine takes one number, and nothing but the kernel itself could tell the two apart.
            Kernel::Own => (
                WallStatus::Partial,
                format!(
                    "{mechanism}: {asked} bytes for processes and their files, and {beside} for its own kernel, of which commands can \
                     take what that kernel leaves"
                ),
            ),
        }
    }

    fn cpu(&self) -> Held {
        let held = self.outside.group.as_ref().and_then(|group| group.held().cpu).map(u64::from);
        let told = self.outside.account.nano_cpus.map(|nano| nano / 1_000_000);
        self.limit(held, told, u64::from(self.plan.cpu), "share of the processors (in thousandths)")
    }

    fn processes(&self) -> Held {
        let Some(most) = self.plan.pids else {
            return (WallStatus::Absent, "no limit was asked for".to_owned());
        };
        if self.outside.kernel == Kernel::Own {
            return match self.seen.most_processes {
                Some(held) if held <= most => {
                    (WallStatus::Enforced, "RLIMIT_NPROC of its only user, by its own kernel".to_owned())
                }
                _ => (WallStatus::Absent, "no limit on its processes".to_owned()),
            };
        }
        let held = self.outside.group.as_ref().and_then(|group| group.held().pids);
        self.limit(held, self.outside.account.pids_limit, most, "pids limit")
    }

    fn disk(&self) -> Held {
        let all: u64 = self.plan.scratch.iter().map(|scratch| scratch.bytes).sum();
        let how = format!("{} tmpfs of {all} bytes together, within its memory", self.plan.scratch.len());
        let Some(mounted) = &self.outside.mounted else {
            let told = self.outside.account.tmpfs.as_ref();
            let is_told = self
                .plan
                .scratch
                .iter()
                .all(|scratch| told.is_some_and(|told| told.contains_key(&scratch.at)));
            // On a kernel of its own the agent saw how much room there is.
            let largest = self.plan.scratch.iter().map(|scratch| scratch.bytes.max(PAGE)).max();
            let is_seen = self.outside.kernel == Kernel::Ours || self.seen.room <= largest;
            let status = if is_told && is_seen { WallStatus::Enforced } else { WallStatus::Absent };
            return (status, format!("{how}, as the engine tells"));
        };
        let holds = |scratch: &crate::plan::Scratch| {
            let found = mounted.iter().rev().find(|one| one.at == scratch.at);
            found.is_some_and(|found| match (scratch.bytes, found.bytes) {
                (0, _) => found.read_only,
                (most, Some(bytes)) => bytes <= most,
                (_, None) => false,
            })
        };
        match self.plan.scratch.iter().find(|scratch| !holds(scratch)) {
            None => (WallStatus::Enforced, how),
            Some(scratch) => (WallStatus::Absent, format!("{} is not as large as asked for", scratch.at)),
        }
    }
}
