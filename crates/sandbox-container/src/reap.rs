//! What dead owners left: containers are labelled with who owns them, and those whose owner is gone are removed. So are those of this
//! process that an engine could not remove when it was asked. An owner is looked at as a process, where that is numbered as this one
//! is, and by the file that it holds, where that is in this folder. One that can be looked at in neither way may live, and is left alone.

use std::collections::HashMap;
use std::path::Path;
use std::sync::PoisonError;

use bailiwick_agent_host::label;
use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptions;

use crate::container::{LeftOver, remove};
use crate::engine::{Engine, EngineError};
use crate::owner;

/// The label that says who owns a container.
pub(crate) const OWNER: &str = "bailiwick.owner";
/// The label that says where its owner is a process: a number means another one elsewhere.
pub(crate) const WHERE: &str = "bailiwick.where";
/// The label with the name of the file that its owner holds.
pub(crate) const HELD: &str = "bailiwick.held";
/// The label with the id of the sandbox.
pub(crate) const SANDBOX: &str = "bailiwick.sandbox";

/// Where the processes of this one are numbered: this start of this machine, and its namespace of processes.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, of one line")]
pub(crate) fn place() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), space.display())
}

/// The containers with this label.
async fn list(engine: &Engine, label: String) -> Result<Vec<ContainerSummary>, EngineError> {
    let filters = HashMap::from([("label".to_owned(), vec![label])]);
    let options =
        ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
    engine.ask("list containers", engine.docker.list_containers(Some(options))).await
}

fn label_of<'a>(container: &'a ContainerSummary, label: &str) -> &'a str {
    container.labels.as_ref().and_then(|labels| labels.get(label)).map_or("", String::as_str)
}

/// Removes what dead owners left, and what could not be removed before.
pub(crate) async fn reap(engine: &Engine, state: &Path, left: &LeftOver) -> Result<(), EngineError> {
    let ours = std::mem::take(&mut *left.lock().unwrap_or_else(PoisonError::into_inner));
    for id in ours {
        if let Err(error) = remove(engine, &id).await {
            left.lock().unwrap_or_else(PoisonError::into_inner).push(id);
            return Err(error);
        }
    }
    for container in list(engine, format!("{WHERE}={}", place())).await? {
        if label::is_left(label_of(&container, OWNER))
            && let Some(id) = container.id
        {
            remove(engine, &id).await?;
        }
    }
    for name in owner::all(state) {
        let gone = match owner::left(state, &name) {
            Ok(Some(gone)) => gone,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(%error, owner = name, "an owner of containers cannot be looked at");
                continue;
            }
        };
        for container in list(engine, format!("{HELD}={name}")).await? {
            if let Some(id) = container.id {
                remove(engine, &id).await?;
            }
        }
        if let Err(error) = gone.remove() {
            tracing::warn!(%error, owner = name, "the file of an owner that is gone stays until the next start");
        }
    }
    Ok(())
}

/// How many containers there are whose owners cannot be looked at from here.
pub(crate) async fn unknown(engine: &Engine, state: &Path) -> Result<usize, EngineError> {
    let (here, known) = (place(), owner::all(state));
    let is_known = |container: &ContainerSummary| {
        label_of(container, WHERE) == here || known.iter().any(|name| label_of(container, HELD) == name)
    };
    Ok(list(engine, OWNER.to_owned()).await?.iter().filter(|container| !is_known(container)).count())
}
