//! The runtime that the engine is told to use: what its name promises, what it was seen to be, and why it cannot be used.

use bailiwick_sandbox::{Demand, SandboxError};
use bailiwick_types::Tier;

use crate::ID;

/// Whose kernel a container runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// This machine's.
    Ours,
    /// One of its own, by the runtime.
    Own,
}

/// What the names of containerd's shims begin with: `io.containerd.kata.v2`.
const SHIM: &str = "io.containerd.";

/// What a runtime of this name is to be; nothing is claimed by it.
pub(crate) fn promised(runtime: Option<&str>) -> Tier {
    let name = runtime.and_then(|runtime| runtime.rsplit('/').next()).unwrap_or_default();
    match name.strip_prefix(SHIM).unwrap_or(name) {
        name if name.starts_with("runsc") => Tier::UserKernel,
        name if name.starts_with("kata") => Tier::MicroVm,
        _ => Tier::Container,
    }
}

/// The kernel that a container has to be planned for.
pub(crate) fn expected(runtime: Option<&str>) -> Kernel {
    if promised(runtime) == Tier::Container { Kernel::Ours } else { Kernel::Own }
}

/// How strong the wall is: a runtime that the operator named is more than a container only if the agent was seen to run on another
/// kernel than this machine's.
pub(crate) fn tier(runtime: Option<&str>, kernel: &str) -> Tier {
    let ours = rustix::system::uname().release().to_string_lossy().into_owned();
    tier_of(runtime, kernel, &ours)
}

fn tier_of(runtime: Option<&str>, kernel: &str, ours: &str) -> Tier {
    if kernel.is_empty() || kernel == ours {
        return Tier::Container;
    }
    promised(runtime)
}

/// Why a runtime that the operator named cannot be used, if that is what an engine's refusal is about.
pub(crate) fn unusable(runtime: Option<&str>, message: &str) -> Option<SandboxError> {
    let name = runtime?;
    let told = message.to_lowercase();
    let (reason, fix) = if told.contains("setting up network") {
        // Seen with kernel 6.18: gVisor takes every network for the machine's own and refuses it, likely by a file that is in each of them there.
        let reason =
            format!("the runtime `{name}` cannot set up a network of its own on this kernel: {message}");
        let fix = format!(
            "add `--network=none` to the `runtimeArgs` of `{name}` in the engine's settings (daemon.json) and start the engine \
             again: sandboxes reach what they may without it"
        );
        (reason, fix)
    } else if [
        "unknown runtime",
        "invalid runtime",
        "no such runtime",
        "runtime not found",
        "default oci runtime",
    ]
    .iter()
    .any(|words| told.contains(words))
    {
        let reason = format!("the engine has no runtime `{name}`: {message}");
        let fix = format!(
            "install it and name it in the engine's settings (daemon.json: `runtimes`), or change sandbox.container.runtime (`{name}`)"
        );
        (reason, fix)
    } else {
        return None;
    };
    Some(SandboxError::Unavailable { backend: ID.to_owned(), reason, fix: Some(fix) })
}

/// What would give a demand that a container of this runtime does not hold.
pub(crate) fn advice(demand: Demand, runtime: Option<&str>) -> Option<String> {
    let advice = match demand {
        Demand::Privilege => {
            let runtime = runtime.filter(|_| expected(runtime) == Kernel::Own)?;
            return Some(format!(
                "the engine starts the kernel of `{runtime}`, as root unless it runs without root itself: use such an engine, or the \
                 backend that needs none (gvisor, microvm), or say yes to it: sandbox.accept = [\"privilege\"]"
            ));
        }
        Demand::Files => "run as root, so that what the engine has mounted can be looked at",
        Demand::Memory | Demand::Cpu | Demand::Processes => {
            "let the engine hold cgroups that can be seen from here: one without root needs memory, cpu and pids delegated to its \
             user (systemd: Delegate=yes)"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

#[cfg(test)]
mod tests;
