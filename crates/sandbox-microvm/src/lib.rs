//! The backend `microvm`: one machine for each sandbox, by QEMU or Firecracker, with a kernel of the host's and our agent as its first
//! process.
//!
//! A machine has no disk and no network: three streams lead out of it, to the host that started it. Over the first one its agent is
//! talked to; over the second one its kernel asks for files of the host, which `served` answers; over the third one its first process
//! gets orders. The monitor itself is nobody, sees no file of anybody's, and runs behind its own filter, in our cgroups. What the agent says
//! of its place is believed once, before anything of a guest ran; the rest is looked at from outside. This crate decides nothing: it
//! gets demands, and holds all of them or refuses.
//!
//! Start reading at `create` (a sandbox in its order), then `plan` (what is in its root), `monitor` with `qemu` and `firecracker` (the
//! programs), `attendant` and `doors` (the thread that stands by one, and how streams come), `vmlinux` (a kernel, unpacked), `served` (files), `wall` and `life` (what becomes of it), `kept` (snapshots).

mod attendant;
mod backend;
mod confinement;
mod create;
mod doors;
mod firecracker;
mod initramfs;
mod kept;
mod kernel;
mod life;
mod monitor;
mod orders;
mod outside;
mod plan;
mod probe;
mod qemu;
mod qmp;
mod ready;
mod report;
mod said;
mod served;
mod verdict;
mod vmlinux;
mod wall;

pub use backend::{Choice, Emulation, MicrovmBackend, Options};

/// The name of this backend.
pub(crate) const ID: &str = "microvm";

/// A step that failed.
pub(crate) fn failed(step: &str, why: &dyn std::fmt::Display) -> bailiwick_sandbox::SandboxError {
    bailiwick_sandbox::SandboxError::Failed { step: step.to_owned(), reason: why.to_string() }
}

/// What is not offered.
pub(crate) fn unsupported(what: impl Into<String>) -> bailiwick_sandbox::SandboxError {
    bailiwick_sandbox::SandboxError::Unsupported { backend: ID.to_owned(), what: what.into() }
}

/// Why there is no sandbox to be had, and what would help.
pub(crate) fn unavailable(reason: impl Into<String>, fix: &str) -> bailiwick_sandbox::SandboxError {
    let (reason, fix) = (reason.into(), Some(fix.to_owned()));
    bailiwick_sandbox::SandboxError::Unavailable { backend: ID.to_owned(), reason, fix }
}
