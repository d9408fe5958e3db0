//! Which directory a call of a tool has for its files: the tool's own, or the one of a name that the call gives.
//!
//! A named workspace is private to its caller. Only the names that the operator lists in `fs.sharedWorkspaces` mean the
//! same directory for every caller. The plain name is the operator's own directory, and the shared one; everybody else's
//! directory has the caller's name behind a `.`, which no name of a workspace can hold.

use bailiwick_runtime::WorkspaceName;
use bailiwick_tool::Hash;
use bailiwick_types::{ErrorCode, ToolId};

use super::CODE_WORKSPACE;
use crate::keys::OPERATOR;
use crate::{Caller, Core, Origin, Refusal};

/// How many characters of a token's hashed subject name its directory: 128 bits.
const SUBJECT: usize = 32;

/// The directory of a call: the tool's own, which goes by its id and so stays through a rename, or the one that is named.
pub(super) fn of(
    core: &Core,
    caller: &Caller,
    id: ToolId,
    name: Option<&str>,
) -> Result<WorkspaceName, Refusal> {
    match name {
        None => WorkspaceName::parse(&id.to_string()).map_err(|error| wrong(error.to_string())),
        Some(name) => named(core, caller, name),
    }
}

/// The directory that a caller means by a name.
pub(super) fn named(core: &Core, caller: &Caller, name: &str) -> Result<WorkspaceName, Refusal> {
    if ToolId::parse(name).is_ok() || name.starts_with(CODE_WORKSPACE) {
        return Err(wrong(
            "a workspace that a call names is not named like that of a tool or of a run of code".to_owned(),
        ));
    }
    let directory = WorkspaceName::parse(name).map_err(|error| wrong(error.to_string()))?;
    if core.inner.world.settings.shared_workspaces.iter().any(|shared| shared == name) {
        return Ok(directory);
    }
    match owner(caller) {
        None => Ok(directory),
        Some(owner) => {
            let owner = WorkspaceName::parse(&owner).map_err(|_| Refusal::internal("a workspace"))?;
            Ok(directory.of(&owner))
        }
    }
}

/// Whose directories a caller's are; none for the operator, by their own user or by `operator.key`.
fn owner(caller: &Caller) -> Option<String> {
    match (caller.key, caller.actor.key.as_deref(), caller.origin) {
        (Some(_), Some(OPERATOR), _) | (None, None, Origin::Typed) => None,
        (Some(key), _, _) => Some(format!("key-{key}")),
        (None, Some(subject), _) => {
            let hash: String = Hash::of_bytes(subject.as_bytes()).to_string().chars().take(SUBJECT).collect();
            Some(format!("token-{hash}"))
        }
        (None, None, Origin::Wire) => Some("keyless".to_owned()),
    }
}

fn wrong(message: String) -> Refusal {
    Refusal::new(ErrorCode::InvalidInput, message).with_hint("name it like report-42")
}
