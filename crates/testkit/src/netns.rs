//! A namespace of the network for one program: only loopback, with the addresses that a test wants to be there.
//!
//! Made by `unshare` and `ip`, by root or with a user namespace. What runs in there reaches nothing outside, so a test
//! may use addresses and ports of the world. Whole tests move in with [`Netns::run`]: the test's binary is started
//! again inside, and its fakes listen there (`Upstream::listen("93.184.216.34:443", ...)`).

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use crate::again;

#[cfg(test)]
mod tests;

/// What a shell does in the fresh namespace before it becomes the program. Its arguments: `ip`, `mount`, a file to be
/// the resolver's settings or nothing, addresses, `--`, the program and its arguments.
const SET_UP: &str = r#"
ip=$1 mount=$2 names=$3
shift 3
"$ip" link set lo up || exit 125
while [ "$1" != -- ]; do
  "$ip" address add "$1" dev lo || exit 125
  shift
done
shift
[ -z "$names" ] || "$mount" --bind "$names" /etc/resolv.conf || exit 125
exec "$@"
"#;

/// A fresh network for each program that is run in it.
#[derive(Debug, Clone, Default)]
pub struct Netns {
    addresses: Vec<String>,
    names: Option<Arc<tempfile::TempDir>>,
}

/// Whether this process is a test that [`Netns::run`] has moved into a namespace.
///
/// # Panics
/// When it should be and is not: nothing may then be dialled.
pub fn inside() -> bool {
    let Some(told) = again::told() else { return false };
    let Some(outside) = told.strip_prefix("netns ") else { return false };
    assert_ne!(here(), outside, "this should be a network of its own");
    true
}

/// Whether the program `ip` is there, as `requires!("ip", ...)` wants to know.
pub fn has_ip() -> bool {
    find("ip").is_some()
}

/// Whether such namespaces can be made, as `requires!("netns", ...)` wants to know.
pub fn is_possible() -> bool {
    has_ip() && way().is_some()
}

impl Netns {
    /// A network with nothing but `127.0.0.1` and `::1`.
    pub fn new() -> Self {
        Self::default()
    }

    /// With another address on loopback (`93.184.216.34/32`, `2606:2800::1/128`).
    #[must_use]
    pub fn address(mut self, address: &str) -> Self {
        self.addresses.push(address.to_owned());
        self
    }

    /// With this name server (port 53) in `/etc/resolv.conf`, which only those inside see.
    ///
    /// # Panics
    /// When the file cannot be written.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a file of a test's own")]
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn name_server(mut self, address: IpAddr) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("resolv.conf"), format!("nameserver {address}\n"))
            .expect("a file for the resolver");
        self.names = Some(Arc::new(folder));
        self
    }

    /// A command that runs a program in a network of its own; arguments, variables and streams are the caller's to set.
    /// It ends with 125 when the network cannot be set up. This value has to live until the program has started.
    ///
    /// # Panics
    /// When no such network can be made here; ask [`is_possible`] first.
    #[expect(clippy::disallowed_methods, reason = "tests start programs inside of a network here only")]
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut words = self.wrapper().into_iter();
        let mut command = Command::new(words.next().expect("a wrapper has words"));
        command.args(words).arg(program.as_ref());
        command
    }

    /// Runs what is left of a test inside: the test's binary is started again in a fresh network, and there the closure
    /// is called. All of the test before this runs in both processes. The closure must be written in the test itself.
    ///
    /// # Panics
    /// When the test fails inside, is not found there, or no such network can be made.
    #[track_caller]
    pub fn run(&self, inside_of_it: impl FnOnce()) {
        if inside() {
            return inside_of_it();
        }
        again::run(&inside_of_it, &self.mark(), |program| self.command(program));
    }

    /// What a process in such a network is told: the network that it must not be in.
    #[expect(clippy::unused_self, reason = "the mark of a network is asked for where the network is used")]
    pub(crate) fn mark(&self) -> String {
        format!("netns {}", here())
    }

    /// The words in front of a program and its arguments.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub(crate) fn wrapper(&self) -> Vec<OsString> {
        let (unshare, flags) = way().expect("a network of its own can be made");
        let mut words = vec![unshare.into_os_string()];
        words.extend(flags.iter().map(OsString::from));
        if self.names.is_some() {
            words.push("--mount".into());
        }
        words.extend(["--", "/bin/sh", "-c", SET_UP, "netns"].map(OsString::from));
        words.push(find("ip").expect("the program `ip`").into());
        words.push(find("mount").unwrap_or_default().into());
        words.push(
            self.names.as_ref().map_or_else(OsString::new, |names| names.path().join("resolv.conf").into()),
        );
        words.extend(self.addresses.iter().map(OsString::from));
        words.push("--".into());
        words
    }
}

/// The network of this process.
#[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
fn here() -> String {
    let link = std::fs::read_link("/proc/self/ns/net").expect("the kernel says which network this is");
    link.display().to_string()
}

/// A program by its name. Not by `PATH`, which programs under test do not have.
fn find(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter();
    folders.map(|folder| Path::new(folder).join(name)).find(|path| path.exists())
}

/// `unshare` with the flags that work here: those of root, else those of anybody.
fn way() -> Option<(PathBuf, &'static [&'static str])> {
    const WAYS: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];
    static WAY: OnceLock<Option<&'static [&'static str]>> = OnceLock::new();
    let unshare = find("unshare")?;
    let flags = WAY.get_or_init(|| WAYS.into_iter().find(|flags| works(&unshare, flags)));
    flags.map(|flags| (unshare, flags))
}

#[expect(clippy::disallowed_methods, reason = "tries what the machine lets a test do")]
fn works(unshare: &Path, flags: &[&str]) -> bool {
    let mut command = Command::new(unshare);
    command.args(flags).args(["--", "/bin/sh", "-c", "exit 0"]);
    let run = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}
