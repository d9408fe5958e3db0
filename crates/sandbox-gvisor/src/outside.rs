//! What stands around the kernel of a sandbox, looked at from outside: files of `/proc` about its process.

use std::os::fd::OwnedFd;
use std::path::Path;

use bailiwick_agent_host::folders;
use bailiwick_sys::privileges;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::runsc::PID_FILE;

/// What was seen of the process that is the sandbox's kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one observation; none follows from another")]
pub(crate) struct Outside {
    /// Its number.
    pub(crate) pid: u32,
    /// Who it is on the host.
    pub(crate) user: u32,
    /// It has no capability, and none to gain.
    pub(crate) no_capabilities: bool,
    /// Nothing that it executes gains privileges.
    pub(crate) no_new_privileges: bool,
    /// Its own filter of system calls is in force.
    pub(crate) filtered: bool,
    /// Namespaces of its own, by their names.
    pub(crate) own: Vec<&'static str>,
    /// It is in the cgroups that were made for it.
    pub(crate) joined: bool,
    /// Its root holds nothing of the host's.
    pub(crate) empty_root: bool,
}

/// Namespaces that it is looked at for.
const NAMESPACES: [&str; 5] = ["user", "mnt", "net", "ipc", "uts"];
/// What the root of a sandbox's kernel has in it.
const ITS_ROOT: [&str; 2] = ["etc", "proc"];

/// The number that `runsc` told of the kernel that it started.
fn told(bundle: &Path) -> Result<u32, String> {
    read(&bundle.join(PID_FILE))?.trim().parse().map_err(|_| "runsc told no number of the sandbox".to_owned())
}

fn read(path: &Path) -> Result<String, String> {
    folders::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// What a file about a process says of something.
fn words<'a>(status: &'a str, key: &str) -> Vec<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.map(|rest| rest.split_whitespace().collect()).unwrap_or_default()
}

/// How many programs may be between the one that was started and the kernel: an ordinary user's starts itself again.
const BETWEEN: usize = 3;

/// A handle on the kernel of a sandbox: a descendant of this program, and nobody who has its number after it.
pub(crate) fn kernel(bundle: &Path, program: u32) -> Result<OwnedFd, String> {
    let number = told(bundle)?;
    let pid =
        i32::try_from(number).ok().and_then(Pid::from_raw).ok_or("runsc told no number of a process")?;
    let handle =
        pidfd_open(pid, PidfdFlags::empty()).map_err(|errno| format!("process {number}: {errno}"))?;
    let mut above = number;
    for _ in 0..BETWEEN {
        let status = read(&Path::new("/proc").join(above.to_string()).join("status"))?;
        above = words(&status, "PPid").first().and_then(|word| word.parse().ok()).unwrap_or(0);
        if above == program {
            return Ok(handle);
        }
    }
    Err(format!("process {number} is not the kernel that runsc started"))
}

/// Looks at the kernel of a sandbox.
pub(crate) fn look(bundle: &Path, name: &str) -> Result<Outside, String> {
    let pid = told(bundle)?;
    let place = Path::new("/proc").join(pid.to_string());
    let status = read(&place.join("status"))?;
    let words = |key: &str| words(&status, key);
    let is_zero = |key: &str| words(key).first().is_some_and(|word| word.bytes().all(|byte| byte == b'0'));
    let own = |kind: &&str| {
        let link = |of: &Path| std::fs::read_link(of.join("ns").join(kind)).ok();
        let (theirs, ours) = (link(&place), link(Path::new("/proc/self")));
        theirs.is_some() && theirs != ours
    };
    let user = words("Uid").first().and_then(|word| word.parse().ok()).unwrap_or(0);
    let entries = std::fs::read_dir(place.join("root")).map(|entries| {
        entries.filter_map(Result::ok).all(|entry| ITS_ROOT.iter().any(|known| entry.file_name() == *known))
    });
    Ok(Outside {
        pid,
        user,
        no_capabilities: ["CapPrm", "CapEff", "CapBnd"].into_iter().all(is_zero),
        no_new_privileges: words("NoNewPrivs") == ["1"],
        filtered: words("Seccomp") == ["2"],
        own: NAMESPACES.iter().copied().filter(own).collect(),
        joined: read(&place.join("cgroup"))?.lines().any(|line| line.ends_with(&format!("/{name}"))),
        empty_root: entries.unwrap_or(false),
    })
}

impl Outside {
    /// Whether it is somebody else than whoever started it.
    pub(crate) fn is_nobody(&self) -> bool {
        self.user != 0 && self.user != privileges::identity().0
    }

    /// Whether it has a namespace of this kind of its own.
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.own.contains(&kind)
    }
}
