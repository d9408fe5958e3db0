//! What is in the root of a sandbox that uses the host's own programs: its system folders, read-only, a few files of `/etc` that
//! programs need, and our own for the rest. Nothing of anybody's home, no `/etc` as a whole, no `/sys`.

use std::path::Path;

use bailiwick_agent_host::places::SYSTEM;
use bailiwick_agent_host::root::{IDENTITIES, SHARED, WHERE};
use bailiwick_wire::jail::{Bind, Place};

/// Who everybody is inside.
pub(crate) const INSIDE: u32 = 1000;

/// Users outside that nobody else should be: first one that no package takes, then the traditional nobody.
pub(crate) const OUTSIDE: [u32; 2] = [64_924, 65_534];

/// Devices that tell nothing about the host.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What of `/proc` tells more about the host than programs need.
pub(crate) const MASKS: [&str; 17] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/bus",
    "/proc/cmdline",
    "/proc/driver",
    "/proc/fs",
    "/proc/interrupts",
    "/proc/irq",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/pressure",
    "/proc/scsi",
    "/proc/softirqs",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
];

/// The root that has the host's own programs in it.
pub(crate) fn of_the_host() -> Vec<Place> {
    let mut places = Vec::new();
    for at in SYSTEM {
        places.extend(system(at));
    }
    places.extend(SHARED.iter().filter_map(|at| shared(at)));
    // A link is kept as one: what it leads to is below /usr.
    if let Ok(to) = std::fs::read_link("/etc/localtime") {
        places.push(Place::Link { at: "/etc/localtime".to_owned(), to: to.display().to_string() });
    }
    places.extend(ours(&IDENTITIES));
    places.extend(devices());
    places.push(Place::Link { at: "/etc/mtab".to_owned(), to: "/proc/self/mounts".to_owned() });
    places
}

/// What is in the root beside an image: devices, and the files that say where it is.
pub(crate) fn of_an_image() -> Vec<Place> {
    ours(&[]).chain(devices()).collect()
}

fn devices() -> impl Iterator<Item = Place> {
    let devices = DEVICES.map(|at| Place::Device { at: at.to_owned() });
    let links = [
        ("/dev/ptmx", "pts/ptmx"),
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
    ];
    devices.into_iter().chain(links.map(|(at, to)| Place::Link { at: at.to_owned(), to: to.to_owned() }))
}

/// A system folder: as it is, or as the link that it is.
fn system(at: &str) -> Option<Place> {
    let found = std::fs::symlink_metadata(at).ok()?;
    if found.is_symlink() {
        let to = std::fs::read_link(at).ok()?;
        return Some(Place::Link { at: at.to_owned(), to: to.display().to_string() });
    }
    found.is_dir().then(|| Place::Bind(bind(at, at, true)))
}

/// Something of `/etc`, with no link on the way to it.
fn shared(at: &str) -> Option<Place> {
    let from = Path::new(at).canonicalize().ok()?;
    let is_folder = from.is_dir();
    Some(Place::Bind(bind(from.to_str()?, at, is_folder)))
}

fn bind(from: &str, to: &str, is_folder: bool) -> Bind {
    Bind { from: from.to_owned(), to: to.to_owned(), writable: false, is_folder, checked: None, owner: None }
}

/// Files that are our own.
fn ours(more: &'static [(&str, &str)]) -> impl Iterator<Item = Place> {
    let files = WHERE.into_iter().chain(more.iter().copied());
    files.map(|(at, text)| Place::File { at: at.to_owned(), text: text.to_owned() })
}
