//! A container as the wall of a sandbox with an agent in it.

use std::sync::Arc;

use bailiwick_agent_host::{Account, Attended, Stand, Stood, Wall, carried, label, packs};
use bailiwick_sandbox::{Duplex, SandboxError, SandboxSpec, Snapshot};
use bailiwick_sys::cgroups::Group;
use bailiwick_types::SnapshotId;
use bollard::query_parameters::StatsOptions;
use futures_util::StreamExt as _;

use crate::backend::Inner;
use crate::container::Container;
use crate::stream::Silence;
use crate::{ID, create};

/// A container, and what belongs to it.
#[derive(Debug)]
pub(crate) struct Contained {
    backend: Arc<Inner>,
    container: Arc<Container>,
    group: Option<Group>,
    silence: Silence,
}

impl Contained {
    /// A container that stands.
    pub(crate) const fn new(
        backend: Arc<Inner>,
        container: Arc<Container>,
        group: Option<Group>,
        silence: Silence,
    ) -> Self {
        Self { backend, container, group, silence }
    }

    /// What the engine counts, where the files of the kernel are not to be seen.
    async fn told(&self) -> Account {
        let Container { engine, id, .. } = self.container.as_ref();
        let options = StatsOptions { stream: false, one_shot: true };
        let mut stats = Box::pin(engine.docker.stats(id, Some(options)));
        let asking = async { stats.next().await.transpose() };
        let Ok(Some(told)) = engine.ask("count for a container", asking).await else {
            return Account::default();
        };
        let cpu = told.cpu_stats.and_then(|cpu| cpu.cpu_usage).and_then(|usage| usage.total_usage);
        let memory = told.memory_stats.unwrap_or_default();
        Account {
            kills: None,
            cpu_us: cpu.map(|nanoseconds| nanoseconds / 1000),
            memory_peak: memory.max_usage.or(memory.usage),
        }
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        self.container.kill();
    }
}

impl Wall for Contained {
    fn backend(&self) -> &str {
        ID
    }

    fn why(&self) -> Option<String> {
        self.silence.get().cloned()
    }

    fn kill(&self) {
        self.container.kill();
    }

    async fn ended(&self) {
        self.container.ended().await;
    }

    async fn account(&self) -> Account {
        match &self.group {
            Some(group) => {
                Account { kills: group.kills(), cpu_us: group.cpu_us(), memory_peak: group.memory_peak() }
            }
            None => self.told().await,
        }
    }

    fn forget_peak(&self) {
        if let Some(group) = &self.group {
            group.forget_peak();
        }
    }

    async fn stand(&self, _: &Attended<Self>, how: Stand) -> Result<Stood, String> {
        let Container { engine, id, .. } = self.container.as_ref();
        let stood = match how {
            Stand::Still => engine.ask("pause a container", engine.docker.pause_container(id)).await,
            Stand::Going => engine.ask("let a container go on", engine.docker.unpause_container(id)).await,
        };
        stood.map(|()| Stood::ByWall).map_err(|error| error.to_string())
    }

    async fn connect(&self, attended: &Attended<Self>, port: u16) -> Result<Box<dyn Duplex>, SandboxError> {
        carried::connect(attended, port).await
    }

    fn stays(&self, _: &SandboxSpec) -> Option<String> {
        // Its root cannot be written to, and every other folder is one of its own.
        None
    }

    async fn snapshot(&self, attended: &Attended<Self>) -> Result<Snapshot, SandboxError> {
        let (now, random) = label::random()?;
        packs::pack(attended, &self.backend.snapshots(), SnapshotId::from_parts(now, &random)).await
    }

    fn forget(&self, snapshot: &Snapshot) -> Result<(), SandboxError> {
        packs::forget(&self.backend.snapshots(), snapshot)
    }

    async fn another(&self, spec: SandboxSpec) -> Result<Arc<Attended<Self>>, SandboxError> {
        create::create(&self.backend, spec).await
    }
}
