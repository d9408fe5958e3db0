//! Where things are: paths as people name them inside, and as the agent finds them. They differ only where a sandbox has no
//! root of its own. What every sandbox has, whatever stands around it, is here once: its own folders and its first variables.

use std::path::Path;

use bailiwick_sandbox::{SandboxPath, SandboxSpec};

/// Folders that a sandbox can write to, beside where its commands begin.
pub const OWN: [&str; 4] = ["/work", "/tmp", "/var/tmp", "/dev/shm"];

/// Folders that hold programs and what they need: a command may begin there, and nothing of the sandbox's own is.
pub const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// The variables of every command.
pub const VARIABLES: [(&str, &str); 4] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/work"),
    ("LANG", "C.UTF-8"),
    ("TMPDIR", "/tmp"),
];

/// The places of a sandbox.
#[derive(Debug, Clone)]
pub struct Places {
    /// The sandbox's own folders, as they are named inside.
    own: Vec<SandboxPath>,
    /// What is somewhere else than its name says: name, and where it is.
    moved: Vec<(SandboxPath, String)>,
}

impl Places {
    /// Of a sandbox with a root of its own.
    pub fn rooted(spec: &SandboxSpec) -> Self {
        Self { own: own_folders(spec), moved: Vec::new() }
    }

    /// Of a sandbox with a root of its own, in which these folders are its own, too. One that is within another is still one by itself:
    /// whoever builds the root would put something there that nobody bounds. Where the spec mounts something, that is there.
    pub fn rooted_with(spec: &SandboxSpec, more: impl IntoIterator<Item = SandboxPath>) -> Self {
        let mut places = Self::rooted(spec);
        for folder in more {
            let is_mounted = spec.mounts.iter().any(|mount| mount.to == folder);
            if !is_mounted && !places.own.contains(&folder) {
                places.own.push(folder);
            }
        }
        places
    }

    /// The sandbox's own folders, as they are named inside.
    pub fn own(&self) -> &[SandboxPath] {
        &self.own
    }

    /// Of a sandbox without one: its own folders are below `scratch`, mounts where they are on the host.
    pub fn moved(spec: &SandboxSpec, scratch: &Path) -> Self {
        let own = own_folders(spec);
        let mut moved: Vec<(SandboxPath, String)> = own
            .iter()
            .map(|folder| {
                let name = folder.as_str().trim_start_matches('/').replace('/', "-");
                (folder.clone(), scratch.join(name).display().to_string())
            })
            .collect();
        moved.extend(spec.mounts.iter().map(|mount| (mount.to.clone(), mount.from.display().to_string())));
        // The longest name counts: a mount may lie in a folder.
        moved.sort_by_key(|(name, _)| std::cmp::Reverse(name.as_str().len()));
        Self { own, moved }
    }

    /// Where the agent finds a path.
    pub fn found(&self, path: &SandboxPath) -> String {
        let Some((name, place)) = self.moved.iter().find(|(name, _)| path.is_within(name)) else {
            return path.as_str().to_owned();
        };
        let rest = path.as_str().strip_prefix(name.as_str()).unwrap_or_default();
        format!("{place}{rest}")
    }

    /// The sandbox's own folders, where the agent finds them.
    pub fn own_found(&self) -> Vec<String> {
        self.own.iter().map(|folder| self.found(folder)).collect()
    }

    /// The variables that every command has before anybody sets one.
    pub fn variables(&self) -> Vec<(String, String)> {
        let found = |value: &str| match SandboxPath::new(value) {
            Ok(path) if !value.contains(':') => self.found(&path),
            _ => value.to_owned(),
        };
        VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), found(value))).collect()
    }
}

/// Folders that the sandbox can write to: the usual ones, and where commands begin if nothing else is there.
fn own_folders(spec: &SandboxSpec) -> Vec<SandboxPath> {
    let mut own: Vec<SandboxPath> = OWN.iter().filter_map(|folder| SandboxPath::new(folder).ok()).collect();
    let is_somewhere = own.iter().chain(spec.mounts.iter().map(|mount| &mount.to));
    let system = SYSTEM.iter().filter_map(|folder| SandboxPath::new(folder).ok());
    let is_there = is_somewhere.cloned().chain(system).any(|place| spec.workdir.is_within(&place));
    if !is_there && spec.workdir.as_str() != "/" {
        own.push(spec.workdir.clone());
    }
    own
}
