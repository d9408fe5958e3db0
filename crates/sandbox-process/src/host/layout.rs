//! Where things are: paths as people name them inside, and as the agent finds them. They differ only where a sandbox has no
//! root of its own.

use std::path::{Path, PathBuf};

use bailiwick_sandbox::{Mount, SandboxPath, SandboxSpec};
use bailiwick_wire::jail::{Bind, Lower, Place};

use crate::plan;

/// The places of a sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The sandbox's own folders, as they are named inside.
    pub(crate) own: Vec<SandboxPath>,
    /// What is somewhere else than its name says: name, and where it is.
    moved: Vec<(SandboxPath, String)>,
}

impl Layout {
    /// Of a sandbox with a root of its own.
    pub(crate) fn rooted(spec: &SandboxSpec) -> Self {
        Self { own: own_folders(spec), moved: Vec::new() }
    }

    /// Of a sandbox without one: its own folders are below `scratch`, mounts where they are on the host.
    pub(crate) fn moved(spec: &SandboxSpec, scratch: &Path) -> Self {
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
    pub(crate) fn found(&self, path: &SandboxPath) -> String {
        let Some((name, place)) = self.moved.iter().find(|(name, _)| path.is_within(name)) else {
            return path.as_str().to_owned();
        };
        let rest = path.as_str().strip_prefix(name.as_str()).unwrap_or_default();
        format!("{place}{rest}")
    }

    /// The sandbox's own folders, where the agent finds them.
    pub(crate) fn own_found(&self) -> Vec<String> {
        self.own.iter().map(|folder| self.found(folder)).collect()
    }

    /// The variables that every command has before anybody sets one.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let found = |value: &str| match SandboxPath::new(value) {
            Ok(path) if !value.contains(':') => self.found(&path),
            _ => value.to_owned(),
        };
        plan::VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), found(value))).collect()
    }
}

/// Folders that the sandbox can write to: the usual ones, and where commands begin if nothing else is there.
fn own_folders(spec: &SandboxSpec) -> Vec<SandboxPath> {
    let mut own: Vec<SandboxPath> =
        plan::OWN.iter().filter_map(|folder| SandboxPath::new(folder).ok()).collect();
    let is_somewhere = own.iter().chain(spec.mounts.iter().map(|mount| &mount.to));
    let system = plan::SYSTEM.iter().filter_map(|folder| SandboxPath::new(folder).ok());
    let is_there = is_somewhere.cloned().chain(system).any(|place| spec.workdir.is_within(&place));
    if !is_there && spec.workdir.as_str() != "/" {
        own.push(spec.workdir.clone());
    }
    own
}

/// A folder that others are written over: what it is is looked at now, and again when it is covered.
pub(crate) fn lower(from: &Path, to: &str, as_root: bool) -> Result<Lower, (PathBuf, String)> {
    use std::os::unix::fs::MetadataExt as _;
    let refused = |why: String| (from.to_owned(), why);
    let found = std::fs::symlink_metadata(from).map_err(|error| refused(error.to_string()))?;
    if found.is_symlink() || from.canonicalize().ok().as_deref() != Some(from) {
        return Err(refused("there is a symbolic link on the way".to_owned()));
    }
    if !found.is_dir() {
        return Err(refused("it is not a folder".to_owned()));
    }
    let text = from.to_str().ok_or_else(|| refused("its name is not UTF-8".to_owned()))?;
    Ok(Lower {
        from: text.to_owned(),
        to: to.to_owned(),
        checked: (found.dev(), found.ino()),
        // As an ordinary user the sandbox is the user; as root it is nobody, and has to look like the owner to change anything.
        owner: as_root.then(|| (found.uid(), found.gid())),
    })
}

/// Mounts as places of a plan: what they are is looked at now, and again when they are mounted.
pub(crate) fn mounts(mounts: &[Mount], as_root: bool) -> Result<Vec<Place>, (PathBuf, String)> {
    use std::os::unix::fs::MetadataExt as _;
    let mut places = Vec::new();
    for Mount { from, to, writable } in mounts {
        let refused = |why: &str| (from.clone(), why.to_owned());
        let found = std::fs::symlink_metadata(from).map_err(|error| (from.clone(), error.to_string()))?;
        if found.is_symlink() || from.canonicalize().ok().as_ref() != Some(from) {
            return Err(refused("there is a symbolic link on the way"));
        }
        if !found.is_dir() && !found.is_file() {
            return Err(refused("it is neither a file nor a folder"));
        }
        let text = from.to_str().ok_or_else(|| refused("its name is not UTF-8"))?;
        places.push(Place::Bind(Bind {
            from: text.to_owned(),
            to: to.as_str().to_owned(),
            writable: *writable,
            is_folder: found.is_dir(),
            checked: Some((found.dev(), found.ino())),
            // As an ordinary user the sandbox is the user; as root it is nobody, and what it makes is to be the owner's.
            owner: (*writable && as_root).then(|| (found.uid(), found.gid())),
        }));
    }
    Ok(places)
}
