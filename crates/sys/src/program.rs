//! Starting a program of the host's that stands around a sandbox: with no environment, in a group of its own, and in its cgroups
//! before its first instruction.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::mount::{MountFlags, mount};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::{Failed, mounts, privileges};

/// A program that goes through these doors when it is started. Its streams are for whoever calls to say.
///
/// No signal of a terminal reaches it.
#[expect(clippy::disallowed_methods, reason = "the one place where programs that build walls are started")]
pub fn through(program: &Path, doors: Vec<OwnedFd>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").process_group(0);
    let go = move || {
        for door in &doors {
            rustix::io::retry_on_intr(|| rustix::io::write(door, b"0"))?;
        }
        Ok(())
    };
    // SAFETY: the closure makes one system call for each door and nothing else: it allocates nothing and takes no lock.
    unsafe { command.pre_exec(go) };
    command
}

/// How little a program gets of the host.
#[derive(Debug)]
pub struct Confined {
    /// Whom it is, and its group; none to stay whoever starts it.
    pub user: Option<(u32, u32)>,
    /// Folders that it sees empty; only where it becomes somebody else.
    pub covered: Vec<CString>,
    /// Descriptors that it keeps, by their numbers.
    pub kept: Vec<OwnedFd>,
    /// Through these it goes when it is started.
    pub doors: Vec<OwnedFd>,
}

/// A program with no network, no devices but a few, and no privileges, that dies with the thread that starts it.
#[expect(clippy::disallowed_methods, reason = "the one place where programs that build walls are started")]
pub fn confined(program: &Path, confined: Confined) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").process_group(0);
    let parent = rustix::process::getpid();
    let confine = move || {
        let Confined { user, covered, kept, doors } = &confined;
        for door in doors {
            rustix::io::retry_on_intr(|| rustix::io::write(door, b"0"))?;
        }
        for one in kept {
            fcntl_setfd(one, FdFlags::empty())?;
        }
        let apart = UnshareFlags::NEWNET | UnshareFlags::NEWIPC;
        match user {
            Some(user) => become_nobody(*user, covered, apart)?,
            None => unshare(apart | UnshareFlags::NEWUSER)?,
        }
        privileges::drop_all().map_err(system)?;
        privileges::never_gain().map_err(system)?;
        privileges::die_with_parent().map_err(system)?;
        // Whoever died before that tells nobody.
        if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: the closure makes system calls with what was prepared before: it allocates nothing and takes no lock.
    unsafe { command.pre_exec(confine) };
    command
}

fn system(failed: Failed) -> std::io::Error {
    failed.errno.into()
}

fn unshare(what: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: no descriptors are unshared, and the process has one thread after its fork.
    unsafe { unshare_unsafe(what) }
}

/// Devices that a program may need: name, numbers.
const DEVICES: [(&str, u32, u32); 5] = [
    ("/dev/null", 1, 3),
    ("/dev/zero", 1, 5),
    ("/dev/random", 1, 8),
    ("/dev/urandom", 1, 9),
    ("/dev/kvm", 10, 232),
];

/// Sees only what is not covered, and a few devices; then is somebody else.
fn become_nobody((user, group): (u32, u32), covered: &[CString], apart: UnshareFlags) -> std::io::Result<()> {
    unshare(apart | UnshareFlags::NEWNS | UnshareFlags::NEWUTS)?;
    mounts::keep_to_oneself().map_err(system)?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    for place in covered {
        let less = flags | MountFlags::NODEV | MountFlags::RDONLY;
        mount(c"tmpfs", place.as_c_str(), c"tmpfs", less, c"size=4096,mode=0755")?;
    }
    mount(c"tmpfs", c"/dev", c"tmpfs", flags, c"size=4096,mode=0755")?;
    for (place, major, minor) in DEVICES {
        let everybodys = Mode::from_raw_mode(0o666);
        mknodat(CWD, place, FileType::CharacterDevice, everybodys, makedev(major, minor))?;
        rustix::fs::chmod(place, everybodys)?;
    }
    privileges::clear_groups().map_err(system)?;
    privileges::become_user(user, group).map_err(system)?;
    // What can be gained is given up next, which needs a privilege itself.
    privileges::regain_kept().map_err(system)
}
