//! Who makes machines: QEMU, or Firecracker. What each is told, and how streams lead to a machine of it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bailiwick_sys::cgroups::Group;
use sha2::{Digest as _, Sha256};

use crate::backend::{Choice, Options};
use crate::confinement::sealed;
use crate::doors::Doors;
use crate::{firecracker, initramfs, kernel, qemu, vmlinux};

/// Where a program is looked for that is given by its name.
const WHERE: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Who makes machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Monitor {
    Qemu,
    Firecracker,
}

impl Monitor {
    /// As the operator says, and where its program is. Where nobody says: Firecracker only where there is no QEMU. What can be kept, and
    /// what our tests have seen to run, comes first.
    pub(crate) fn choose(options: &Options) -> (Self, PathBuf) {
        let qemu = (Self::Qemu, found(&options.program));
        let firecracker = (Self::Firecracker, found(&options.firecracker));
        match options.monitor {
            Choice::Firecracker => firecracker,
            Choice::Auto if !qemu.1.is_file() && firecracker.1.is_file() => firecracker,
            Choice::Qemu | Choice::Auto => qemu,
        }
    }

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Qemu => "QEMU",
            Self::Firecracker => "Firecracker",
        }
    }

    /// What would help where its program is not there.
    pub(crate) const fn fix(self) -> &'static str {
        match self {
            Self::Qemu => {
                "install QEMU (Debian: qemu-system-x86), or set `sandbox.microvm.program` to where it is"
            }
            Self::Firecracker => {
                "set `sandbox.microvm.firecracker` to where Firecracker is, or `sandbox.microvm.monitor` to qemu"
            }
        }
    }

    /// How long its first machine on KVM may take until it stands. A kernel is unpacked for Firecracker before that.
    pub(crate) const fn first(self) -> Duration {
        match self {
            Self::Qemu => Duration::from_secs(7),
            Self::Firecracker => Duration::from_secs(5),
        }
    }

    /// Whether it keeps machines as they are.
    pub(crate) const fn keeps(self) -> bool {
        matches!(self, Self::Qemu)
    }

    /// Modules that a machine needs; those that are built in are left out.
    pub(crate) const fn modules(self) -> &'static [&'static str] {
        match self {
            Self::Qemu => &["virtio_pci", "virtio_console", "fuse", "overlay"],
            Self::Firecracker => &["virtio_mmio", "vmw_vsock_virtio_transport", "fuse", "overlay"],
        }
    }

    /// What machines of this kernel begin with.
    pub(crate) fn begins(self, kernel: &kernel::Kernel, agent: &[u8]) -> Result<Begins, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let initramfs = initramfs::of(agent, &kernel.modules).map_err(|error| text(&error))?;
        match self {
            Self::Qemu => Begins::hold(&kernel.image, &initramfs),
            Self::Firecracker => Begins::hold(&vmlinux::of(&kernel.image)?, &initramfs),
        }
        .map_err(|error| text(&error))
    }

    /// A program that is ready to be started, and our ends of its streams.
    pub(crate) fn prepare(self, told: Told<'_>) -> Result<(Command, Ends), String> {
        match self {
            Self::Qemu => qemu::prepare(told),
            Self::Firecracker => firecracker::prepare(&told),
        }
    }
}

fn found(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        return program.to_owned();
    }
    let places = WHERE.iter().map(|folder| Path::new(folder).join(program));
    places.into_iter().find(|place| place.is_file()).unwrap_or_else(|| program.to_owned())
}

/// How a machine's processor is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accelerator {
    /// By the host's own, through its kernel.
    Kvm,
    /// By a program.
    Emulated,
}

impl Accelerator {
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
    pub(crate) kernel: OwnedFd,
    pub(crate) initramfs: OwnedFd,
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
    /// Its own folder on the host.
    pub(crate) folder: &'a Path,
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
pub(crate) enum Ends {
    /// They are there.
    Held {
        agent: OwnedFd,
        files: OwnedFd,
        orders: OwnedFd,
        /// To the monitor itself.
        qmp: OwnedFd,
    },
    /// They come when the machine's first process asks for them.
    Doors(Doors),
}

#[cfg(test)]
mod tests;
