//! Building the walls, step by step, in the order in which each still can be built; and then looking at what stands.
//!
//! A step that fails is noted with its reason and the next one is tried: fewer walls, said plainly. Only below the
//! floor (a filter of system calls, which alone means no files and no network) does it refuse.

use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};

use bailiwick_engine::{Breadth, Warm};
use bailiwick_sys::alone::Alone;
use bailiwick_sys::clock::{Woken, find_clocks, settle_time_zone};
use bailiwick_sys::clone::{Child, Own, Side, into_namespaces};
use bailiwick_sys::hot::{Account, Given};
use bailiwick_sys::namespaces::{Differs, Mapping, map};
use bailiwick_sys::privileges::{self, CapabilitiesLeft};
use bailiwick_sys::seccomp::{self, Filter};
use bailiwick_sys::{Failed, bounds, clock, descriptors, ending, packets, pidfd, root};
use bailiwick_wire::{FromNursery, ToNursery, Walls, decode};

use super::{Asked, Copies, tell};

/// The user and group inside the namespace.
const INSIDE: u32 = 1000;

/// Users outside that nobody else should be: first one that no package takes, then the traditional nobody.
const DEDICATED: [u32; 2] = [64_923, 65_534];

/// The native stack: the largest engine stack a ceiling allows by default, and room for our own frames and parsers.
const NATIVE_STACK: u64 = 16 * 1024 * 1024;

/// A nursery whose walls stand.
pub(super) struct Built {
    pub(super) walls: Walls,
    pub(super) alone: Alone,
    /// The cells' own filter; none where there are no filters at all.
    pub(super) filter: Option<Filter>,
    pub(super) engine: Warm,
    /// What a call touches is given to a cell when it is forked, as long as this is there.
    pub(super) given: Option<Given>,
    /// The size of this process's memory, which every cell begins with.
    pub(super) memory_size: u64,
}

/// Why there is no nursery.
pub(super) struct Unbuilt {
    pub(super) step: String,
    pub(super) errno: i32,
}

impl From<Failed> for Unbuilt {
    fn from(Failed { step, errno }: Failed) -> Self {
        Self { step: step.says().to_owned(), errno: errno.raw_os_error() }
    }
}

/// What the outside told the new process about itself.
struct Told {
    differs: Differs,
    pid: i32,
    user: u32,
}

/// Builds all that can be built.
pub(super) fn build(asked: Asked, breadth: Breadth, copies: Copies) -> Result<Built, Unbuilt> {
    #[expect(clippy::disallowed_methods, reason = "looks whether there is one, and reads none of it")]
    let no_environment = std::env::vars_os().next().is_none();
    descriptors::close_from(1)?;
    wait_for_begin()?;
    let alone = Alone::check()?;
    let mut missing = Vec::new();
    let root = privileges::identity().0 == 0;
    // Only root has groups it can forget, and only before there is a user namespace.
    if root && let Err(failed) = privileges::clear_groups() {
        missing.push(failed.to_string());
    }
    let attempts = attempts(asked, root);
    let Told { differs, pid, user } = separate(attempts, &alone, root, &mut missing)?;
    #[cfg(feature = "hollow")]
    if asked == Asked::Hollow {
        return hollow(alone, breadth);
    }
    let statm = open_statm(pid)?;
    let account = (copies == Copies::AtOnce).then(|| Account::open(pid));
    enter_namespaces(differs, root, user, &mut missing);
    if differs.mount {
        note(root::leave_file_system(), &mut missing);
    }
    note(privileges::drop_all(), &mut missing);
    note(privileges::never_gain(), &mut missing);
    note(privileges::hide(), &mut missing);
    bounds::for_a_nursery()?;
    bounds::native_stack(NATIVE_STACK)?;

    crate::inside::prepare()?;
    settle_time_zone();
    find_clocks();
    let engine = Warm::new(breadth)
        .map_err(|error| Unbuilt { step: format!("warm the engine: {error}"), errno: 0 })?;
    // No wall is missing without it; cells only take longer to begin.
    let given = account.and_then(|account| account.ok()?.give_to_forks(&alone, || engine.rehearse()).ok());
    bounds::nothing_locked()?;
    let memory_size = read_statm(statm)?;
    ending::watch_children()?;

    let mut walls = look(differs, user, root);
    walls.nothing_inherited = no_environment;
    // From here on there is no opening of anything.
    let filter = match take_filter() {
        Ok(filter) => Some(filter),
        Err(failed) if asked == Asked::Insecure => {
            missing.push(failed.to_string());
            None
        }
        Err(failed) => return Err(failed.into()),
    };
    walls.seccomp = filter.is_some() && seccomp::in_force();
    walls.missing = missing;
    Ok(Built { walls, alone, filter, engine, given, memory_size })
}

