//! Cgroups that somebody else made: found by a process that lives in them, looked at, and left to their maker.

use std::path::Path;

use super::{Controller, Folder, Group, Maker, V1, Version, named, read};
use crate::{Failed, Step};

/// What the kernel holds a cgroup to; none for no bound, or for no file that says one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Thousandths of a processor.
    pub cpu: Option<u32>,
    /// Processes and threads.
    pub pids: Option<u64>,
}

impl Group {
    /// The cgroups that somebody else made around a process, if their paths say that they are of this name: they are looked at, and
    /// never removed from here.
    pub fn around(process: u32, name: &str) -> Option<Self> {
        let mounted = Path::new("/sys/fs/cgroup");
        let told = read(Path::new(&format!("/proc/{process}/cgroup"))).ok()?;
        let find = |controller: &str, top: &Path| {
            let path = named(&told, controller)?;
            let is_its_own = path.to_str().is_some_and(|path| path.contains(name));
            is_its_own.then(|| top.join(path)).filter(|path| path.is_dir())
        };
        let folders: Vec<Folder> = if mounted.join("cgroup.controllers").exists() {
            let controllers = V1.map(|(controller, _)| controller).to_vec();
            let path = find("", mounted)?;
            vec![Folder { controllers, path, version: Version::Two }]
        } else {
            let folder = |(controller, name): (Controller, &str)| {
                let path = find(name, &mounted.join(name))?;
                Some(Folder { controllers: vec![controller], path, version: Version::One })
            };
            V1.into_iter().filter_map(folder).collect()
        };
        // Without one of this name the process is somebody else's.
        (!folders.is_empty()).then(|| Self { folders, missing: Vec::new(), maker: Maker::SomebodyElse })
    }

    /// What the kernel holds it to, as its files say.
    pub fn held(&self) -> Held {
        let memory = self.folder(Controller::Memory).and_then(|folder| {
            let file = if folder.version == Version::One { "memory.limit_in_bytes" } else { "memory.max" };
            folder.number(file)
        });
        let pids = self.folder(Controller::Pids).and_then(|folder| folder.number("pids.max"));
        let cpu = self.folder(Controller::Cpu).and_then(Folder::share);
        Held { memory, cpu, pids }
    }

    /// Whether its members may hold memory in swap beside the bound: swap is on, and no file of the cgroup bounds it.
    pub fn swaps_without_bound(&self) -> bool {
        let Some(folder) = self.folder(Controller::Memory) else { return false };
        let is_bounded = match folder.version {
            // It counts memory and swap together.
            Version::One => {
                let both = folder.number("memory.memsw.limit_in_bytes");
                both.is_some_and(|both| {
                    folder.number("memory.limit_in_bytes").is_some_and(|memory| both <= memory)
                })
            }
            Version::Two => folder.number("memory.swap.max") == Some(0),
        };
        // The first line is the head of a table.
        !is_bounded && read(Path::new("/proc/swaps")).is_ok_and(|table| table.lines().count() > 1)
    }

    /// Bytes of memory that its members hold as anonymous memory and in the kernel: what is in files, in shared memory and
    /// in the page cache is left out.
    pub fn private_memory(&self) -> Option<u64> {
        let folder = self.folder(Controller::Memory)?;
        let entry = |word| folder.entry("memory.stat", word);
        match folder.version {
            Version::One => Some(
                entry("total_rss")?.saturating_add(folder.number("memory.kmem.usage_in_bytes").unwrap_or(0)),
            ),
            Version::Two => Some(entry("anon")?.saturating_add(entry("kernel").unwrap_or(0))),
        }
    }

    /// Holds it to another number of bytes of memory from now on.
    pub fn hold_memory(&self, bytes: u64) -> Result<(), Failed> {
        let missing = || Step::WriteCgroup.failed(rustix::io::Errno::NOENT);
        self.folder(Controller::Memory).ok_or_else(missing)?.bound_memory(bytes)
    }
}

impl Folder {
    /// The share of the processors, in thousandths of one.
    fn share(&self) -> Option<u32> {
        let (quota, period) = match self.version {
            Version::One => (self.number("cpu.cfs_quota_us")?, self.number("cpu.cfs_period_us")?),
            Version::Two => {
                let text = read(&self.path.join("cpu.max")).ok()?;
                let (quota, period) = text.trim().split_once(' ')?;
                (quota.parse().ok()?, period.parse().ok()?)
            }
        };
        u32::try_from(quota.saturating_mul(1000).checked_div(period)?).ok()
    }
}

#[cfg(test)]
mod tests;
