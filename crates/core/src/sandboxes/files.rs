//! Files of a kept sandbox: read, written, listed and removed, within bounds.

use std::time::Duration;

use bailiwick_sandbox::{SandboxError, SandboxPath};
use bailiwick_types::{ErrorCode, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::actions::On;
use super::wish::InputBytes;
use crate::core::OpenCall;
use crate::{Caller, Core, Refusal, Reply};

/// How long one step may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// The most bytes of one file that are handed over at once.
pub(crate) const MOST: u64 = 32 << 20;

/// What is to be done with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FileWish {
    /// Gives its bytes.
    Read {
        /// Which.
        path: SandboxPath,
    },
    /// Writes it, and the folders above it that are missing.
    Write {
        /// Which.
        path: SandboxPath,
        /// What is to be in it.
        bytes: InputBytes,
        /// Whether it can be run.
        executable: bool,
    },
    /// Gives what is in a folder.
    List {
        /// Which.
        path: SandboxPath,
    },
    /// Removes it, or a folder with all that is in it.
    Remove {
        /// Which.
        path: SandboxPath,
    },
}

impl FileWish {
    /// Whether it changes nothing.
    pub const fn only_reads(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::List { .. })
    }
}

/// Does something with a file.
pub(crate) async fn files(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    wish: FileWish,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    files_on(&On::find(core, caller, sandbox)?, wish, open).await
}

/// Does something with a file of a sandbox that was found. What an agent reads is on the record, too.
pub(crate) async fn files_on(on: &On<'_>, wish: FileWish, open: &OpenCall) -> Result<Reply, Refusal> {
    let inside = on.sandbox();
    match wish {
        FileWish::Read { path } => {
            let reading = async {
                let bytes = in_time(inside.read_file(&path, MOST)).await?;
                let told = json!({"ok": true, "bytes": bytes.len()});
                Ok((Reply::FileBytes(InputBytes::new(bytes)), told, None))
            };
            looked(on, open, "sandbox.read", json!({"path": path}), reading).await
        }
        FileWish::List { path } => {
            let listing = async {
                let entries = in_time(inside.list(&path)).await?;
                let told = json!({"ok": true, "entries": entries.len()});
                Ok((Reply::FileEntries(entries), told, None))
            };
            looked(on, open, "sandbox.list-files", json!({"path": path}), listing).await
        }
        FileWish::Write { path, bytes, executable } => {
            let bytes = bytes.into_bytes();
            let length = bytes.len() as u64;
            if length > MOST {
                let message = format!("a file of {length} bytes is more than {MOST}, the most at once");
                return Err(
                    Refusal::new(ErrorCode::InvalidInput, message).with_hint("mount its folder instead")
                );
            }
            let arguments = json!({"path": path, "bytes": length, "executable": executable});
            let written = in_time(inside.write_file(&path, bytes, executable));
            on.note(open, "sandbox.write", arguments, written).await
        }
        FileWish::Remove { path } => {
            let removed = in_time(inside.remove(&path));
            on.note(open, "sandbox.remove-file", json!({"path": path}), removed).await
        }
    }
}

/// Looks at something; on the record where an agent does.
async fn looked(
    on: &On<'_>,
    open: &OpenCall,
    action: &'static str,
    arguments: Value,
    looking: impl Future<Output = Result<(Reply, Value, Option<Usage>), Refusal>>,
) -> Result<Reply, Refusal> {
    if on.is_by_agent() {
        return on.noted(open, action, arguments, looking).await;
    }
    looking.await.map(|(reply, ..)| reply)
}

/// Waits for a step no longer than anybody would: a command inside may be in the way of it.
async fn in_time<T>(doing: impl Future<Output = Result<T, SandboxError>>) -> Result<T, Refusal> {
    let Ok(done) = tokio::time::timeout(PATIENCE, doing).await else {
        let message = format!("the sandbox did not answer within {} seconds", PATIENCE.as_secs());
        return Err(Refusal::new(ErrorCode::Timeout, message)
            .with_hint("end what runs in it: bailiwick sandbox stop ID"));
    };
    Ok(done?)
}
