//! The backend `microvm` as the suite for all backends has it. Its machines are emulated.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{Backend, SandboxSpec};
use bailiwick_sandbox_microvm::{MicrovmBackend, Options};
use bailiwick_testkit::{Trial, has};
use bailiwick_testkit_sandbox::boxes;
use bailiwick_testkit_sandbox::conformance::{
    self, Claims, HostNetwork, ImageRoot, Kernel, Leases, MountOwner, OutOfMemory, Setup, Sleep, Snapshots,
    Subject,
};
use bailiwick_types::Tier;

use crate::place::{is_possible, machines_of, options, spec};

pub(crate) struct Microvm;

const CLAIMS: Claims = Claims {
    tier: Tier::MicroVm,
    priority: 100,
    user: 64_924,
    kernel: Kernel::Own,
    sleep: Sleep::FreesMemory,
    snapshots: Snapshots::Running,
    leases: Leases::Replaced,
    image_root: Some(ImageRoot::Scratch),
    mount_owner: MountOwner::OfTheMount,
    out_of_memory: OutOfMemory::EndsTheCommand,
    host_network: HostNetwork::Refused,
    deadline: Duration::from_secs(4),
    orphans: 2,
};

pub(crate) fn tests() -> Vec<Trial> {
    conformance::tests(None, &CLAIMS, || has("qemu", is_possible()).then_some(Microvm))
}

impl Subject for Microvm {
    fn claims(&self) -> Claims {
        CLAIMS
    }

    fn backend(&self, setup: Setup) -> Arc<dyn Backend> {
        let Setup { state, egress, images } = setup;
        Arc::new(MicrovmBackend::new(Options { egress, images, ..options(state) }))
    }

    fn spec(&self) -> SandboxSpec {
        spec()
    }

    fn kernels(&self, _state: &Path, owner: u32) -> Vec<i32> {
        machines_of(owner)
    }

    fn traces(&self, state: &Path, _owner: u32) -> Vec<String> {
        boxes(&state.join("microvm"))
    }

    /// A machine dies with its owner: nobody has to come for that.
    fn check_killed(&self, _state: &Path, owner: u32) {
        for machine in machines_of(owner) {
            let number = rustix::process::Pid::from_raw(machine).expect("a number");
            let flags = rustix::process::PidfdFlags::empty();
            // One that is gone by now has no handle.
            let Ok(handle) = rustix::process::pidfd_open(number, flags) else { continue };
            let mut waited = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
            let most = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
            assert_eq!(rustix::event::poll(&mut waited, Some(&most)).expect("waited"), 1, "it lives on");
        }
    }
}