fn wait_for_begin() -> Result<(), Unbuilt> {
    let mut buffer = [0; 64];
    while clock::wait_readable(descriptors::zero(), None)? == Woken::Interrupted {}
    let packet = packets::receive(descriptors::zero(), &mut buffer)?;
    match buffer.get(4..packet.length).map(decode) {
        Some(Ok(ToNursery::Begin)) => Ok(()),
        _ => ending::exit_now(crate::ending::FINE),
    }
}

/// Which namespaces to try for, widest first.
fn attempts(asked: Asked, root: bool) -> &'static [Own] {
    match asked {
        #[cfg(feature = "hollow")]
        Asked::Hollow => &[Own::Nothing],
        Asked::Walled | Asked::Insecure if root => &[Own::All, Own::AllButUser, Own::Nothing],
        Asked::Walled | Asked::Insecure => &[Own::All, Own::Nothing],
    }
}

/// Goes on as another process, in as many namespaces of its own as can be had. Returns in that process only.
fn separate(attempts: &[Own], alone: &Alone, root: bool, missing: &mut Vec<String>) -> Result<Told, Unbuilt> {
    for own in attempts {
        let (outer, inner) = packets::stream_pair()?;
        match into_namespaces(*own, alone) {
            Ok(Side::Child) => {
                drop(outer);
                return hear(&inner);
            }
            Ok(Side::Parent(child)) => {
                drop(inner);
                tell(&FromNursery::Started, &[child.pidfd.as_fd()])?;
                match settle(*own, &child, root) {
                    Ok(told) => {
                        send(&outer, &told);
                        ending::exit_now(crate::ending::FINE)
                    }
                    Err(failed) => {
                        missing.push(failed.to_string());
                        pidfd::kill(&child.pidfd)?;
                    }
                }
            }
            Err(failed) => missing.push(failed.to_string()),
        }
    }
    Err(Unbuilt { step: missing.join("; "), errno: 0 })
}

/// What has to be done from outside: the maps, and a look at which namespaces are really new.
fn settle(own: Own, child: &Child, root: bool) -> Result<Told, Failed> {
    let (user, group) = privileges::identity();
    let mut mapped = user;
    if own == Own::All {
        let candidates: Vec<Mapping> = DEDICATED
            .iter()
            .filter(|_| root)
            .map(|dedicated| Mapping { inside: INSIDE, user: *dedicated, group: *dedicated })
            .chain([Mapping { inside: INSIDE, user, group }])
            .collect();
        let mut result = Ok(());
        for mapping in candidates {
            result = map(child.pid, mapping);
            if result.is_ok() {
                mapped = mapping.user;
                break;
            }
        }
        result?;
    }
    Ok(Told { differs: Differs::look(child.pid)?, pid: child.pid, user: mapped })
}

fn send(outer: &OwnedFd, told: &Told) {
    let Told { differs, pid, user } = told;
    let mut message = vec![differs.to_byte()];
    message.extend_from_slice(&pid.to_le_bytes());
    message.extend_from_slice(&user.to_le_bytes());
    // A process that is gone is noticed by the host.
    let _gone = packets::write(outer, &message);
}

