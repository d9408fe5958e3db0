//! What belongs to a fresh user namespace: its maps, and a look at whether namespaces are really new.

use rustix::io::Errno;

use crate::{Failed, Step};

/// Who somebody is inside a namespace, and outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping {
    /// The number inside.
    pub inside: u32,
    /// The user outside.
    pub user: u32,
    /// The group outside.
    pub group: u32,
}

/// Writes the maps of another process's user namespace: one user and one group, and no supplementary groups.
pub fn map(pid: i32, mapping: Mapping) -> Result<(), Failed> {
    map_apart(pid, mapping, mapping)
}

/// Like [`map`], with a number for the group that is not the user's.
pub fn map_apart(pid: i32, user: Mapping, group: Mapping) -> Result<(), Failed> {
    // Without the right to set groups, a group map may only be written after they were denied; with it, denying them
    // keeps them from coming back.
    write(pid, "setgroups", "deny", Step::DenyGroups)?;
    write(pid, "gid_map", &format!("{} {} 1\n", group.inside, group.group), Step::MapGroup)?;
    write(pid, "uid_map", &format!("{} {} 1\n", user.inside, user.user), Step::MapUser)
}

#[expect(clippy::disallowed_methods, reason = "a file of the kernel, whose content is an argument of a call")]
fn write(pid: i32, file: &str, text: &str, step: Step) -> Result<(), Failed> {
    std::fs::write(format!("/proc/{pid}/{file}"), text).map_err(|error| step.failed(errno(&error)))
}

/// Has this process see its cgroups as roots from now on: where they are on the host is nobody's business inside.
pub fn hide_cgroups() -> Result<(), Failed> {
    // SAFETY: unshare takes a number; a cgroup namespace holds nothing that another thread or the C library relies on.
    let result = unsafe { libc::unshare(libc::CLONE_NEWCGROUP) };
    if result == 0 { Ok(()) } else { Err(Step::HideCgroups.failed(crate::descriptors::last())) }
}

/// Which namespaces of another process differ from this one's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one observation; none follows from another")]
pub struct Differs {
    /// The user namespace.
    pub user: bool,
    /// The pid namespace.
    pub pid: bool,
    /// The network namespace.
    pub net: bool,
    /// The mount namespace.
    pub mount: bool,
    /// The IPC namespace.
    pub ipc: bool,
    /// The UTS namespace.
    pub uts: bool,
}

impl Differs {
    const ORDER: [&'static str; 6] = ["user", "pid", "net", "mnt", "ipc", "uts"];

    /// Compares the namespaces of a process with this one's.
    pub fn look(pid: i32) -> Result<Self, Failed> {
        let mut differs = [false; 6];
        for (name, differs) in Self::ORDER.iter().zip(&mut differs) {
            let read = |whose: &str| {
                std::fs::read_link(format!("/proc/{whose}/ns/{name}"))
                    .map_err(|error| Step::LookAtNamespace.failed(errno(&error)))
            };
            *differs = read("self")? != read(&pid.to_string())?;
        }
        let [user, pid, net, mount, ipc, uts] = differs;
        Ok(Self { user, pid, net, mount, ipc, uts })
    }

    /// As one byte, to be told to the process itself.
    pub fn to_byte(self) -> u8 {
        let Self { user, pid, net, mount, ipc, uts } = self;
        [user, pid, net, mount, ipc, uts].iter().rev().fold(0, |byte, bit| (byte << 1) | u8::from(*bit))
    }

    /// From one byte.
    pub const fn from_byte(byte: u8) -> Self {
        Self {
            user: byte & 1 != 0,
            pid: byte & 2 != 0,
            net: byte & 4 != 0,
            mount: byte & 8 != 0,
            ipc: byte & 16 != 0,
            uts: byte & 32 != 0,
        }
    }
}

pub(crate) fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
