//! What stands around the kernel of a sandbox, looked at from outside: files of `/proc` about its process.

use std::path::Path;

use bailiwick_sys::privileges;

use crate::folders;
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

/// Looks at the kernel of a sandbox.
pub(crate) fn look(bundle: &Path, name: &str) -> Result<Outside, String> {
    let read = |path: &Path| folders::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let told = read(&bundle.join(PID_FILE))?;
    let pid: u32 = told.trim().parse().map_err(|_| "runsc told no number of the sandbox".to_owned())?;
    let place = Path::new("/proc").join(pid.to_string());
    let status = read(&place.join("status"))?;
    let words = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(|rest| rest.split_whitespace().collect::<Vec<_>>()).unwrap_or_default()
    };
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
