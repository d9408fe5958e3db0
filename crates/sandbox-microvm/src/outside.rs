//! What stands around a monitor, looked at from outside: files of `/proc` about its process and its threads.

use std::path::Path;

use bailiwick_agent_host::folders;
use bailiwick_sys::privileges;

use crate::confinement;

/// What was seen of a monitor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one observation; none follows from another")]
pub(crate) struct Outside {
    /// Who it is on the host.
    pub(crate) user: u32,
    /// None of its threads has a capability.
    pub(crate) no_capabilities: bool,
    /// Nothing that one of its threads executes gains privileges.
    pub(crate) no_new_privileges: bool,
    /// Its own filter of system calls is in force, for each of its threads.
    pub(crate) filtered: bool,
    /// Namespaces of its own, by their names.
    pub(crate) own: Vec<&'static str>,
    /// It is in the cgroups that were made for it.
    pub(crate) joined: bool,
    /// It sees no file of anybody's: folders at the top that it does not need are empty.
    pub(crate) sees_nothing: bool,
}

/// Namespaces that it is looked at for.
const NAMESPACES: [&str; 5] = ["user", "mnt", "net", "ipc", "uts"];

/// What the kernel says of a process or a thread: words behind a key.
struct Status(String);

impl Status {
    fn words(&self, key: &str) -> Vec<&str> {
        let line = self.0.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(|rest| rest.split_whitespace().collect()).unwrap_or_default()
    }

    fn is_zero(&self, key: &str) -> bool {
        self.words(key).first().is_some_and(|word| word.bytes().all(|byte| byte == b'0'))
    }
}

/// Looks at a monitor, by its number.
pub(crate) fn look(pid: u32, name: &str) -> Result<Outside, String> {
    let read = |path: &Path| folders::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let place = Path::new("/proc").join(pid.to_string());
    let status = Status(read(&place.join("status"))?);
    let mut threads = Vec::new();
    let listed = std::fs::read_dir(place.join("task")).map_err(|error| error.to_string())?;
    for thread in listed.filter_map(Result::ok) {
        // One that has ended meanwhile is none.
        threads.extend(folders::read(&thread.path().join("status")).ok().map(Status));
    }
    let each = |holds: &dyn Fn(&Status) -> bool| !threads.is_empty() && threads.iter().all(holds);
    let own = |kind: &&str| {
        let link = |of: &Path| std::fs::read_link(of.join("ns").join(kind)).ok();
        let (theirs, ours) = (link(&place), link(Path::new("/proc/self")));
        theirs.is_some() && theirs != ours
    };
    let user = status.words("Uid").first().and_then(|word| word.parse().ok()).unwrap_or(0);
    let unneeded = confinement::unneeded().map_err(|error| error.to_string())?;
    let is_empty = |folder: &std::path::PathBuf| {
        let seen = place.join("root").join(folder.strip_prefix("/").unwrap_or(folder));
        std::fs::read_dir(seen).is_ok_and(|mut entries| entries.next().is_none())
    };
    Ok(Outside {
        user,
        no_capabilities: each(&|one| {
            ["CapPrm", "CapEff", "CapInh", "CapAmb"].into_iter().all(|key| one.is_zero(key))
        }),
        no_new_privileges: each(&|one| one.words("NoNewPrivs") == ["1"]),
        filtered: each(&|one| one.words("Seccomp") == ["2"]),
        own: NAMESPACES.iter().copied().filter(own).collect(),
        joined: read(&place.join("cgroup"))?.lines().any(|line| line.ends_with(&format!("/{name}"))),
        sees_nothing: unneeded.iter().all(is_empty),
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
