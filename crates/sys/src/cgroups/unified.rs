//! Chooses where cgroups of version 2 are made.
//!
//! A cgroup with processes of its own cannot hand the memory controller to cgroups below it; only the root can. This process lives in
//! one: a login session, a service, a container. So the cgroups of sandboxes are made below the nearest cgroup above that has no
//! processes, as siblings of the one that this process lives in. A cgroup that was delegated to this process (`Delegate=yes` of
//! systemd, or a container) is emptied first: its processes move to a cgroup below it, and sandboxes stay within its bounds.
//!
//! They are made in one cgroup of our own, [`OURS`]. As long as it hands controllers on, no other program (systemd does that for its
//! slices) can take them away from the cgroups above it.

use std::path::{Path, PathBuf};

use super::{is_writable, read, write};

/// The cgroup in which those of sandboxes are.
pub(crate) const OURS: &str = "bailiwick";
/// The cgroup to which the processes of a delegated cgroup move.
const HOST: &str = "bailiwick-host";
/// The controllers that bound sandboxes.
pub(super) const CONTROLLERS: [&str; 3] = ["memory", "cpu", "pids"];
/// The attributes by which systemd marks a delegated cgroup: the first one is root's, the second one for the manager of a user.
const DELEGATED: [&str; 2] = ["trusted.delegate", "user.delegate"];
/// How often the processes of a delegated cgroup are listed and moved: one that forks meanwhile is found in the next round.
const ROUNDS: usize = 10;

/// Finds the cgroup to make sandboxes' cgroups in, and makes it. `own` is the cgroup of this process below the mount, where it is known.
/// None where this user may make none.
pub(crate) fn find(mounted: &Path, own: Option<&Path>) -> Option<PathBuf> {
    let lives = own.map(|own| mounted.join(own)).filter(|own| own.exists());
    let is_top = own.is_some_and(|own| own.as_os_str().is_empty());
    let lives = lives.unwrap_or_else(|| mounted.to_owned());
    // A container sees its own cgroup as the top.
    if (is_top && !is_root(&lives)) || is_delegated(&lives) {
        move_processes(&lives);
    }
    let above = lives.ancestors().take_while(|above| above.starts_with(mounted));
    let mut choices = above.filter(|above| is_writable(above) && may_delegate(above));
    let home = choices.find(|above| {
        enable_down_to(mounted, above);
        lists(above, "cgroup.subtree_control").iter().any(|one| one == "memory")
    })?;
    let ours = home.join(OURS);
    prepare(&ours).then_some(ours)
}

/// Makes our cgroup where it is not there, and has it hand on every controller that it has. Another program may have removed it while
/// it was empty.
pub(super) fn prepare(ours: &Path) -> bool {
    if let Err(error) = std::fs::create_dir(ours)
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return false;
    }
    enable(ours);
    is_writable(ours)
}

/// The controllers that a cgroup hands on to those below it.
pub(super) fn handed_on(cgroup: &Path) -> Vec<String> {
    lists(cgroup, "cgroup.subtree_control")
}

/// Whether it is the root of all cgroups, for which there is no rule about processes: it has no type.
fn is_root(cgroup: &Path) -> bool {
    !cgroup.join("cgroup.type").exists()
}

/// Whether it may hand on controllers: it is the root, or has no processes of its own. Handing on the controllers of CPU time and
/// processes would succeed all the same, and then no process could join a cgroup below it.
fn may_delegate(cgroup: &Path) -> bool {
    is_root(cgroup) || read(&cgroup.join("cgroup.procs")).is_ok_and(|members| members.trim().is_empty())
}

fn is_delegated(cgroup: &Path) -> bool {
    DELEGATED.iter().any(|attribute| {
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(cgroup, *attribute, &mut value);
        length.is_ok_and(|length| value.get(..length) == Some(b"1"))
    })
}

/// Moves every process of a cgroup to one below it. What cannot be moved stays, and then this cgroup is not chosen.
fn move_processes(cgroup: &Path) {
    let host = cgroup.join(HOST);
    let _there_already = std::fs::create_dir(&host);
    for _ in 0..ROUNDS {
        let members = read(&cgroup.join("cgroup.procs")).unwrap_or_default();
        if members.trim().is_empty() {
            return;
        }
        for member in members.lines() {
            let _gone = write(&host.join("cgroup.procs"), member);
        }
    }
}

/// Has each cgroup from the mount down to this one hand on what it has, as far as this user may.
fn enable_down_to(mounted: &Path, cgroup: &Path) {
    let mut path: Vec<&Path> = cgroup.ancestors().take_while(|above| above.starts_with(mounted)).collect();
    path.reverse();
    for above in path {
        enable(above);
    }
}

fn enable(cgroup: &Path) {
    let (offered, on) = (lists(cgroup, "cgroup.controllers"), lists(cgroup, "cgroup.subtree_control"));
    let is_wanted =
        |name: &&&str| offered.iter().any(|one| one == **name) && !on.iter().any(|one| one == **name);
    let wanted: Vec<&&str> = CONTROLLERS.iter().filter(is_wanted).collect();
    if wanted.is_empty() || !may_delegate(cgroup) {
        return;
    }
    for name in wanted {
        let _not_ours_to_change = write(&cgroup.join("cgroup.subtree_control"), &format!("+{name}"));
    }
}

/// The words of a file.
fn lists(cgroup: &Path, file: &str) -> Vec<String> {
    let text = read(&cgroup.join(file)).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
