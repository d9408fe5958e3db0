//! Where everything of a sandbox is: its root on the host, what is mounted into it, and what its agent lays over what.
//!
//! All folders of the sandbox's own are parts of one file system in its memory, whose size is the limit on disk: the agent lays
//! them over their places before anything of a guest runs. Nothing else can be written to but writable mounts.

use std::path::{Path, PathBuf};

use bailiwick_agent_host::mounts::{self, is_within};
use bailiwick_agent_host::staged::{Below, Staged};
use bailiwick_agent_host::{Places, root};
use bailiwick_sandbox::{Outlet, SandboxError, SandboxSpec, Unpacked};
use bailiwick_sys::held::HeldFile;
use bailiwick_wire::seat::{Laid, Seat};

use crate::bundle::{AGENT, Mounted};
use crate::failed;
use crate::skeleton::Skeleton;

/// Who everybody is inside: nobody on the host.
const NOBODY: u32 = 64_924;
/// Where the file system is that the sandbox's own folders are parts of, until they are laid over their places.
const OWN: &str = "/.own";
/// Where mounts are that belong into such a folder, until they are laid over it.
const ASIDE: &str = "/.aside";

/// What a sandbox is made of, beside its spec.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'a> {
    pub(crate) spec: &'a SandboxSpec,
    pub(crate) image: Option<&'a dyn Unpacked>,
    pub(crate) outlet: Option<&'a dyn Outlet>,
    pub(crate) agent: &'a Path,
    pub(crate) as_root: bool,
}

/// A sandbox, laid out.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) mounted: Vec<Mounted>,
    pub(crate) seat: Seat,
    /// The names by which `runsc` finds the mounts, until the sandbox stands.
    staged: Staged,
    /// What each has to be.
    sources: Vec<HeldFile>,
}

/// Lays a sandbox out in this folder, which is its root's.
pub(crate) fn lay(of: Of<'_>, places: &Places, folder: PathBuf) -> Result<Layout, SandboxError> {
    let Of { spec, image, outlet, agent, as_root } = of;
    let owner = mounts::owner(&spec.mounts)?;
    let staged = Staged::new(&spec.mounts, Below::Included)?;
    // An ordinary user is the only one whom there is in the sandbox's user namespace, and is called root in it.
    let user = if as_root { owner.unwrap_or((NOBODY, NOBODY)) } else { (0, 0) };
    let own = mounts::own_folders(spec, places, image);
    let within_own = |to: &str| own.iter().any(|folder| is_within(to, folder) && to != folder);
    let files = root::files(outlet);
    let mut skeleton = Skeleton::new(folder).map_err(|error| failed("make the root of a sandbox", &error))?;
    let targets: Vec<&str> = spec.mounts.iter().map(|mount| mount.to.as_str()).collect();
    let taken: Vec<&str> = targets
        .iter()
        .copied()
        .filter(|to| !within_own(to))
        .chain(files.iter().map(|(at, _)| at.as_str()))
        .collect();
    let filled = match image {
        Some(image) => skeleton.image(&image.root(), &taken),
        None => skeleton.host(user.0),
    };
    let filled = filled.and_then(|()| files.iter().try_for_each(|(at, text)| skeleton.file(at, text)));
    filled
        .and_then(|()| skeleton.bind(agent, AGENT, false))
        .map_err(|error| failed("make a place in the new root", &error))?;
    let (mut laid, mut away) = (Vec::new(), vec![OWN.to_owned()]);
    laid.extend(own.iter().enumerate().map(|(number, folder)| Laid {
        from: format!("{OWN}/{number}"),
        to: folder.clone(),
        own: true,
    }));
    mounts::have_their_places(&spec.mounts)?;
    for (number, (mount, name)) in spec.mounts.iter().zip(staged.names()).enumerate() {
        let to = &mount.to;
        let at = if within_own(to.as_str()) {
            let aside = format!("{ASIDE}/{number}");
            laid.push(Laid { from: aside.clone(), to: to.as_str().to_owned(), own: false });
            away.push(aside.clone());
            aside
        } else {
            to.as_str().to_owned()
        };
        let bound = skeleton.bind(name, &at, mount.writable);
        bound.map_err(|error| mounts::refusal(&mount.from, &error.to_string()))?;
    }
    let mut mounted = skeleton.mounted;
    mounted.push(Mounted::Memory { to: OWN.to_owned(), bytes: spec.limits.scratch() });
    // Places that the agent's folders are laid over; nobody ever sees what is in them.
    mounted.extend(own.iter().map(|folder| Mounted::Memory { to: folder.clone(), bytes: 0 }));
    let most = spec.limits.processes.value;
    let seat = Seat {
        user: Some(user),
        folders: own,
        resets: false,
        processes: (most > 0).then_some(most),
        filter: true,
        // Its sockets are its own kernel's memory.
        supervises: false,
        laid,
        away,
    };
    let sources = spec.mounts.iter().map(|mount| mount.source().clone()).collect();
    Ok(Layout { mounted, seat, staged, sources })
}

impl Layout {
    /// Whether the names still stand for what was checked: `runsc` found it by them.
    pub(crate) fn is_unchanged(&self) -> Result<(), SandboxError> {
        self.staged.names().iter().zip(&self.sources).try_for_each(|(name, source)| {
            let is_same = HeldFile::open(name).is_ok_and(|found| found == *source);
            let changed = || mounts::refusal(name, "it is not what was checked a moment ago");
            if is_same { Ok(()) } else { Err(changed()) }
        })
    }
}
