//! The kernel's account of this process, its children and theirs. Reading of others needs root.

use std::path::Path;

/// One process as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: u32,
    /// Its parent.
    pub(crate) parent: u32,
    /// `R`, `S`, `Z` and so on.
    pub(crate) state: char,
}

/// All processes of the machine.
pub(crate) fn all() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter_map(one).collect()
}

/// One process, if it is there.
pub(crate) fn one(pid: u32) -> Option<Process> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses included.
    let mut rest = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    let state = rest.next()?.chars().next()?;
    Some(Process { pid, parent: rest.next()?.parse().ok()?, state })
}

/// The children of a process.
pub(crate) fn children(parent: u32) -> Vec<Process> {
    all().into_iter().filter(|process| process.parent == parent).collect()
}

/// The nurseries of this process: it starts nothing else.
pub(crate) fn nurseries() -> Vec<Process> {
    children(std::process::id())
}

/// The cells of this process, over all its nurseries, without those that have ended.
pub(crate) fn cells() -> Vec<Process> {
    let living = |process: &Process| process.state != 'Z';
    nurseries().into_iter().flat_map(|nursery| children(nursery.pid)).filter(living).collect()
}

/// A line of `/proc/PID/status`.
#[track_caller]
pub(crate) fn status(pid: u32, field: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {field} in\n{text}")).trim().to_owned()
}

/// The namespace of a process, as the kernel names it.
#[track_caller]
pub(crate) fn namespace(pid: u32, kind: &str) -> String {
    let link = std::fs::read_link(format!("/proc/{pid}/ns/{kind}")).expect("a namespace");
    link.to_string_lossy().into_owned()
}

/// The open descriptors of a process and what they are.
#[track_caller]
pub(crate) fn descriptors(pid: u32) -> Vec<(u32, String)> {
    let folder = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("descriptors");
    let mut open: Vec<(u32, String)> = folder
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.parse().ok()?;
            let target = std::fs::read_link(entry.path()).ok()?;
            Some((number, target.to_string_lossy().into_owned()))
        })
        .collect();
    open.sort();
    open
}

/// How much memory this process has in use, in bytes.
pub(crate) fn memory_in_use() -> u64 {
    let text = status(std::process::id(), "VmRSS");
    let kibibytes: u64 = text.trim_end_matches(" kB").trim().parse().expect("a size");
    kibibytes * 1024
}

/// Whether a process is in a cgroup that was made for it.
#[track_caller]
pub(crate) fn is_in_a_cgroup_of_ours(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("its cgroups").contains("/bailiwick-")
}

/// The cgroups that were made by a process of this number and are still there.
pub(crate) fn cgroups_of(pid: u32) -> Vec<String> {
    let mut found = Vec::new();
    find_cgroups(Path::new("/sys/fs/cgroup"), &format!("bailiwick-{pid}-"), 5, &mut found);
    found
}

fn find_cgroups(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            found.push(entry.path().to_string_lossy().into_owned());
        } else if depth > 0 {
            find_cgroups(&entry.path(), prefix, depth - 1, found);
        }
    }
}
