//! What dead owners left: containers are labelled with who owns them, and those whose owner is gone are removed. So are those of this
//! process that an engine could not remove when it was asked.

use std::collections::HashMap;
use std::sync::PoisonError;

use bailiwick_agent_host::label;
use bollard::query_parameters::ListContainersOptions;

use crate::container::{LeftOver, remove};
use crate::engine::{Engine, EngineError};

/// The label that says who owns a container.
pub(crate) const OWNER: &str = "bailiwick.owner";
/// The label that says where its owner is a process: a number means another one elsewhere.
pub(crate) const WHERE: &str = "bailiwick.where";
/// The label with the id of the sandbox.
pub(crate) const SANDBOX: &str = "bailiwick.sandbox";

/// Where the processes of this one are numbered: this start of this machine, and its namespace of processes.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, of one line")]
pub(crate) fn place() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), space.display())
}

/// Removes what dead owners left, and what could not be removed before.
pub(crate) async fn reap(engine: &Engine, left: &LeftOver) -> Result<(), EngineError> {
    let ours = std::mem::take(&mut *left.lock().unwrap_or_else(PoisonError::into_inner));
    for id in ours {
        if let Err(error) = remove(engine, &id).await {
            left.lock().unwrap_or_else(PoisonError::into_inner).push(id);
            return Err(error);
        }
    }
    let labelled = vec![format!("{WHERE}={}", place())];
    let filters = HashMap::from([("label".to_owned(), labelled)]);
    let options =
        ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
    let found = engine.ask("list containers", engine.docker.list_containers(Some(options))).await?;
    for container in found {
        let owner = container.labels.unwrap_or_default().remove(OWNER).unwrap_or_default();
        if let Some(id) = container.id.filter(|_| label::is_left(&owner)) {
            remove(engine, &id).await?;
        }
    }
    Ok(())
}
