//! Where an agent under test lives: this program, started again.

use std::os::fd::OwnedFd;

use bailiwick_agent::{Setup, Supervision};
use bailiwick_sys::alone::Alone;
use bailiwick_sys::clone::{Own, Side, into_namespaces};
use bailiwick_sys::namespaces::{Mapping, map};
use bailiwick_sys::{descriptors, ending, packets, privileges};
use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Resource, Rlimit};

pub(crate) const NAME: &str = "agent-under-test";

/// Who the agent and its commands are inside.
const INSIDE: u32 = 1000;

/// Where an agent lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// An ordinary process among others.
    Plain,
    /// The first process of namespaces of its own.
    First,
    /// The same, but told that the IPC it sees is not its own.
    FirstWithSharedIpc,
}

impl Place {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::First => "first",
            Self::FirstWithSharedIpc => "first-shared-ipc",
        }
    }
}

/// Becomes an agent if this process was started as one.
pub(crate) fn enter() {
    let mut arguments = std::env::args();
    if arguments.next().is_some_and(|name| name == NAME) {
        let place = arguments.next().unwrap_or_default();
        let folders: Vec<String> = arguments.collect();
        let socket = rustix::io::fcntl_dupfd_cloexec(descriptors::zero(), 3).unwrap();
        // The one folder that cannot be: nothing is looked at then.
        let reset = (folders != ["never"]).then_some(folders);
        let owns_ipc = place == "first";
        let setup = |is_init| Setup {
            is_init,
            signals_stay: false,
            owns_ipc,
            reset,
            hand: None,
            supervision: Supervision::Off,
        };
        ending::exit_now(if place == "plain" {
            bailiwick_agent::run(socket, setup(false))
        } else {
            first(socket, setup(true))
        });
    }
}

fn first(socket: OwnedFd, setup: Setup) -> u8 {
    let (ours, theirs) = packets::stream_pair().unwrap();
    // A root that runs the tests is nobody in particular inside, as it would be in a sandbox.
    let (user, group) = match privileges::identity() {
        (0, _) => (65_534, 65_534),
        identity => identity,
    };
    let alone = Alone::check().unwrap();
    match into_namespaces(Own::All, &alone) {
        Ok(Side::Parent(child)) => {
            map(child.pid, Mapping { inside: INSIDE, user, group }).unwrap();
            packets::write(&ours, b"go").unwrap();
            0
        }
        Ok(Side::Child) => {
            drop(ours);
            packets::read(&theirs, &mut [0; 2]).unwrap();
            drop(theirs);
            build();
            bailiwick_agent::run(socket, setup)
        }
        Err(_) => 1,
    }
}

/// The least that a sandbox has: its own scratch, terminals and `/proc`, and no privileges.
fn build() {
    privileges::become_user(INSIDE, INSIDE).unwrap();
    privileges::regain_kept().unwrap();
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("none", "/tmp", "tmpfs", flags, c"mode=1777,size=64m").unwrap();
    mount("none", "/proc", "proc", flags | MountFlags::NOEXEC, c"").unwrap();
    mount("none", "/dev/pts", "devpts", flags & !MountFlags::NODEV, c"newinstance,ptmxmode=0666").unwrap();
    rustix::process::setrlimit(Resource::Msgqueue, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
    bailiwick_sys::loopback::raise().unwrap();
    // Whoever builds a place where an agent listens lets it listen at the ports of names and of the web.
    let port =
        rustix::fs::open("/proc/sys/net/ipv4/ip_unprivileged_port_start", OFlags::WRONLY, Mode::empty());
    rustix::io::write(port.unwrap(), b"0").unwrap();
    rustix::process::chdir("/").unwrap();
    privileges::never_gain().unwrap();
    privileges::drop_all().unwrap();
    privileges::hide().unwrap();
}
