//! What is in the root of a sandbox, and which files of the host it is served for that.
//!
//! All folders of the sandbox's own, and all that it changes of an image, are on one file system in the machine's memory, whose size is
//! the limit on disk. Nothing else can be written to but writable mounts.

use std::path::Path;
use std::sync::Arc;

use bailiwick_agent_host::{Places, mounts, root};
use bailiwick_sandbox::{Outlet, SandboxError, SandboxSpec, Unpacked};
use bailiwick_sys::Errno;
use bailiwick_sys::held::HeldFile;
use bailiwick_wire::jail::{Bind, Place};
use bailiwick_wire::machine::{Machine, Piece};
use bailiwick_wire::seat::Seat;

use crate::failed;
use crate::monitor::Size;
use crate::served::{Owner, Share, Shares};

/// Who everybody is inside, unless there is something to be written to on the host.
const NOBODY: u32 = 64_924;
/// Memory of a machine beside what commands and files have: its kernel, and what that keeps of files it has read.
pub(crate) const KERNELS: u64 = 160 << 20;
/// Memory that the cgroup in the machine has beside the limit, for the agent and what the kernel keeps for it. Commands can take what
/// the agent leaves of it, so it is small.
pub(crate) const OVERHEAD: u64 = 4 << 20;
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

    /// Something of the system's that is served.
    fn serve(&mut self, from: &Path, at: &str) -> std::io::Result<()> {
        let name = self.hold(from, false, Owner::AsItIs, true)?;
        self.list.push(Piece::Served { at: at.to_owned(), name, writable: false });
        Ok(())
    }

    /// A mount, by its descriptor.
    fn serve_held(&mut self, source: &HeldFile, at: &str, writable: bool) -> Result<(), Errno> {
        let name = format!("s{}", self.shares.len());
        self.shares.push(Share::of(name.clone(), source, writable)?);
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
                Place::Bind(Bind { from, to, .. }) => self.serve(Path::new(&from), &to)?,
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
    let owner = mounts::owner(&spec.mounts)?;
    let outside = owner.unwrap_or((NOBODY, NOBODY));
    // Nobody is root inside, not even for a folder of root's: it would be its machine's root.
    let user = if outside.0 == 0 { (NOBODY, NOBODY) } else { outside };
    let mut pieces = Pieces::default();
    let step = "plan the root of a sandbox";
    let base = match image {
        None => pieces.host(user.0).map(|()| None),
        Some(image) => pieces.hold(&image.root(), false, Owner::Sandbox, true).map(Some),
    };
    let base = base.map_err(|error| failed(step, &error))?;
    for (at, text) in root::files(outlet) {
        pieces.file(&at, &text);
    }
    let own = mounts::own_folders(spec, places, image);
    pieces.list.extend(own.iter().map(|at| Piece::Own { at: at.clone() }));
    mounts::have_their_places(&spec.mounts)?;
    for mount in &spec.mounts {
        let served = pieces.serve_held(mount.source(), mount.to.as_str(), mount.writable);
        served.map_err(|errno| mounts::refusal(&mount.from, &errno.to_string()))?;
    }
    let limits = &spec.limits;
    let (disk, most) = (limits.scratch(), limits.processes.value);
    // The sandbox's own files are in memory, and count within it.
    let memory = limits.memory.value.saturating_add(OVERHEAD);
    let machine = Machine {
        user,
        room: disk,
        files: (disk / EACH).max(LEAST_FILES),
        memory,
        // One more than commands may have: the agent.
        processes: (most > 0).then(|| most.saturating_add(1)),
        image: base,
        pieces: pieces.list,
    };
    let seat = Seat {
        user: Some(user),
        folders: own,
        resets: false,
        processes: (most > 0).then_some(most),
        filter: true,
        // Its sockets are its own kernel's memory.
        supervises: false,
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
