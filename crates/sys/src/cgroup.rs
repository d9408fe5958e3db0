//! One memory cgroup for a nursery, v1 or v2, where this process may make one. Files are written directly.

use std::path::{Path, PathBuf};

use crate::cgroups::unified;
use crate::namespaces::errno;
use crate::{Failed, Step};

/// A cgroup that is removed when it is dropped, if nobody lives in it any more.
#[derive(Debug)]
pub struct Cgroup {
    folder: PathBuf,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Where memory cgroups are on this machine.
fn home() -> Option<(PathBuf, Version)> {
    let one = Path::new("/sys/fs/cgroup/memory");
    if one.join("memory.limit_in_bytes").exists() {
        // Below our own cgroup, so that its bounds hold for nurseries too; inside a container it may not be visible.
        let own = own("memory").map(|own| one.join(own)).filter(|own| own.exists());
        return Some((own.unwrap_or_else(|| one.to_owned()), Version::One));
    }
    let two = Path::new("/sys/fs/cgroup");
    if !two.join("cgroup.controllers").exists() {
        return None;
    }
    Some((unified::find(two, own("").as_deref())?, Version::Two))
}

/// The cgroup of this process for a controller; version 2 has one for all, by no name.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, of a few lines")]
fn own(controller: &str) -> Option<PathBuf> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = text.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|one| one == controller).then_some(path)
    })?;
    Some(PathBuf::from(path.trim_start_matches('/')))
}

/// Removes cgroups of processes that are gone; one that is still in use cannot be removed, and is not.
fn sweep(home: &Path, kind: &str) {
    let Ok(entries) = std::fs::read_dir(home) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| {
            let (pid, _) = name.strip_prefix(kind)?.strip_prefix('-')?.split_once('-')?;
            pid.parse::<u32>().ok()
        });
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _in_use = std::fs::remove_dir(entry.path());
        }
    }
}

impl Cgroup {
    /// Makes a cgroup with a bound on memory, swap included where that can be bounded. It is called after the process
    /// that makes it; what processes that are gone have left is removed on the way.
    pub fn make(kind: &str, pid: u32, number: u64, memory: u64) -> Result<Self, Failed> {
        let Some((home, version)) = home() else {
            return Err(Step::MakeCgroup.failed(rustix::io::Errno::NOENT));
        };
        sweep(&home, kind);
        let folder = home.join(format!("{kind}-{pid}-{number}"));
        std::fs::create_dir(&folder).map_err(|error| Step::MakeCgroup.failed(errno(&error)))?;
        let cgroup = Self { folder, version };
        let bound = memory.to_string();
        match version {
            Version::One => {
                cgroup.write("memory.limit_in_bytes", &bound, Step::WriteCgroup)?;
                // Swap accounting may be off; then the bound on memory alone has to do.
                let _absent = cgroup.write("memory.memsw.limit_in_bytes", &bound, Step::WriteCgroup);
            }
            Version::Two => {
                cgroup.write("memory.max", &bound, Step::WriteCgroup)?;
                let _absent = cgroup.write("memory.swap.max", "0", Step::WriteCgroup);
            }
        }
        Ok(cgroup)
    }

    /// Moves a process into it, and with it all that it forks from now on.
    pub fn take_in(&self, pid: u32) -> Result<(), Failed> {
        self.write("cgroup.procs", &pid.to_string(), Step::JoinCgroup)
    }

    /// How many of its processes the kernel has killed for want of memory.
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel, of a few lines")]
    pub fn kills(&self) -> u64 {
        let file = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        let text = std::fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }

    /// What holds it, for a receipt.
    pub const fn mechanism(&self) -> &'static str {
        match self.version {
            Version::One => "cgroup v1",
            Version::Two => "cgroup v2",
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a file of the kernel, whose content is an argument of a call"
    )]
    fn write(&self, file: &str, text: &str, step: Step) -> Result<(), Failed> {
        std::fs::write(self.folder.join(file), text).map_err(|error| step.failed(errno(&error)))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It is busy while a process of it ends; whoever drops it waits for that first. What is left is empty.
        let _busy = std::fs::remove_dir(&self.folder);
    }
}
