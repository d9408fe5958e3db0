//! What is in the root of a sandbox beside its programs: devices that tell nothing about the host; and the user of its processes.
//! The host's own programs, and the masks over `/proc`, are listed in `agent-host`.

use bailiwick_agent_host::root;
use bailiwick_wire::jail::Place;

/// Who everybody is inside.
pub(crate) const INSIDE: u32 = 1000;

/// Users outside that nobody else should be: first one that no package takes, then the traditional nobody.
pub(crate) const OUTSIDE: [u32; 2] = [64_924, 65_534];

/// Devices that tell nothing about the host.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The root that has the host's own programs in it.
pub(crate) fn of_the_host() -> Vec<Place> {
    root::of_the_host(INSIDE).into_iter().chain(devices()).collect()
}

/// What is in the root beside an image: devices, and the files that say where it is.
pub(crate) fn of_an_image() -> Vec<Place> {
    root::whereabouts().chain(devices()).collect()
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
