//! The cgroups around one sandbox, of version 1 (a folder for each controller) or 2 (one folder). Files are written directly.
//!
//! A process joins by writing itself into an open file: moving another process takes a lock of the whole system, and is
//! ten times as slow. What could not be made is told by its controller; nothing is claimed for it.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::event::Timespec;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::namespaces::errno;
use crate::{Failed, Step};

mod around;
pub(crate) mod unified;

pub use around::Held;

/// What can be held by a cgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Controller {
    /// Memory, and the account of it.
    Memory,
    /// A share of the processors.
    Cpu,
    /// The account of CPU time.
    Account,
    /// The number of processes and threads.
    Pids,
    /// Standing still.
    Freezer,
}

/// How much a sandbox may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of memory, its files in memory included.
    pub memory: u64,
    /// Thousandths of a processor.
    pub cpu: u32,
    /// Processes and threads; none for no bound of its own.
    pub pids: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// Whether buffers of sockets have a limit, by what the files of version 1 say of that limit and of memory.
    fn counts_sockets(self, sockets: Option<u64>, memory: Option<u64>) -> bool {
        match self {
            Self::One => sockets.zip(memory).is_some_and(|(sockets, memory)| sockets <= memory),
            Self::Two => true,
        }
    }
}

/// A controller's folder for a sandbox.
#[derive(Debug)]
struct Folder {
    controllers: Vec<Controller>,
    path: PathBuf,
    version: Version,
}

/// The cgroups of one sandbox. Those that were made here are removed when this is dropped, if nobody lives in them any more.
#[derive(Debug)]
pub struct Group {
    folders: Vec<Folder>,
    missing: Vec<(Controller, String)>,
    maker: Maker,
}

/// Who made a cgroup, and has to remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    Us,
    SomebodyElse,
}

/// The length of a period in which a share of the processors is given, in microseconds.
const PERIOD: u64 = 100_000;

/// Version 1 counts the buffers of TCP and UDP sockets beside memory, and only where this file has a limit.
const SOCKETS: &str = "memory.kmem.tcp.limit_in_bytes";
/// The share of memory that the buffers of sockets may take in version 1, beside it.
const SHARE_OF_SOCKETS: u64 = 8;
/// The least limit on the buffers of sockets: below it, sockets fall back to the smallest windows.
const LEAST_OF_SOCKETS: u64 = 1 << 20;

/// The limit on the buffers of sockets for a limit on memory.
pub fn socket_buffers(memory: u64) -> u64 {
    (memory / SHARE_OF_SOCKETS).max(LEAST_OF_SOCKETS)
}

/// How many nanoseconds it is waited between two looks, and how often it is looked, until everybody in a cgroup stands still or is gone.
const LOOK: i64 = 2_000_000;
const MOST_LOOKS: u32 = 500;
/// After so many looks a cgroup that does not come to stand still is told to once more.
const TOLD_AGAIN: u32 = 50;

/// Where the cgroups of this process are.
#[derive(Debug, Clone)]
pub struct Home {
    places: Vec<(Vec<Controller>, PathBuf, Version)>,
    missing: Vec<(Controller, String)>,
}

const V1: [(Controller, &str); 5] = [
    (Controller::Memory, "memory"),
    (Controller::Cpu, "cpu"),
    (Controller::Account, "cpuacct"),
    (Controller::Pids, "pids"),
    (Controller::Freezer, "freezer"),
];

impl Home {
    /// Looks where cgroups can be made. With version 1 below this process's own, so that its bounds hold for sandboxes too; with
    /// version 2 where the kernel allows it (see `cgroups/unified.rs`).
    pub fn find() -> Self {
        let mut home = Self { places: Vec::new(), missing: Vec::new() };
        let unified = Path::new("/sys/fs/cgroup");
        if unified.join("cgroup.controllers").exists() {
            home.find_two(unified);
        } else {
            home.find_one(unified);
        }
        home
    }

    fn find_one(&mut self, mounted: &Path) {
        for (controller, name) in V1 {
            let top = mounted.join(name);
            if !top.join("cgroup.procs").exists() {
                self.missing.push((controller, format!("no {name} cgroup is mounted")));
                continue;
            }
            // Inside a container our own may not be visible.
            let own = own(name).map(|own| top.join(own)).filter(|own| own.exists());
            let path = own.unwrap_or(top).canonicalize().unwrap_or_default();
            if !is_writable(&path) {
                self.missing.push((controller, "cgroup v1 lets only root make groups".to_owned()));
                continue;
            }
            match self.places.iter_mut().find(|(_, known, _)| *known == path) {
                Some((controllers, ..)) => controllers.push(controller),
                None => self.places.push((vec![controller], path, Version::One)),
            }
        }
    }

