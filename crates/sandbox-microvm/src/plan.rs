//! What is in the root of a sandbox, and which files of the host it is served for that.
//!
//! All folders of the sandbox's own, and all that it changes of an image, are on one file system in the machine's memory, whose size is
//! the limit on disk. Nothing else can be written to but writable mounts.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_agent_host::Places;
use bailiwick_agent_host::root::{self, WHEREABOUTS};
use bailiwick_sandbox::{Mount, Outlet, SandboxError, SandboxSpec, Unpacked};
use bailiwick_wire::jail::{Bind, Place};
use bailiwick_wire::machine::{Machine, Piece};
use bailiwick_wire::seat::Seat;

use crate::failed;
use crate::monitor::Size;
use crate::served::{Owner, Share, Shares};

/// Who everybody is inside, unless there is something to be written to on the host.
const NOBODY: u32 = 64_924;
/// Memory of a machine beside what commands and files have: its kernel, and what that keeps of files it has read.
const KERNELS: u64 = 160 << 20;
/// How many bytes of disk there are for each file.
const EACH: u64 = 4096;
/// The least files that there can be.
const LEAST_FILES: u64 = 4096;
/// The most processors of a machine.
pub(crate) const MOST_PROCESSORS: u32 = 32;

/// What a sandbox is made of, beside its spec.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'a> {
    pub(crate) spec: &'a SandboxSpec,
    pub(crate) image: Option<&'a dyn Unpacked>,
    pub(crate) outlet: Option<&'a dyn Outlet>,
    pub(crate) as_root: bool,
}

/// A sandbox, planned.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) machine: Machine,
    pub(crate) seat: Seat,
    pub(crate) shares: Arc<Shares>,
    pub(crate) size: Size,
}

/// Pieces of a root, and what is served for them.
#[derive(Debug, Default)]
struct Pieces {
    list: Vec<Piece>,
    shares: Vec<Share>,
}

impl Pieces {
    fn link(&mut self, at: &str, to: &Path) {
        self.list.push(Piece::Link { at: at.to_owned(), to: to.to_string_lossy().into_owned() });
    }

    fn file(&mut self, at: &str, text: &str) {
        self.list.push(Piece::File { at: at.to_owned(), text: text.to_owned() });
    }

    /// Something that is served.
    fn serve(&mut self, from: &Path, at: &str, writable: bool, steady: bool) -> std::io::Result<()> {
        let name = self.hold(from, writable, Owner::AsItIs, steady)?;
        self.list.push(Piece::Served { at: at.to_owned(), name, writable });
        Ok(())
    }

    fn hold(&mut self, from: &Path, writable: bool, owner: Owner, steady: bool) -> std::io::Result<String> {
        let name = format!("s{}", self.shares.len());
        self.shares.push(Share::hold(name.clone(), from, writable, owner, steady)?);
        Ok(name)
    }

    /// The host's own programs.
    fn host(&mut self, user: u32) -> std::io::Result<()> {
        for place in root::of_the_host(user) {
            match place {
                Place::Link { at, to } => self.link(&at, Path::new(&to)),
                Place::File { at, text } => self.file(&at, &text),
                Place::Bind(Bind { from, to, .. }) => self.serve(Path::new(&from), &to, false, true)?,
                // Devices are the machine's own.
                _ => {}
            }
        }
        Ok(())
    }
}

