//! The program Firecracker: what it is told, and how it is started.
//!
//! It is told everything at once, by a file in memory, in the bodies that its API has for the same; so there is no API to talk to while
//! a machine runs (`--no-api`). What a machine has is a processor, memory, a console of which only the end is kept, and virtual sockets.

use std::process::Command;

use bailiwick_wire::machine::{BY_SOCKETS, WORD};
use rustix::fs::{Mode, OFlags};
use serde::Serialize;

use crate::confinement::{self, Keeps, NOBODY, sealed};
use crate::doors::Doors;
use crate::monitor::{Ends, Size, Told};

/// The number of a machine among virtual sockets: the first that one may have. No other machine is reached by it.
const GUEST: u32 = 3;
/// What the kernel is told. It has no bus to look for devices on, and starting anew is how it ends.
const KERNELS: &str = "console=ttyS0 quiet panic=-1 reboot=k pci=off";

/// Everything that Firecracker is told of a machine.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Configuration {
    boot_source: BootSource,
    /// There is no disk, which has to be said.
    drives: [Never; 0],
    machine_config: MachineConfig,
    vsock: Vsock,
}

/// What no machine has.
#[derive(Debug, Serialize)]
enum Never {}

/// With what a machine begins.
#[derive(Debug, Serialize)]
struct BootSource {
    kernel_image_path: String,
    initrd_path: String,
    boot_args: String,
}

/// How large it is.
#[derive(Debug, Serialize)]
struct MachineConfig {
    vcpu_count: u32,
    mem_size_mib: u64,
    smt: bool,
}

/// Its virtual sockets.
#[derive(Debug, Serialize)]
struct Vsock {
    guest_cid: u32,
    uds_path: String,
}

/// What Firecracker is told of a machine with a kernel and first files at these numbers, whose sockets have this name.
pub(crate) fn configuration(kernel: i32, initramfs: i32, sockets: String, size: Size) -> Configuration {
    let held = |number: i32| format!("/proc/self/fd/{number}");
    Configuration {
        boot_source: BootSource {
            kernel_image_path: held(kernel),
            initrd_path: held(initramfs),
            boot_args: format!("{KERNELS} -- {WORD} {BY_SOCKETS}"),
        },
        drives: [],
        machine_config: MachineConfig {
            vcpu_count: size.processors,
            mem_size_mib: size.memory,
            // Its processors are threads of the host, and not told to share anything.
            smt: false,
        },
        vsock: Vsock { guest_cid: GUEST, uds_path: sockets },
    }
}

/// A program that is ready to be started, and the doors that its machine comes to.
pub(crate) fn prepare(told: &Told<'_>) -> Result<(Command, Ends), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    if told.memory.is_some() {
        return Err("a machine of Firecracker is not kept".to_owned());
    }
    let user = told.as_root.then_some((NOBODY, NOBODY));
    let doors = Doors::open(told.folder.join("doors"), user).map_err(|error| text(&error))?;
    let mut keeps = Keeps::default();
    // It may be in a folder that it does not see itself, so it is started by what is held of it.
    let program = rustix::fs::open(told.program, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let program = keeps.keep(program.map_err(|errno| format!("{}: {errno}", told.program.display()))?);
    let kernel = keeps.keep(told.begins.kernel.try_clone().map_err(|error| text(&error))?);
    let initramfs = keeps.keep(told.begins.initramfs.try_clone().map_err(|error| text(&error))?);
    let place = keeps.keep(doors.place().map_err(|error| text(&error))?);
    let configuration = configuration(kernel, initramfs, Doors::name(place), told.size);
    let configuration = serde_json::to_vec(&configuration).map_err(|error| text(&error))?;
    let configuration = sealed("configuration", &configuration).map_err(|error| text(&error))?;
    let configuration = keeps.keep(configuration);
    let words = ["--id", told.name, "--no-api", "--config-file"].map(str::to_owned);
    let words = words.into_iter().chain([format!("/proc/self/fd/{configuration}")]);
    let program = format!("/proc/self/fd/{program}");
    let command = confinement::command(program.as_ref(), words, keeps, told.group, told.as_root)?;
    Ok((command, Ends::Doors(doors)))
}

#[cfg(test)]
mod tests;
