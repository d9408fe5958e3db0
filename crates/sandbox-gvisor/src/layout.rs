//! Where everything of a sandbox is: its root on the host, what is mounted into it, and what its agent lays over what.
//!
//! All folders of the sandbox's own are parts of one file system in its memory, whose size is the limit on disk: the agent lays
//! them over their places before anything of a guest runs. Nothing else can be written to but writable mounts.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bailiwick_agent_host::Places;
use bailiwick_agent_host::root::WHEREABOUTS;
use bailiwick_sandbox::{Mount, Outlet, SandboxError, SandboxSpec, Unpacked};
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
    /// What the mounts were when they were looked at: path, device and number.
    checked: Vec<(PathBuf, u64, u64)>,
}

/// Lays a sandbox out in this folder, which is its root's.
pub(crate) fn lay(of: Of<'_>, places: &Places, root: PathBuf) -> Result<Layout, SandboxError> {
    let Of { spec, image, outlet, agent, as_root } = of;
    let (mounts, user) = look_at(&spec.mounts, as_root)?;
    let own = own_folders(spec, places, image);
    let within_own = |to: &str| own.iter().any(|folder| is_within(to, folder) && to != folder);
    let mut files: Vec<(String, String)> =
        WHEREABOUTS.iter().map(|(at, text)| ((*at).to_owned(), (*text).to_owned())).collect();
    for (at, text) in outlet.map(Outlet::files).unwrap_or_default() {
        files.retain(|(known, _)| known != at.as_str());
        files.push((at.as_str().to_owned(), text));
    }
    let mut skeleton = Skeleton::new(root).map_err(|error| failed("make the root of a sandbox", &error))?;
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
    spec.mounts.iter().try_for_each(|mount| has_its_place(mount, &spec.mounts))?;
    for (number, Mount { from, to, writable }) in spec.mounts.iter().enumerate() {
        let at = if within_own(to.as_str()) {
            let aside = format!("{ASIDE}/{number}");
            laid.push(Laid { from: aside.clone(), to: to.as_str().to_owned(), own: false });
            away.push(aside.clone());
            aside
        } else {
            to.as_str().to_owned()
        };
        let refused = |error: std::io::Error| SandboxError::Mount {
            path: from.display().to_string(),
            why: error.to_string(),
        };
        skeleton.bind(from, &at, *writable).map_err(refused)?;
    }
    let mut mounted = skeleton.mounted;
    mounted.push(Mounted::Memory { to: OWN.to_owned(), bytes: spec.limits.disk.value });
    // Places that the agent's folders are laid over; nobody ever sees what is in them.
    mounted.extend(own.iter().map(|folder| Mounted::Memory { to: folder.clone(), bytes: 0 }));
    let most = spec.limits.processes.value;
    let seat = Seat {
        user: Some(user),
        folders: own,
        resets: false,
        processes: (most > 0).then_some(most),
        filter: true,
        laid,
        away,
    };
    Ok(Layout { mounted, seat, checked: mounts })
}

impl Layout {
    /// Whether the mounts are still what was looked at: `runsc` found them by their names.
    pub(crate) fn is_unchanged(&self) -> Result<(), SandboxError> {
        for (path, device, number) in &self.checked {
            let is_same = std::fs::symlink_metadata(path)
                .is_ok_and(|found| (found.dev(), found.ino()) == (*device, *number));
            if !is_same {
                let path = path.display().to_string();
                let why = "it is not what was checked a moment ago".to_owned();
                return Err(SandboxError::Mount { path, why });
            }
        }
        Ok(())
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Refuses a mount within another for which there is no place: `runsc` would make one, on the host.
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

type Checked = Vec<(PathBuf, u64, u64)>;

/// Looks at mounts as they are now, and says who the sandbox has to be: whoever owns what it may write to.
fn look_at(mounts: &[Mount], as_root: bool) -> Result<(Checked, (u32, u32)), SandboxError> {
    let mut checked = Vec::new();
    let mut owner = None;
    for Mount { from, writable, .. } in mounts {
        let refused =
            |why: &str| SandboxError::Mount { path: from.display().to_string(), why: why.to_owned() };
        let found = std::fs::symlink_metadata(from).map_err(|error| refused(&error.to_string()))?;
        if found.is_symlink() || from.canonicalize().ok().as_ref() != Some(from) {
            return Err(refused("there is a symbolic link on the way"));
        }
        if !found.is_dir() && !found.is_file() {
            return Err(refused("it is neither a file nor a folder"));
        }
        let owns = (found.uid(), found.gid());
        if *writable && *owner.get_or_insert(owns) != owns {
            return Err(refused("it has another owner than another writable mount of the same sandbox"));
        }
        checked.push((from.clone(), found.dev(), found.ino()));
    }
    // An ordinary user is the only one whom there is in the sandbox's user namespace, and is called root in it.
    let user = if as_root { owner.unwrap_or((NOBODY, NOBODY)) } else { (0, 0) };
    Ok((checked, user))
}