    fn find_two(&mut self, mounted: &Path) {
        let Some(path) = unified::find(mounted, own("").as_deref()) else {
            let why = "this user may not make cgroups, or none above it hands on the memory controller";
            self.missing = V1.map(|(controller, _)| (controller, why.to_owned())).to_vec();
            return;
        };
        let on = unified::handed_on(&path);
        let mut wanted = vec![Controller::Account, Controller::Freezer];
        for (controller, name) in
            [(Controller::Memory, "memory"), (Controller::Cpu, "cpu"), (Controller::Pids, "pids")]
        {
            if on.iter().any(|one| one == name) {
                wanted.push(controller);
            } else {
                self.missing
                    .push((controller, format!("the {name} controller is not delegated to this cgroup")));
            }
        }
        self.places.push((wanted, path, Version::Two));
    }

    /// Whether groups of this controller can be made, or why not.
    pub fn holds(&self, controller: Controller) -> Result<&'static str, &str> {
        let version =
            self.places.iter().find(|(controllers, ..)| controllers.contains(&controller)).map(|(.., v)| *v);
        match version {
            Some(Version::One) => Ok("cgroup v1"),
            Some(Version::Two) => Ok("cgroup v2"),
            None => Err(self
                .missing
                .iter()
                .find(|(one, _)| *one == controller)
                .map_or("there are no cgroups", |(_, why)| why)),
        }
    }

    /// Makes the cgroups of a sandbox that these controllers are wanted for. Where one cannot be made, that is kept beside
    /// the others.
    pub fn make(&self, name: &str, bounds: Bounds, wanted: &[Controller]) -> Group {
        let mut group = Group { folders: Vec::new(), missing: self.missing.clone(), maker: Maker::Us };
        for (controllers, home, version) in &self.places {
            let controllers: Vec<Controller> =
                controllers.iter().copied().filter(|one| wanted.contains(one)).collect();
            if controllers.is_empty() {
                continue;
            }
            let path = home.join(name);
            let mut made = std::fs::create_dir(&path);
            if made.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
                && *version == Version::Two
                && unified::prepare(home)
            {
                made = std::fs::create_dir(&path);
            }
            if let Err(error) = made {
                let why = Step::MakeCgroup.failed(errno(&error)).to_string();
                group.missing.extend(controllers.into_iter().map(|one| (one, why.clone())));
                continue;
            }
            let mut folder = Folder { controllers: Vec::new(), path, version: *version };
            for controller in controllers {
                match folder.bound(controller, bounds) {
                    Ok(()) => folder.controllers.push(controller),
                    Err(failed) => group.missing.push((controller, failed.to_string())),
                }
            }
            group.folders.push(folder);
        }
        group
    }

    /// Ends and removes every cgroup whose name says that it is left over: `is_left` is asked for each name. Gives how many
    /// there were.
    pub fn sweep(&self, is_left: impl Fn(&str) -> bool) -> usize {
        let mut left = Vec::new();
        for (_, home, version) in &self.places {
            let Ok(entries) = std::fs::read_dir(home) else { continue };
            let names = entries.filter_map(Result::ok).filter(|entry| {
                let name = entry.file_name();
                name.to_str().is_some_and(&is_left)
            });
            left.extend(names.map(|entry| Folder {
                controllers: Vec::new(),
                path: entry.path(),
                version: *version,
            }));
        }
        // Whoever is frozen dies only when they are let go, which may be another folder's to do.
        for folder in &left {
            let _no_freezer = folder.freeze(false);
        }
        for folder in &left {
            folder.end();
        }
        left.len()
    }
}

/// The cgroup of this process for a controller; version 2 has one for all, by no name.
fn own(controller: &str) -> Option<PathBuf> {
    named(&read(Path::new("/proc/self/cgroup")).ok()?, controller)
}

/// The cgroup for a controller in a list of the kernel's.
fn named(text: &str, controller: &str) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|one| one == controller).then_some(path)
    })?;
    Some(PathBuf::from(path.trim_start_matches('/')))
}

/// Waits a moment for the kernel, which tells by no descriptor when it is done.
fn pause() {
    // An interruption only makes the moment shorter.
    let moment = Timespec { tv_sec: 0, tv_nsec: LOOK };
    let _woken = rustix::event::poll(&mut [], Some(&moment));
}

fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

#[expect(clippy::disallowed_methods, reason = "a file of the kernel, of a few lines")]
fn read(file: &Path) -> Result<String, std::io::Error> {
    std::fs::read_to_string(file)
}

#[expect(clippy::disallowed_methods, reason = "a file of the kernel, whose content is an argument of a call")]
fn write(file: &Path, text: &str) -> Result<(), std::io::Error> {
    std::fs::write(file, text)
}

