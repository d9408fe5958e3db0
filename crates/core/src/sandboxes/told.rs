//! What happens to sandboxes, told to whoever watches and may know of them, and counted.

use bailiwick_sandbox::{ExecResult, Exit};
use bailiwick_types::{KeyId, Scopes};
use serde::{Deserialize, Serialize};

use super::registry::{One, is_visible};
use super::view::{SandboxLine, line_without};
use crate::{Core, Happening, Refusal};

/// Something that was done to a sandbox that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxChange {
    /// What was done, as the record calls it: `sandbox.create`, `exec`.
    pub action: String,
    /// The sandbox afterwards.
    pub sandbox: SandboxLine,
    /// What a command ended with, as a shell would tell it.
    pub exit_status: Option<i32>,
    /// The key of whoever made it. It stays in this process.
    #[serde(skip)]
    pub key: Option<KeyId>,
}

impl SandboxChange {
    /// Whether somebody with these may know of it: whoever made it, and the operator.
    pub fn is_for(&self, scopes: Scopes, key: Option<KeyId>) -> bool {
        is_visible(self.key, key, scopes)
    }
}

impl Core {
    /// Tells what was done to a sandbox; `by` so many uses, which are over.
    pub(crate) fn tell_sandbox(&self, action: &str, one: &One, by: u32, exit_status: Option<i32>) {
        // What a line takes is not worth it for nobody.
        if self.watchers() > 0 {
            let (action, sandbox) = (action.to_owned(), line_without(one, by));
            self.tell(Happening::Sandbox(SandboxChange { action, sandbox, exit_status, key: one.key }));
        }
    }
}

/// Counts a sandbox that was made, for one command or to be kept.
pub(crate) fn made(backend: &str) {
    metrics::counter!("bailiwick_sandboxes_made_total", "backend" => backend.to_owned()).increment(1);
}

/// So many sandboxes are kept.
pub(crate) fn kept(count: usize) {
    metrics::gauge!("bailiwick_sandboxes_kept").set(f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
}

/// Counts how a command ended.
pub(crate) fn ended(result: &Result<ExecResult, Refusal>) {
    let end = match result {
        Err(_) => "refused",
        Ok(result) if result.timed_out => "timeout",
        Ok(result) if result.oom => "oom",
        Ok(result) => match result.exit {
            Exit::Code(0) => "success",
            Exit::Code(_) => "failure",
            Exit::Signal(_) => "signal",
            Exit::NotFound | Exit::NotExecutable => "not-started",
        },
    };
    metrics::counter!("bailiwick_execs_total", "end" => end).increment(1);
}
