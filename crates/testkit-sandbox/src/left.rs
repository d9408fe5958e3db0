//! What is on the host of sandboxes, and who looks.

use std::path::{Path, PathBuf};

/// Whether this is root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Processes whose command line has this text in it.
pub fn processes_with(text: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("processes");
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.windows(text.len()).any(|part| part == text.as_bytes())
        })
        .collect()
}

/// The memory of a process, in kilobytes: its own, and what it shares. Nothing of one that is gone.
pub fn memory_of(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or(0)
}

/// Cgroups whose name begins with this text.
pub fn cgroups_of(name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(name) {
                found.push(entry.path());
            }
            left.push(entry.path());
        }
    }
    found
}

/// What a backend that keeps `<owner>/boxes/<sandbox>` in this directory has there, by name.
pub fn boxes(within: &Path) -> Vec<String> {
    let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let boxes = entries(within.to_owned()).flat_map(|owner| entries(owner.path().join("boxes")));
    boxes.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
