//! The root of a sandbox that has a machine of its own, from what the host serves, and a bounded file system in memory.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use bailiwick_sys::mounts::{Less, Size};
use bailiwick_sys::overlay::{Layers, lay_as_root};
use bailiwick_sys::{Errno, Failed, Step, loopback, mounts};
use bailiwick_wire::machine::{Machine, Piece};
use rustix::fs::{CWD, FileType, Mode, OFlags, makedev, mknodat};

use super::{GROUP, SERVED};
use crate::laid;

/// Where the root is until it is one.
pub(super) const NEW: &str = "/new";
/// Where the file system in memory is until its parts have their places.
pub(super) const SCRATCH: &str = "/scratch";

/// Devices of every sandbox: name, and numbers.
const DEVICES: [(&str, u32, u32); 6] =
    [("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0)];
/// Links beside them.
const LINKS: [(&str, &str); 5] = [
    ("ptmx", "pts/ptmx"),
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
/// From which port on everybody may listen.
const PORTS: &str = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
/// How large what is not the sandbox's own may be: a few links and files of ours.
const OURS: Size = Size { bytes: 16 << 20, files: 16 << 10 };

fn failed(step: Step) -> impl Fn(io::Error) -> Failed {
    move |error| step.failed(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Lays it out, and makes it the root. From here on this process is within the bounds of the sandbox.
pub(super) fn lay(machine: &Machine) -> Result<(), Failed> {
    join(machine)?;
    let scratch = Size { bytes: machine.room, files: machine.files };
    mounts::memory(Path::new(SCRATCH), scratch, 0o755, Less::WRITE)?;
    match &machine.image {
        Some(name) => over_image(name, machine.user)?,
        None => mounts::memory(Path::new(NEW), OURS, 0o755, Less::WRITE)?,
    }
    devices()?;
    for (number, piece) in machine.pieces.iter().enumerate() {
        put(piece, number, machine.user)?;
    }
    let processes = inside("/proc");
    std::fs::create_dir_all(&processes).map_err(failed(Step::MakePlace))?;
    mounts::processes(&processes)?;
    if machine.image.is_none() {
        mounts::take_away(Path::new(NEW), Less::READ, false)?;
    }
    loopback::name_host("sandbox")?;
    // Everybody inside may listen at every port: there is nobody else.
    write_to(Path::new(PORTS), "0", Step::ListenInside)?;
    mounts::cover_root_with(Path::new(NEW))
}

/// Writes to a file of the kernel's.
fn write_to(path: &Path, text: &str, step: Step) -> Result<(), Failed> {
    let file = std::fs::OpenOptions::new().write(true).open(path);
    file.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes())).map_err(failed(step))
}

/// Makes the sandbox's cgroup, and joins it.
fn join(machine: &Machine) -> Result<(), Failed> {
    let write = |path: PathBuf, text: &str| write_to(&path, text, Step::WriteCgroup);
    let group = Path::new(GROUP);
    let above = group.parent().unwrap_or(group);
    write(above.join("cgroup.subtree_control"), "+memory +pids")?;
    std::fs::create_dir(group).map_err(failed(Step::MakeCgroup))?;
    write(group.join("memory.max"), &machine.memory.to_string())?;
    if let Some(processes) = machine.processes {
        write(group.join("pids.max"), &processes.to_string())?;
    }
    write(group.join("cgroup.procs"), "0")
}

/// Where a path of the sandbox is as long as its root is none.
fn inside(at: &str) -> PathBuf {
    Path::new(NEW).join(at.trim_start_matches('/'))
}

/// A folder of the file system in memory.
fn scratch(name: &str, user: (u32, u32), mode: u32) -> Result<PathBuf, Failed> {
    let folder = Path::new(SCRATCH).join(name);
    let done = std::fs::create_dir(&folder)
        .and_then(|()| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)))
        .and_then(|()| chown(&folder, Some(user.0), Some(user.1)));
    done.map_err(failed(Step::MakePlace))?;
    Ok(folder)
}

/// The root is an image, with a layer over it that can be written to.
fn over_image(name: &str, user: (u32, u32)) -> Result<(), Failed> {
    let (upper, work) = (scratch("upper", user, 0o755)?, scratch("work", user, 0o755)?);
    let layers = Layers { lower: &Path::new(SERVED).join(name), upper: &upper, work: &work };
    let tree = lay_as_root(layers)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let place = rustix::fs::open(NEW, flags, Mode::empty()).map_err(|errno| Step::LayOver.failed(errno))?;
    mounts::attach(&tree, place.as_fd())
}

/// Devices that everybody has, and terminals.
fn devices() -> Result<(), Failed> {
    let place = inside("/dev");
    std::fs::create_dir_all(&place).map_err(failed(Step::MakePlace))?;
    mounts::memory(&place, OURS, 0o755, Less::default())?;
    let everybodys = Mode::from_raw_mode(0o666);
    for (name, major, minor) in DEVICES {
        let device = place.join(name);
        mknodat(CWD, &device, FileType::CharacterDevice, everybodys, makedev(major, minor))
            .map_err(|errno| Step::MakePlace.failed(errno))?;
        std::fs::set_permissions(&device, std::fs::Permissions::from_mode(0o666))
            .map_err(failed(Step::MakePlace))?;
    }
    for (name, to) in LINKS {
        symlink(to, place.join(name)).map_err(failed(Step::MakePlace))?;
    }
    let terminals = place.join("pts");
    std::fs::create_dir(&terminals).map_err(failed(Step::MakePlace))?;
    mounts::terminals(&terminals)?;
    std::fs::create_dir(place.join("shm")).map_err(failed(Step::MakePlace))
}

fn put(piece: &Piece, number: usize, user: (u32, u32)) -> Result<(), Failed> {
    match piece {
        Piece::Own { at } => {
            let folder = scratch(&format!("own-{number}"), user, laid::EVERYBODYS)?;
            let place = inside(at);
            std::fs::create_dir_all(&place).map_err(failed(Step::MakePlace))?;
            mounts::bind_as_it_is(&folder, &place)
        }
        Piece::File { at, text } => write(&inside(at), text).map_err(failed(Step::WritePlace)),
        Piece::Link { at, to } => {
            let place = inside(at);
            above(&place).and_then(|()| symlink(to, &place)).map_err(failed(Step::MakePlace))
        }
        Piece::Served { at, name, writable } => {
            let (from, place) = (Path::new(SERVED).join(name), inside(at));
            laid::find(&from, &place).map_err(failed(Step::MakePlace))?;
            mounts::bind(&from, &place, if *writable { Less::WRITE } else { Less::READ })
        }
    }
}

fn above(place: &Path) -> io::Result<()> {
    place.parent().map_or(Ok(()), std::fs::create_dir_all)
}

fn write(place: &Path, text: &str) -> io::Result<()> {
    above(place)?;
    if std::fs::symlink_metadata(place).is_ok() {
        std::fs::remove_file(place)?;
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(place)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}
