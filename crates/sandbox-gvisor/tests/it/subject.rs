//! The backend `gvisor` as the suite for all backends has it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::Backend;
use bailiwick_sandbox_gvisor::{GvisorBackend, Options};
use bailiwick_testkit::{Trial, has};
use bailiwick_testkit_sandbox::boxes;
use bailiwick_testkit_sandbox::conformance::{
    self, Claims, HostNetwork, ImageRoot, Kernel, Leases, MountOwner, OutOfMemory, Setup, Sleep, Snapshots,
    Subject,
};
use bailiwick_types::Tier;

use crate::place::{is_possible, processes_with};

pub(crate) struct Gvisor;

const CLAIMS: Claims = Claims {
    tier: Tier::UserKernel,
    priority: 60,
    user: 64_924,
    kernel: Kernel::Own,
    sleep: Sleep::FreesMemory,
    snapshots: Snapshots::Running,
    leases: Leases::Replaced,
    image_root: Some(ImageRoot::ReadOnly),
    mount_owner: MountOwner::OfTheMount,
    // It is the sandbox's own kernel that the host's has to end.
    out_of_memory: OutOfMemory::EndsTheSandbox,
    host_network: HostNetwork::Refused,
    deadline: Duration::from_millis(700),
    orphans: 3,
};

pub(crate) fn tests() -> Vec<Trial> {
    conformance::tests(None, &CLAIMS, || has("gvisor", is_possible()).then_some(Gvisor))
}

impl Subject for Gvisor {
    fn claims(&self) -> Claims {
        CLAIMS
    }

    fn backend(&self, setup: Setup) -> Arc<dyn Backend> {
        let Setup { state, egress, images } = setup;
        Arc::new(GvisorBackend::new(Options { egress, images, ..Options::new(state) }))
    }

    fn kernels(&self, state: &Path, _owner: u32) -> Vec<i32> {
        processes_with(&state.join("gvisor").display().to_string())
    }

    fn traces(&self, state: &Path, _owner: u32) -> Vec<String> {
        boxes(&state.join("gvisor"))
    }
}