impl Folder {
    fn bound(&self, controller: Controller, bounds: Bounds) -> Result<(), Failed> {
        let quota = u64::from(bounds.cpu).saturating_mul(PERIOD) / 1000;
        match (self.version, controller) {
            (_, Controller::Memory) => self.bound_memory(bounds.memory),
            (Version::One, Controller::Cpu) => {
                self.write("cpu.cfs_period_us", &PERIOD.to_string())?;
                self.write("cpu.cfs_quota_us", &quota.to_string())
            }
            (Version::Two, Controller::Cpu) => self.write("cpu.max", &format!("{quota} {PERIOD}")),
            (_, Controller::Pids) => match bounds.pids {
                Some(pids) => self.write("pids.max", &pids.to_string()),
                None => Ok(()),
            },
            (_, Controller::Account | Controller::Freezer) => Ok(()),
        }
    }

    /// Bounds memory and swap together. The kernel may not count swap: [`Group::swaps_without_bound`] says whether that matters.
    fn bound_memory(&self, bytes: u64) -> Result<(), Failed> {
        let most = bytes.to_string();
        match self.version {
            Version::One => {
                // Both together are never less than memory alone, so one that is raised is raised here first.
                let _lower_or_absent = self.write("memory.memsw.limit_in_bytes", &most);
                self.write("memory.limit_in_bytes", &most)?;
                let _absent = self.write("memory.memsw.limit_in_bytes", &most);
                // A kernel without this file is reported by `Group::counts_sockets`.
                let _absent = self.write(SOCKETS, &socket_buffers(bytes).to_string());
            }
            Version::Two => {
                self.write("memory.max", &most)?;
                let _absent = self.write("memory.swap.max", "0");
            }
        }
        Ok(())
    }

    fn write(&self, file: &str, text: &str) -> Result<(), Failed> {
        write(&self.path.join(file), text).map_err(|error| Step::WriteCgroup.failed(errno(&error)))
    }

    fn number(&self, file: &str) -> Option<u64> {
        read(&self.path.join(file)).ok()?.trim().parse().ok()
    }

    /// The number behind a word at the begin of a line.
    fn entry(&self, file: &str, word: &str) -> Option<u64> {
        let text = read(&self.path.join(file)).ok()?;
        let rest = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '))?;
        rest.trim().parse().ok()
    }

    fn freeze(&self, still: bool) -> Result<(), Failed> {
        let (file, word) = match (self.version, still) {
            (Version::One, true) => ("freezer.state", "FROZEN"),
            (Version::One, false) => ("freezer.state", "THAWED"),
            (Version::Two, true) => ("cgroup.freeze", "1"),
            (Version::Two, false) => ("cgroup.freeze", "0"),
        };
        write(&self.path.join(file), word).map_err(|error| Step::FreezeCgroup.failed(errno(&error)))?;
        if !still {
            return Ok(());
        }
        // Whoever is within a system call stops a moment later.
        for look in 0..MOST_LOOKS {
            // The first version can come to stand half-way, and then goes on only after it was told otherwise and again.
            if self.version == Version::One && look % TOLD_AGAIN == TOLD_AGAIN - 1 {
                for word in ["THAWED", word] {
                    write(&self.path.join(file), word)
                        .map_err(|error| Step::FreezeCgroup.failed(errno(&error)))?;
                }
            }
            let is_frozen = match self.version {
                Version::One => read(&self.path.join(file)).is_ok_and(|state| state.trim() == "FROZEN"),
                Version::Two => self.entry("cgroup.events", "frozen") == Some(1),
            };
            if is_frozen {
                return Ok(());
            }
            pause();
        }
        let _go_on = self.freeze(false);
        Err(Step::FreezeCgroup.failed(Errno::TIMEDOUT))
    }

    /// Kills whoever is in it, and removes it.
    fn end(&self) {
        for _ in 0..MOST_LOOKS {
            if std::fs::remove_dir(&self.path).is_ok() || !self.path.exists() {
                return;
            }
            // Whoever is frozen dies only when they are let go.
            let _not_frozen = self.freeze(false);
            self.kill();
            pause();
        }
    }

