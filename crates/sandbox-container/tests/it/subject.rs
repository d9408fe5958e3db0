//! The backend `container` as the suite for all backends has it: once by Docker, once by Podman.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::Backend;
use bailiwick_sandbox_container::{ContainerBackend, Options};
use bailiwick_testkit::Trial;
use bailiwick_testkit_sandbox::conformance::{
    self, Claims, HostNetwork, Kernel, Leases, MountOwner, OutOfMemory, Setup, Sleep, Snapshots, Subject,
};
use bailiwick_types::Tier;

use crate::engines::{Engine, ask, docker, podman};
use crate::owners::comes_to;

pub(crate) struct Container(pub(crate) Engine);

const CLAIMS: Claims = Claims {
    tier: Tier::Container,
    priority: 50,
    user: 64_924,
    kernel: Kernel::Host,
    sleep: Sleep::StandsStill,
    snapshots: Snapshots::Files,
    leases: Leases::PutBack,
    // Images are the engine's, and have tests of their own.
    image_root: None,
    mount_owner: MountOwner::OfTheSandbox,
    out_of_memory: OutOfMemory::EndsTheCommand,
    host_network: HostNetwork::Allowed,
    deadline: Duration::from_millis(700),
    orphans: 4,
};

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = conformance::tests(Some("docker"), &CLAIMS, || docker().map(Container));
    tests.extend(conformance::tests(Some("podman"), &CLAIMS, || podman().map(Container)));
    tests
}

impl Container {
    /// The one that an owner was told of.
    pub(crate) fn told(told: &mut dyn Iterator<Item = String>) -> Self {
        Self(Engine::Docker(PathBuf::from(told.next().expect("a socket"))))
    }
}

impl Subject for Container {
    fn claims(&self) -> Claims {
        match self.0 {
            Engine::Docker(_) => CLAIMS,
            // Podman's directories are not the sandbox's own to put back.
            Engine::Own(_) => Claims { leases: Leases::Replaced, ..CLAIMS },
        }
    }

    fn backend(&self, setup: Setup) -> Arc<dyn Backend> {
        let Setup { state, egress, .. } = setup;
        let socket = Some(self.0.socket());
        Arc::new(ContainerBackend::new(Options { egress, socket, ..Options::new(state) }))
    }

    /// Containers, by the file that their owner holds; and what they were lent.
    fn traces(&self, state: &Path, _owner: u32) -> Vec<String> {
        let names = |folder: &str| {
            let entries = std::fs::read_dir(state.join(folder)).into_iter().flatten().filter_map(Result::ok);
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let containers = names("owners").into_iter().flat_map(|held| {
            let filter = format!("label=bailiwick.held={held}");
            let listed = ask(&self.0, &["ps", "-aq", "--filter", &filter]);
            listed.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        containers.chain(names("lent")).collect()
    }

    fn told(&self) -> Vec<String> {
        vec![self.0.socket().display().to_string()]
    }

    /// Those that are awake end with their streams; those that sleep are still there.
    fn check_killed(&self, _state: &Path, owner: u32) {
        let of_the_owner = format!("name=bailiwick-sandbox-{owner}-");
        comes_to(|| ask(&self.0, &["ps", "-aq", "--filter", &of_the_owner]).lines().count(), 2);
    }
}
