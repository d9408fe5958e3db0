//! What each action asks of its caller's credentials. One table, looked at before anything else is done.
//!
//! Nothing that a credential with `call` alone can ask for widens a policy, changes a tool, answers for a person or
//! reads the record.

use bailiwick_types::{ErrorCode, Scope, Scopes};

use crate::{Action, Caller, Refusal};

/// What an action asks for: one of these scopes is enough; none are needed where there are none.
pub(crate) const fn needs(action: &Action) -> &'static [Scope] {
    match action {
        Action::Under | Action::Limits | Action::Watch => &[],
        // What a caller without `author` is shown of tools is what is published.
        Action::ToolList { .. } | Action::ToolShow { .. } => {
            &[Scope::Call, Scope::Author, Scope::Approve, Scope::Operate]
        }
        // What an agent does goes no further than the operator offers, and stays among what is its own.
        Action::ToolCall { .. }
        | Action::ToolOffered { .. }
        | Action::CodeCheck { .. }
        | Action::AgentUse(_) => &[Scope::Call],
        Action::CodeRun(run) => {
            if run.overrides.is_some() || run.profile.is_some() {
                &[Scope::Author]
            } else {
                &[Scope::Call]
            }
        }
        Action::ToolCheck { .. }
        | Action::ToolTry { live: false, .. }
        | Action::ToolPolicy { .. }
        | Action::ToolImport { .. }
        | Action::ToolReplace { .. }
        | Action::ToolExport { .. }
        | Action::ToolTest { live: false, .. }
        | Action::ToolPublish { .. }
        | Action::ToolPublishDocument { .. }
        | Action::ToolUnpublish { .. }
        | Action::ToolRemove { .. } => &[Scope::Author],
        Action::ApprovalList
        | Action::ApprovalAnswer { .. }
        | Action::ApprovalRemembered
        | Action::ApprovalForget { .. } => &[Scope::Approve],
        // Whoever may write what runs may run commands behind the operator's walls and bounds; each sees their own
        // sandboxes, and the operator all of them.
        Action::SecretList
        | Action::SandboxCreate(_)
        | Action::SandboxList
        | Action::SandboxShow { .. }
        | Action::SandboxExec(_)
        | Action::SandboxFiles { .. }
        | Action::SandboxSnapshot { .. }
        | Action::SnapshotList
        | Action::SnapshotForget { .. }
        | Action::SandboxHibernate { .. }
        | Action::SandboxResume { .. }
        | Action::SandboxFork { .. }
        | Action::SandboxStop { .. }
        | Action::SandboxDiff { .. }
        | Action::SandboxDiscard { .. }
        | Action::ImageList
        | Action::SandboxRemove { .. }
        | Action::SandboxExpose { .. }
        | Action::SandboxPorts { .. }
        | Action::ExecStart(_)
        | Action::ExecPoll { .. }
        | Action::ExecKill { .. }
        | Action::ExecList { .. } => &[Scope::Author, Scope::Operate],
        // What an agent wrote lands on the host: a person's yes, like any other.
        Action::SandboxCommit { .. } => &[Scope::Approve, Scope::Operate],
        // A live one reaches the world with what is secret, for code that nobody published yet.
        Action::ToolTry { live: true, .. }
        | Action::ToolTest { live: true, .. }
        | Action::KeyCreate(_)
        | Action::KeyList
        | Action::KeyRevoke { .. }
        | Action::RunBegins(_)
        | Action::RunEnded(_)
        | Action::ExecBegins(_)
        | Action::ImagePull { .. }
        | Action::ImageImport { .. }
        | Action::ImageRemove { .. }
        | Action::ExecEnded(_)
        | Action::AuditTail { .. }
        | Action::AuditPage { .. }
        | Action::AuditShow { .. }
        | Action::AuditVerify
        | Action::AuditExport { .. }
        | Action::AuditRetain { .. } => &[Scope::Operate],
    }
}

/// Refuses what the caller's credentials do not cover.
pub(crate) fn check(caller: &Caller, action: &Action) -> Result<(), Refusal> {
    let needs = needs(action);
    if needs.is_empty() || needs.iter().any(|scope| caller.scopes.covers(*scope)) {
        Ok(())
    } else {
        Err(lacking(caller.scopes, needs, &format!("`{}`", action.name())))
    }
}

/// What somebody is told whose credentials do not cover it.
pub(crate) fn lacking(has: Scopes, needs: &[Scope], what: &str) -> Refusal {
    let words: Vec<String> = needs.iter().map(|scope| format!("`{scope}`")).collect();
    let has = if has.is_empty() { "no scope".to_owned() } else { format!("`{has}`") };
    let message = format!("{what} needs the scope {}, and these credentials have {has}", words.join(" or "));
    Refusal::new(ErrorCode::Forbidden, message)
        .with_hint("use a key that has it: bailiwick key create NAME --scope …, or the operator's own key")
}

#[cfg(test)]
mod tests;
