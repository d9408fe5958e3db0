//! What dead owners left: containers are labelled with who owns them, and those whose owner is gone are removed. So are those of this
//! process that an engine could not remove when it was asked. An owner is looked at as a process, where that is numbered as this one
//! is, and by the file that it holds, where that is in this folder. One that can be looked at in neither way may live, and is left alone.

use std::path::Path;
use std::sync::PoisonError;

use bailiwick_agent_host::label;

use crate::container::{LeftOver, remove};
use crate::engine::{Engine, EngineError};
use crate::listed::{Listed, list};
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

/// Removes what dead owners left, and what could not be removed before.
pub(crate) async fn reap(engine: &Engine, state: &Path, left: &LeftOver) -> Result<(), EngineError> {
    let ours = std::mem::take(&mut *left.lock().unwrap_or_else(PoisonError::into_inner));
    for id in ours {
        if let Err(error) = remove(engine, &id).await {
            left.lock().unwrap_or_else(PoisonError::into_inner).push(id);
            return Err(error);
        }
    }
    for container in list(engine, &format!("{WHERE}={}", place())).await? {
        if label::is_left(container.label(OWNER)) {
            remove(engine, &container.id).await?;
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
        for container in list(engine, &format!("{HELD}={name}")).await? {
            remove(engine, &container.id).await?;
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
    let is_known = |container: &Listed| {
        container.label(WHERE) == here || known.iter().any(|name| container.label(HELD) == name)
    };
    Ok(list(engine, OWNER).await?.iter().filter(|container| !is_known(container)).count())
}