/// Plans a sandbox.
pub(crate) fn plan(of: Of<'_>, places: &Places) -> Result<Plan, SandboxError> {
    let Of { spec, image, outlet, as_root } = of;
    let outside = whom(&spec.mounts)?;
    // Nobody is root inside, not even for a folder of root's: it would be its machine's root.
    let user = if outside.0 == 0 { (NOBODY, NOBODY) } else { outside };
    let mut pieces = Pieces::default();
    let step = "plan the root of a sandbox";
    let root = match image {
        None => pieces.host(user.0).map(|()| None),
        Some(image) => pieces.hold(&image.root(), false, Owner::Sandbox, true).map(Some),
    };
    let root = root.map_err(|error| failed(step, &error))?;
    for (at, text) in files(outlet) {
        pieces.file(&at, &text);
    }
    let own = own_folders(spec, places, image);
    pieces.list.extend(own.iter().map(|at| Piece::Own { at: at.clone() }));
    for mount in &spec.mounts {
        has_its_place(mount, &spec.mounts)?;
        let Mount { from, to, writable } = mount;
        let refused = |why: String| SandboxError::Mount { path: from.display().to_string(), why };
        pieces.serve(from, to.as_str(), *writable, false).map_err(|error| refused(error.to_string()))?;
        let held = pieces
            .shares
            .last()
            .map(Share::identity)
            .transpose()
            .map_err(|error| refused(error.to_string()))?;
        let found = std::fs::symlink_metadata(from).map_err(|error| refused(error.to_string()))?;
        // What is held is what was looked at.
        if held.is_none_or(|(_, _, number)| number != found.ino()) {
            return Err(refused("it is not what was checked a moment ago".to_owned()));
        }
    }
    let limits = &spec.limits;
    let (disk, most) = (limits.disk.value, limits.processes.value);
    let memory = limits.memory.value.saturating_add(disk);
    let machine = Machine {
        user,
        room: disk,
        files: (disk / EACH).max(LEAST_FILES),
        memory,
        // One more than commands may have: the agent.
        processes: (most > 0).then(|| most.saturating_add(1)),
        image: root,
        pieces: pieces.list,
    };
    let seat = Seat {
        user: Some(user),
        folders: own,
        resets: false,
        processes: (most > 0).then_some(most),
        filter: true,
        laid: Vec::new(),
        away: Vec::new(),
    };
    let size = Size {
        memory: memory.saturating_add(KERNELS).div_ceil(1 << 20),
        processors: limits.cpu.value.div_ceil(1000).clamp(1, MOST_PROCESSORS),
    };
    let shares = Arc::new(Shares { list: pieces.shares, user: outside, inside: user, as_root });
    Ok(Plan { machine, seat, shares, size })
}

/// Files that say where one is, and those of the way out, which replace them.
fn files(outlet: Option<&dyn Outlet>) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> =
        WHEREABOUTS.iter().map(|(at, text)| ((*at).to_owned(), (*text).to_owned())).collect();
    for (at, text) in outlet.map(Outlet::files).unwrap_or_default() {
        files.retain(|(known, _)| known != at.as_str());
        files.push((at.as_str().to_owned(), text));
    }
    files
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Refuses a mount within another for which there is no place: one would have to be made, on the host.
fn has_its_place(mount: &Mount, mounts: &[Mount]) -> Result<(), SandboxError> {
    let around = mounts.iter().filter(|one| one.to != mount.to && mount.to.is_within(&one.to));
    let Some(around) = around.max_by_key(|one| one.to.as_str().len()) else { return Ok(()) };
    let rest = mount.to.as_str().strip_prefix(around.to.as_str()).unwrap_or_default();
    let place = around.from.join(rest.trim_start_matches('/'));
    if place.canonicalize().ok().as_ref() == Some(&place) && place.is_dir() == mount.from.is_dir() {
        return Ok(());
    }
    let why = format!("there is no place for it in `{}`, which is mounted around it", around.from.display());
    Err(SandboxError::Mount { path: mount.from.display().to_string(), why })
}

/// The sandbox's own folders: the usual ones, without what a mount takes the place of, or an image has.
fn own_folders(spec: &SandboxSpec, places: &Places, image: Option<&dyn Unpacked>) -> Vec<String> {
    let is_mounted = |folder: &str| spec.mounts.iter().any(|mount| is_within(folder, mount.to.as_str()));
    let is_usual = |folder: &str| bailiwick_agent_host::places::OWN.contains(&folder);
    let is_of_image = |folder: &str| {
        image.is_some_and(|image| image.root().join(folder.trim_start_matches('/')).is_dir())
            && !is_usual(folder)
    };
    places.own_found().into_iter().filter(|folder| !is_mounted(folder) && !is_of_image(folder)).collect()
}

/// Looks at mounts as they are now, and says who the sandbox has to be: whoever owns what it may write to.
fn whom(mounts: &[Mount]) -> Result<(u32, u32), SandboxError> {
    let mut owner = None;
    for Mount { from, writable, .. } in mounts {
        let refused =
            |why: &str| SandboxError::Mount { path: from.display().to_string(), why: why.to_owned() };
        let found = std::fs::symlink_metadata(from).map_err(|error| refused(&error.to_string()))?;
        let is_straight: Option<PathBuf> = from.canonicalize().ok();
        if found.is_symlink() || is_straight.as_ref() != Some(from) {
            return Err(refused("there is a symbolic link on the way"));
        }
        if !found.is_dir() && !found.is_file() {
            return Err(refused("it is neither a file nor a folder"));
        }
        let owns = (found.uid(), found.gid());
        if *writable && *owner.get_or_insert(owns) != owns {
            return Err(refused("it has another owner than another writable mount of the same sandbox"));
        }
    }
    Ok(owner.unwrap_or((NOBODY, NOBODY)))
}
