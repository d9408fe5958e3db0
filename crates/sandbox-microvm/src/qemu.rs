//! The program QEMU: what it is told, and how it is started.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bailiwick_sys::cgroups::{Group, open_door};
use bailiwick_sys::packets;
use bailiwick_sys::program::{Confined, confined};
use bailiwick_wire::machine::WORD;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use sha2::{Digest as _, Sha256};

/// Whom QEMU is on the host: nobody.
pub(crate) const NOBODY: u32 = 64_925;
/// How many mebibytes QEMU may keep of code that it translated.
const TRANSLATED: u32 = 64;
/// The board of every machine: it has clocks by which a kernel finds its speed on a machine that is busy, which QEMU's own
/// `microvm` has not; and of everything else as little as there can be.
const BOARD: &str = "q35,sata=off,smbus=off,vmport=off,usb=off,graphics=off";
/// Folders at the top that QEMU needs: its libraries, and its own descriptors by number.
const NEEDED: [&str; 9] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "proc", "dev"];

/// How a machine's processor is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accelerator {
    /// By the host's own, through its kernel.
    Kvm,
    /// By a program.
    Emulated,
}

impl Accelerator {
    fn words(self) -> [String; 4] {
        let (how, processor) = match self {
            // Without what says which flaws it has not: some hosts offer that and refuse it, and a kernel that is not told is on guard.
            Self::Kvm => ("kvm".to_owned(), "host,arch-capabilities=off"),
            Self::Emulated => (format!("tcg,tb-size={TRANSLATED}"), "max"),
        };
        ["-accel".to_owned(), how, "-cpu".to_owned(), processor.to_owned()]
    }

    /// Its name in reports.
    pub(crate) const fn says(self) -> &'static str {
        match self {
            Self::Kvm => "KVM",
            Self::Emulated => "emulation (TCG)",
        }
    }
}

/// What every machine begins with, in memory: nothing of it has a name on the host.
#[derive(Debug)]
pub(crate) struct Begins {
    kernel: OwnedFd,
    initramfs: OwnedFd,
    /// The sum of both.
    pub(crate) sum: Vec<u8>,
}

impl Begins {
    /// Holds both.
    pub(crate) fn hold(kernel: &[u8], initramfs: &[u8]) -> std::io::Result<Self> {
        let sum = Sha256::new().chain_update(kernel).chain_update(initramfs).finalize().to_vec();
        Ok(Self { kernel: sealed("kernel", kernel)?, initramfs: sealed("initramfs", initramfs)?, sum })
    }
}

/// A file in memory that nobody can change any more.
fn sealed(name: &str, bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

/// How large a machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Mebibytes of memory.
    pub(crate) memory: u64,
    /// Processors.
    pub(crate) processors: u32,
}

/// What a machine is started with.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    /// What it is called: by its owner, so that what one left is found.
    pub(crate) name: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) accelerator: Accelerator,
    pub(crate) begins: &'a Begins,
    pub(crate) size: Size,
    pub(crate) group: &'a Group,
    pub(crate) as_root: bool,
    /// The memory that it goes on with.
    pub(crate) memory: Option<File>,
}

/// The host's ends of a machine's streams.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) agent: OwnedFd,
    pub(crate) files: OwnedFd,
    pub(crate) orders: OwnedFd,
    pub(crate) qmp: OwnedFd,
}

/// A program that is ready to be started, and our ends of its streams.
pub(crate) fn prepare(told: Told<'_>) -> Result<(Command, Ends), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let doors = told.group.doors().iter().map(|door| open_door(door)).collect::<Result<Vec<_>, _>>();
    let doors = doors.map_err(|failed| text(&failed))?;
    let mut kept = Vec::new();
    let mut pair = || -> Result<(OwnedFd, i32), String> {
        let (ours, theirs) = packets::stream_pair().map_err(|failed| text(&failed))?;
        let number = theirs.as_raw_fd();
        kept.push(theirs);
        Ok((ours, number))
    };
    let ((agent, agent_number), (files, files_number)) = (pair()?, pair()?);
    let ((orders, orders_number), (qmp, qmp_number)) = (pair()?, pair()?);
    let mut keep = |one: OwnedFd| {
        let number = one.as_raw_fd();
        kept.push(one);
        number
    };
    let again = |one: &OwnedFd| one.try_clone().map_err(|error| text(&error));
    let kernel = keep(again(&told.begins.kernel)?);
    let initramfs = keep(again(&told.begins.initramfs)?);
    let memory = told.memory.map(|file| keep(file.into()));
    let Size { memory: size, processors } = told.size;
    let mut words: Vec<String> = [
        "-name",
        told.name,
        "-nodefaults",
        "-no-user-config",
        "-nographic",
        "-no-reboot",
        "-machine",
        BOARD,
        // Its own filter: nothing is started, no privilege is gained, no resource of others is changed.
        "-sandbox",
        "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
    ]
    .map(str::to_owned)
    .to_vec();
    words.extend(told.accelerator.words());
    let mut say = |words_of: &[&str]| words.extend(words_of.iter().map(|word| (*word).to_owned()));
    say(&["-m", &format!("{size}M"), "-smp", &processors.to_string()]);
    say(&["-kernel", &format!("/proc/self/fd/{kernel}"), "-initrd", &format!("/proc/self/fd/{initramfs}")]);
    say(&["-append", &format!("console=ttyS0 quiet panic=-1 reboot=t -- {WORD}")]);
    say(&["-device", "virtio-serial-pci"]);
    let ports = [("agent", agent_number, 1), ("files", files_number, 2), ("orders", orders_number, 3)];
    for (name, number, port) in ports {
        say(&["-chardev", &format!("socket,id={name},fd={number}")]);
        say(&["-device", &format!("virtserialport,chardev={name},name={name},nr={port}")]);
    }
    say(&["-chardev", &format!("socket,id=qmp,fd={qmp_number}"), "-mon", "chardev=qmp,mode=control"]);
    say(&["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]);
    if let Some(memory) = memory {
        say(&["-incoming", &format!("fd:{memory}")]);
    }
    let user = told.as_root.then_some((NOBODY, NOBODY));
    let mut command = confined(told.program, Confined { user, covered: covered()?, kept, doors });
    command.args(words.into_iter().map(OsString::from));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok((command, Ends { agent, files, orders, qmp }))
}

/// Folders that QEMU sees empty: all at the top that it does not need.
fn covered() -> Result<Vec<CString>, String> {
    let mut covered = Vec::new();
    for place in unneeded().map_err(|error| format!("the host's root cannot be listed: {error}"))? {
        let place = CString::new(place.into_os_string().into_encoded_bytes());
        covered.push(place.map_err(|_| "a name in the host's root is none".to_owned())?);
    }
    Ok(covered)
}

/// Folders at the top that QEMU does not need.
pub(crate) fn unneeded() -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/")? {
        let entry = entry?;
        let is_needed = NEEDED.iter().any(|needed| entry.file_name() == *needed);
        if !is_needed && entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}
