//! The backend `process` as the suite for all backends has it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::Backend;
use bailiwick_sandbox_process::{Options, ProcessBackend};
use bailiwick_testkit::Trial;
use bailiwick_testkit_sandbox::conformance::{
    self, Claims, HostNetwork, ImageRoot, Kernel, Leases, MountOwner, OutOfMemory, Setup, Sleep, Snapshots,
    Subject,
};
use bailiwick_types::Tier;

pub(crate) struct Process;

const CLAIMS: Claims = Claims {
    tier: Tier::Process,
    priority: 10,
    user: 1000,
    kernel: Kernel::Host,
    sleep: Sleep::StandsStill,
    snapshots: Snapshots::Files,
    leases: Leases::PutBack,
    image_root: Some(ImageRoot::Scratch),
    mount_owner: MountOwner::OfTheMount,
    out_of_memory: OutOfMemory::EndsTheCommand,
    host_network: HostNetwork::Allowed,
    deadline: Duration::from_millis(700),
    orphans: 3,
};

pub(crate) fn tests() -> Vec<Trial> {
    conformance::tests(None, &CLAIMS, || Some(Process))
}

impl Subject for Process {
    fn claims(&self) -> Claims {
        CLAIMS
    }

    fn backend(&self, setup: Setup) -> Arc<dyn Backend> {
        let Setup { state, egress, images } = setup;
        Arc::new(ProcessBackend::new(Options { egress, images, ..Options::new(state) }))
    }

    /// What its sandboxes have outside of memory.
    fn traces(&self, state: &Path, _owner: u32) -> Vec<String> {
        let entries = std::fs::read_dir(state.join("scratch")).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path().display().to_string()).collect()
    }
}
