//! Which walls stood around a call: demands, what holds each, and whether it was seen to.

use bailiwick_types::{WallStatus, Wallpart};
use bailiwick_wire::Walls;

/// The demands of the floor: without these nothing runs, unless the operator wants it to.
pub const FLOOR: &[&str] = &["own process", "no other system calls", "no network", "no files"];

/// The receipt of a nursery's cells.
pub(super) fn walls(walls: &Walls, cgroup: Option<&'static str>) -> Vec<Wallpart> {
    let Walls {
        user_namespace,
        pid_namespace,
        net_namespace,
        ipc_namespace,
        uts_namespace,
        empty_root,
        unprivileged_user,
        no_capabilities,
        no_new_privileges,
        not_dumpable,
        nothing_inherited,
        seccomp,
        hollow,
        missing: _,
    } = walls;
    let filter = ("system call filter", *seccomp);
    vec![
        // A fork that ends with its call is what a cell is; no part of the machine can take that away.
        part("own process", &[("one-shot fork", !hollow)], Needs::One),
        part("no other system calls", &[filter], Needs::One),
        part("no network", &[("net namespace", *net_namespace), filter], Needs::One),
        part("no files", &[("empty read-only root", *empty_root), filter], Needs::One),
        part("no other processes", &[("pid namespace", *pid_namespace), filter], Needs::One),
        part(
            "nothing shared with the host",
            &[("ipc namespace", *ipc_namespace), ("uts namespace", *uts_namespace)],
            Needs::All,
        ),
        part(
            "no privileges",
            &[
                ("user namespace", *user_namespace),
                ("no capabilities", *no_capabilities),
                ("no_new_privs", *no_new_privileges),
            ],
            Needs::All,
        ),
        part("unprivileged user", &[("dedicated or own uid, not root", *unprivileged_user)], Needs::One),
        part("not traceable", &[("not dumpable", *not_dumpable)], Needs::One),
        part("nothing inherited", &[("empty environment, no descriptors", *nothing_inherited)], Needs::One),
        part(
            "memory of a call",
            &[("engine heap bound", !hollow), ("address space bound", !hollow)],
            Needs::All,
        ),
        part("memory of all calls together", &[(cgroup.unwrap_or("cgroup"), cgroup.is_some())], Needs::One),
        part("deadline", &[("kill by pidfd", true)], Needs::One),
    ]
}

/// How many of its mechanisms hold a demand.
enum Needs {
    /// Any one holds it alone.
    One,
    /// Only all of them together.
    All,
}

fn part(demand: &str, mechanisms: &[(&str, bool)], needs: Needs) -> Wallpart {
    let standing: Vec<&str> =
        mechanisms.iter().filter(|(_, stands)| *stands).map(|(name, _)| *name).collect();
    let absent: Vec<&str> = mechanisms.iter().filter(|(_, stands)| !*stands).map(|(name, _)| *name).collect();
    let status = match (standing.is_empty(), absent.is_empty(), needs) {
        (true, _, _) => WallStatus::Absent,
        (false, true, _) | (false, false, Needs::One) => WallStatus::Enforced,
        (false, false, Needs::All) => WallStatus::Partial,
    };
    let mechanism = match (standing.is_empty(), absent.is_empty()) {
        (true, _) => format!("none (no {})", absent.join(", no ")),
        (false, true) => standing.join(" + "),
        (false, false) => format!("{} (no {})", standing.join(" + "), absent.join(", no ")),
    };
    Wallpart { demand: demand.to_owned(), mechanism, status }
}
