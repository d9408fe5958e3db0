//! The first process of a machine: it loads modules, starts the agent in a pid namespace of its own, and then only carries questions
//! about files between the kernel and the host. Nothing of a guest sees it.
//!
//! What is in the machine's root is laid out by the child that becomes the agent, while this one already carries for it.

mod relay;
mod root;

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use bailiwick_sys::alone::Alone;
use bailiwick_sys::clone::{Own, Side, into_jail};
use bailiwick_sys::{Errno, Failed, Step, ending, loopback, machine, mounts};
use bailiwick_wire::Decoder;
use bailiwick_wire::machine::{
    AGENT_PORT, AGENT_SOCKET, BY_SOCKETS, FILES_PORT, FILES_SOCKET, MODULES, MOST_TOLD, Machine, ORDERS_PORT,
    ORDERS_SOCKET,
};
use bailiwick_wire::seat::FromSeat;
use rustix::fs::inotify;
use rustix::fs::{Mode, OFlags};

use crate::seat;
use crate::{BROKEN, CLOSED, OUR_FAULT, ToHost};

/// Where the files are that the host serves, until they have their places.
pub(crate) const SERVED: &str = "/served";
/// Where the cgroup of everybody in the sandbox is.
pub(crate) const GROUP: &str = "/cgroups/sandbox";

/// How streams lead out of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// By ports, which are devices.
    Ports,
    /// By virtual sockets.
    Sockets,
}

impl Streams {
    /// As the kernel was told, by the word behind the one that says what this program is.
    pub fn of(word: Option<&str>) -> Self {
        if word == Some(BY_SOCKETS) { Self::Sockets } else { Self::Ports }
    }

    fn open(self, path: &str, number: u32) -> Result<OwnedFd, Failed> {
        match self {
            Self::Ports => port(path),
            Self::Sockets => machine::connect_to_host(number),
        }
    }
}

/// Lives as the first process of a machine, to its end; the machine ends with it. Gives back only what went wrong.
pub fn live(streams: Streams) -> Failed {
    match begin(streams) {
        Ok(()) => {}
        Err(failed) => say(failed),
    }
    match streams {
        Streams::Ports => machine::power_off(),
        // Monitors with virtual sockets and nothing else cannot be turned off.
        Streams::Sockets => machine::restart(),
    }
}

/// Says on the machine's console what went wrong: nobody else hears it yet.
fn say(failed: Failed) {
    use std::io::Write as _;
    let console = std::fs::OpenOptions::new().write(true).open("/dev/console");
    // Where there is no console, the host sees only that the machine has ended.
    let _unheard = console.and_then(|mut console| writeln!(console, "bailiwick: {failed}"));
}

fn begin(streams: Streams) -> Result<(), Failed> {
    for place in ["/dev", "/proc", "/cgroups", SERVED, root::NEW, root::SCRATCH] {
        make_folder(place)?;
    }
    mounts::devices(Path::new("/dev"))?;
    mounts::processes(Path::new("/proc"))?;
    mounts::cgroups(Path::new("/cgroups"))?;
    load_modules()?;
    let agent = streams.open(AGENT_PORT, AGENT_SOCKET)?;
    let files = streams.open(FILES_PORT, FILES_SOCKET)?;
    let orders = streams.open(ORDERS_PORT, ORDERS_SOCKET)?;
    let asked = open("/dev/fuse", Step::OpenServed)?;
    mounts::served(Path::new(SERVED), asked.as_fd())?;
    let alone = Alone::check()?;
    match into_jail(Own::AllButUser, true, &alone)? {
        Side::Child => {
            drop((files, orders, asked));
            ending::exit_now(settle(agent))
        }
        Side::Parent(child) => {
            drop(agent);
            relay::carry(&relay::Ends { asked, files, orders, agent: child.pidfd })
        }
    }
}

fn make_folder(place: &str) -> Result<(), Failed> {
    match std::fs::create_dir(place) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Step::MakePlace.failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))
        }
        _ => Ok(()),
    }
}

/// Loads every module that came along, in the order of their names.
fn load_modules() -> Result<(), Failed> {
    let failed =
        |error: std::io::Error| Step::FindModules.failed(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    let entries = std::fs::read_dir(MODULES).map_err(failed)?;
    let mut files = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    files.sort();
    for file in files {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file =
            rustix::fs::open(&file, flags, Mode::empty()).map_err(|errno| Step::FindModules.failed(errno))?;
        machine::load_module(file)?;
    }
    Ok(())
}

fn open(path: &str, step: Step) -> Result<OwnedFd, Failed> {
    rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(|errno| step.failed(errno))
}

/// Opens a port, as soon as it is there: the kernel makes them after it has talked to the machine.
fn port(path: &str) -> Result<OwnedFd, Failed> {
    let failed = |errno| Step::OpenPort.failed(errno);
    let news = inotify::init(inotify::CreateFlags::CLOEXEC).map_err(failed)?;
    inotify::add_watch(&news, "/dev", inotify::WatchFlags::CREATE).map_err(failed)?;
    let mut room = [0; 4096];
    loop {
        match open(path, Step::OpenPort) {
            Err(Failed { errno: Errno::NOENT, .. }) => {}
            done => return done,
        }
        rustix::io::retry_on_intr(|| rustix::io::read(&news, &mut room)).map_err(failed)?;
    }
}

/// Lays the machine out, and becomes its agent.
fn settle(agent: OwnedFd) -> u8 {
    let mut decoder = Decoder::new(MOST_TOLD);
    let machine = match seat::hear::<Machine>(&agent, &mut decoder) {
        Ok(Some(machine)) => machine,
        Ok(None) => return CLOSED,
        Err(_) => return BROKEN,
    };
    let laid = loopback::raise().and_then(|()| root::lay(&machine));
    if let Err(Failed { step, errno }) = laid {
        let said = FromSeat::Untaken { step: step.says().to_owned(), errno: errno.raw_os_error() };
        return if seat::tell(&agent, &said).is_ok() { OUR_FAULT } else { CLOSED };
    }
    seat::take_after(ToHost::from(agent), &mut decoder)
}