fn hear(inner: &OwnedFd) -> Result<Told, Unbuilt> {
    let mut buffer = [0; 16];
    let length = packets::read(inner, &mut buffer)
        .map_err(|errno| Unbuilt { step: "hear from outside".to_owned(), errno: errno.raw_os_error() })?;
    let parts = buffer.get(..length).and_then(|bytes| {
        let (byte, rest) = bytes.split_first()?;
        let (pid, rest) = rest.split_first_chunk::<4>()?;
        let (user, _) = rest.split_first_chunk::<4>()?;
        Some((Differs::from_byte(*byte), i32::from_le_bytes(*pid), u32::from_le_bytes(*user)))
    });
    // Nothing was said: this attempt was given up, and another process takes over.
    let Some((differs, pid, user)) = parts else { ending::exit_now(crate::ending::FINE) };
    Ok(Told { differs, pid, user })
}

fn enter_namespaces(differs: Differs, root: bool, user: u32, missing: &mut Vec<String>) {
    if differs.user {
        note(privileges::become_user(INSIDE, INSIDE), missing);
        note(privileges::regain_kept(), missing);
    } else if root {
        let [dedicated, _] = DEDICATED;
        note(privileges::become_user(dedicated, dedicated), missing);
        if differs.mount {
            note(privileges::regain_kept(), missing);
        }
    } else {
        missing.push(format!("without a user namespace cells run as user {user}"));
    }
}

fn open_statm(pid: i32) -> Result<std::fs::File, Unbuilt> {
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel about this very process")]
    std::fs::File::open(format!("/proc/{pid}/statm")).map_err(|error| Unbuilt {
        step: "open the size of this process's memory".to_owned(),
        errno: error.raw_os_error().unwrap_or(0),
    })
}

fn read_statm(mut statm: std::fs::File) -> Result<u64, Unbuilt> {
    let mut text = String::new();
    statm.read_to_string(&mut text).map_err(|error| Unbuilt {
        step: "read the size of this process's memory".to_owned(),
        errno: error.raw_os_error().unwrap_or(0),
    })?;
    Ok(bounds::memory_size(&text)?)
}

/// What stands, by looking.
fn look(differs: Differs, user: u32, root: bool) -> Walls {
    let (inside, group) = privileges::identity();
    let own_user = if differs.user { user } else { inside };
    // Who a map says that a process is, is only true of a process that has become it.
    let has_become = !differs.user || (inside == INSIDE && group == INSIDE);
    Walls {
        user_namespace: differs.user,
        pid_namespace: differs.pid && std::process::id() == 1,
        net_namespace: differs.net,
        ipc_namespace: differs.ipc,
        uts_namespace: differs.uts,
        empty_root: differs.mount && root::is_empty_and_sealed().unwrap_or(false),
        unprivileged_user: has_become
            && inside != 0
            && own_user != 0
            && (!root || (DEDICATED.contains(&own_user) && privileges::has_no_groups())),
        no_capabilities: matches!(
            privileges::look_at_capabilities(),
            Ok(CapabilitiesLeft::None | CapabilitiesLeft::OnlyBounding)
        ),
        no_new_privileges: privileges::never_gains(),
        not_dumpable: privileges::is_hidden(),
        nothing_inherited: false,
        seccomp: false,
        hollow: false,
        missing: Vec::new(),
    }
}

fn take_filter() -> Result<Filter, Failed> {
    let filter = Filter::narrow(seccomp::nursery::ALLOWED, seccomp::cell::ALLOWED)?;
    Filter::compile(&seccomp::nursery::with_cells())?.install()?;
    Ok(filter)
}

fn note(result: Result<(), Failed>, missing: &mut Vec<String>) {
    if let Err(failed) = result {
        missing.push(failed.to_string());
    }
}

#[cfg(feature = "hollow")]
fn hollow(alone: Alone, breadth: Breadth) -> Result<Built, Unbuilt> {
    settle_time_zone();
    let engine = Warm::new(breadth)
        .map_err(|error| Unbuilt { step: format!("warm the engine: {error}"), errno: 0 })?;
    ending::watch_children()?;
    let walls = Walls { hollow: true, ..Walls::default() };
    Ok(Built { walls, alone, filter: None, engine, given: None, memory_size: 0 })
}