    /// Kills whoever is in it.
    fn kill(&self) {
        let members = read(&self.path.join("cgroup.procs")).unwrap_or_default();
        for pid in members.lines().filter_map(|line| line.trim().parse().ok()) {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

impl Group {
    /// Files in which a process writes `0` to join; the names of them, to be opened by whoever starts it.
    pub fn doors(&self) -> Vec<PathBuf> {
        let file = |version| match version {
            Version::One => "tasks",
            Version::Two => "cgroup.procs",
        };
        self.folders.iter().map(|folder| folder.path.join(file(folder.version))).collect()
    }

    /// Whether a controller holds, or why not.
    pub fn holds(&self, controller: Controller) -> Result<String, String> {
        match self.folder(controller) {
            Some(Folder { version, path, .. }) => {
                let version = match version {
                    Version::One => "v1",
                    Version::Two => "v2",
                };
                Ok(format!("cgroup {version} {}", path.display()))
            }
            None => Err(self
                .missing
                .iter()
                .find(|(one, _)| *one == controller)
                .map_or_else(|| "there is no such cgroup".to_owned(), |(_, why)| why.clone())),
        }
    }

    fn folder(&self, controller: Controller) -> Option<&Folder> {
        self.folders.iter().find(|folder| folder.controllers.contains(&controller))
    }

    /// Whether the buffers of TCP and UDP sockets have a limit: version 2 counts them as memory, version 1 only where
    /// `memory.kmem.tcp.limit_in_bytes` is set.
    pub fn counts_sockets(&self) -> bool {
        self.folder(Controller::Memory).is_some_and(|folder| {
            folder.version.counts_sockets(folder.number(SOCKETS), folder.number("memory.limit_in_bytes"))
        })
    }

    /// Sets the limit on the buffers of sockets in a cgroup of version 1 that another program made. Sockets that exist
    /// already are not counted, so it has to be set before a guest runs.
    pub fn bound_sockets(&self, memory: u64) -> Result<(), Failed> {
        match self.folder(Controller::Memory) {
            Some(folder) if folder.version == Version::One => {
                folder.write(SOCKETS, &socket_buffers(memory).to_string())
            }
            _ => Ok(()),
        }
    }

    /// How many of its processes the kernel has killed for want of memory.
    pub fn kills(&self) -> Option<u64> {
        let folder = self.folder(Controller::Memory)?;
        let file = match folder.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        folder.entry(file, "oom_kill")
    }

    /// The most memory that it held since it was made, or since [`Group::forget_peak`].
    pub fn memory_peak(&self) -> Option<u64> {
        let folder = self.folder(Controller::Memory)?;
        folder.number(match folder.version {
            Version::One => "memory.max_usage_in_bytes",
            Version::Two => "memory.peak",
        })
    }

    /// Begins to look for the most memory anew, where the kernel can.
    pub fn forget_peak(&self) {
        if let Some(folder) = self.folder(Controller::Memory).filter(|one| one.version == Version::One) {
            let _kept = folder.write("memory.max_usage_in_bytes", "0");
        }
    }

    /// CPU time that it used, in microseconds.
    pub fn cpu_us(&self) -> Option<u64> {
        let folder = self.folder(Controller::Account)?;
        match folder.version {
            Version::One => folder.number("cpuacct.usage").map(|nanoseconds| nanoseconds / 1000),
            Version::Two => folder.entry("cpu.stat", "usage_usec"),
        }
    }

    /// How many live in it.
    pub fn members(&self) -> Option<u64> {
        let folder = self.folders.first()?;
        read(&folder.path.join("cgroup.procs")).ok().map(|text| text.lines().count() as u64)
    }

    /// Makes everybody in it stand still, or go on.
    pub fn freeze(&self, still: bool) -> Result<(), Failed> {
        let folder = self.folder(Controller::Freezer).ok_or(Step::FreezeCgroup.failed(Errno::NOENT))?;
        folder.freeze(still)
    }

    /// Kills whoever is still in one of them: those who outlived a first process with which nobody had to end.
    pub fn kill(&self) {
        for folder in &self.folders {
            folder.kill();
        }
    }

    /// Removes the cgroups; whoever is still in one keeps it.
    pub fn remove(&mut self) -> Result<(), Failed> {
        let mut result = Ok(());
        self.folders.retain(|folder| match std::fs::remove_dir(&folder.path) {
            Ok(()) => false,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => {
                result = Err(Step::RemoveCgroup.failed(errno(&error)));
                true
            }
        });
        result
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.maker == Maker::Us {
            // It is busy while a process of it ends; whoever drops it waits for that first.
            let _busy = self.remove();
        }
    }
}

/// Opens a door of a cgroup, to be handed to the process that goes through it.
pub fn open_door(door: &Path) -> Result<OwnedFd, Failed> {
    rustix::fs::open(door, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| Step::JoinCgroup.failed(errno))
}

/// Goes through a door: this process, and all that it starts from now on, live in that cgroup.
pub fn go_through(door: &OwnedFd) -> Result<(), Failed> {
    rustix::io::write(door, b"0").map(|_| ()).map_err(|errno| Step::JoinCgroup.failed(errno))
}
