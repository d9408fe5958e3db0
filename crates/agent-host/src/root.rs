//! What is in the root of a sandbox that uses the host's own programs, behind whatever wall: its system folders, read-only, a few
//! files of `/etc` that programs need, and our own for the rest. Nothing of anybody's home, no `/etc` as a whole, no `/sys`.

use std::path::Path;

use bailiwick_sandbox::Outlet;
use bailiwick_wire::jail::{Bind, Place};

use crate::places::SYSTEM;

/// What programs look for in `/etc` and everybody may know.
const SHARED: [&str; 18] = [
    "/etc/os-release",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/mime.types",
    "/etc/magic",
    "/etc/perl",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/java-17-openjdk",
    "/etc/terminfo",
];

/// Files that say where a sandbox is, whatever it begins with.
pub const WHEREABOUTS: [(&str, &str); 3] = [
    ("/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"),
    ("/etc/hostname", "sandbox\n"),
    ("/etc/resolv.conf", "# no name can be resolved here\n"),
];

/// The root that has the host's own programs in it, for commands that run as this user. Devices are the wall's to bring.
pub fn of_the_host(user: u32) -> Vec<Place> {
    let mut places = Vec::new();
    for at in SYSTEM {
        places.extend(system(at));
    }
    places.extend(SHARED.iter().filter_map(|at| shared(at)));
    // A link is kept as one: what it leads to is below /usr.
    if let Ok(to) = std::fs::read_link("/etc/localtime") {
        places.push(Place::Link { at: "/etc/localtime".to_owned(), to: to.display().to_string() });
    }
    places.extend(whereabouts());
    places.extend(identities(user));
    places.push(Place::Link { at: "/etc/mtab".to_owned(), to: "/proc/self/mounts".to_owned() });
    places
}

/// The files that say where a sandbox is.
pub fn whereabouts() -> impl Iterator<Item = Place> {
    WHEREABOUTS.into_iter().map(|(at, text)| Place::File { at: at.to_owned(), text: text.to_owned() })
}

/// The files that say where a sandbox is, and those of its way out, which replace them.
pub fn files(outlet: Option<&dyn Outlet>) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> =
        WHEREABOUTS.iter().map(|(at, text)| ((*at).to_owned(), (*text).to_owned())).collect();
    for (at, text) in outlet.map(Outlet::files).unwrap_or_default() {
        files.retain(|(known, _)| known != at.as_str());
        files.push((at.as_str().to_owned(), text));
    }
    files
}

/// Files that say who is who; an image has its own.
fn identities(user: u32) -> [Place; 3] {
    let file = |at: &str, text: String| Place::File { at: at.to_owned(), text };
    [
        file(
            "/etc/passwd",
            format!(
                "root:x:0:0:root:/:/usr/sbin/nologin\nsandbox:x:{user}:{user}:sandbox:/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
            ),
        ),
        file("/etc/group", format!("root:x:0:\nsandbox:x:{user}:\nnogroup:x:65534:\n")),
        file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
    ]
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
    Bind { from: from.to_owned(), to: to.to_owned(), writable: false, is_folder, is_held: false, owner: None }
}
