//! What this process may use at most: memory, descriptors, and the disk under a directory.
//!
//! Budgets are derived from these numbers. A number that the system does not give is left out, never guessed.

use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

/// How many descriptors this process may have open at once: its soft limit.
pub fn descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// The bytes of memory that this process may use: what the machine has, or less where a cgroup above it says so.
pub fn memory() -> Option<u64> {
    let machine = text("/proc/meminfo".as_ref()).and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    let machine = machine.map(|kib| kib.saturating_mul(1024));
    machine.into_iter().chain(cgroup_limit()).min()
}

/// The smallest memory limit of the cgroups that this process is in, where they can be seen.
fn cgroup_limit() -> Option<u64> {
    let own = text("/proc/self/cgroup".as_ref())?;
    let mut limits = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            list if list.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // A limit holds for everything below it. Inside a container the path may be that of the host: then only
        // the root can be seen, and it is the container's.
        let mut below = PathBuf::from(path.trim_start_matches('/'));
        loop {
            let limit = text(&Path::new(root).join(&below).join(file));
            limits.extend(limit.and_then(|text| text.trim().parse::<u64>().ok()));
            if !below.pop() {
                break;
            }
        }
    }
    limits.into_iter().min()
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel, of a few lines")]
fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The disk under a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk {
    /// Bytes that this process can still write there.
    pub free: u64,
    /// Bytes of the whole file system.
    pub total: u64,
}

/// Looks at the disk under a directory.
pub fn disk(directory: &Path) -> std::io::Result<Disk> {
    let told = rustix::fs::statvfs(directory)?;
    Ok(Disk {
        free: told.f_bavail.saturating_mul(told.f_frsize),
        total: told.f_blocks.saturating_mul(told.f_frsize),
    })
}
