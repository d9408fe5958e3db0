//! Whether what an agent asks for may be done: its badge, the operator's ceiling, and a person where one has to be asked.
//! Anything but an explicit yes is a no, and nothing is begun before it.

use bailiwick_sandbox::SandboxSpec;
use bailiwick_store::Durability;
use bailiwick_tool::Hash;
use bailiwick_types::{ErrorCode, Risk};
use serde_json::{Value, json};

use super::AgentTool;
use super::shown::Shown;
use crate::approvals::Subject;
use crate::journal::told;
use crate::pipeline::approval::{self, Asked};
use crate::pipeline::bounded_for;
use crate::sandboxes::record::{Noted, masked, spec_told};
use crate::{Core, Question, Refusal};

/// Lets a call go on, or refuses it on the record. Who said yes is told with what is done.
pub(super) async fn judge(
    noted: &mut Noted<'_>,
    tool: AgentTool,
    (spec, risk): (&SandboxSpec, Risk),
    shown: Shown,
) -> Result<(), Refusal> {
    let core = noted.core;
    let Shown { whole, told: arguments, code } = shown;
    let (whole, arguments) = (masked(core, whole), masked(core, arguments));
    noted.about.tool = Some(tool.name());
    noted.about.risk = Some(risk.clone());
    let ceiling = core.inner.world.baseline().ceilings.risk;
    if risk.level > ceiling {
        let message = format!("`{}` is {}, and the operator's ceiling is {ceiling}", tool.name(), risk.level);
        let refusal = Refusal::new(ErrorCode::Forbidden, message)
            .with_hint("the operator narrows [mcp.sandbox], or raises `ceilings.risk`");
        return noted.refused(arguments, refusal).await;
    }
    if !asks(core, tool, &risk) {
        return Ok(());
    }
    let question = Question {
        tool: tool.name().to_owned(),
        hash: Some(Hash::of_bytes(json!([whole, code]).to_string().as_bytes()).to_string()),
        policy_hash: Hash::of_bytes(spec_told(spec).to_string().as_bytes()).to_string(),
        call_id: noted.call_id,
        prompt: None,
        risk,
        code,
        arguments: whole,
        workspace: None,
        actor: noted.caller.actor.clone(),
        correlation_id: noted.correlation.clone(),
        effect: None,
        deadline_ms: core.inner.world.settings.approvals.deadline_ms,
    };
    put(noted, arguments, question).await
}

fn asks(core: &Core, tool: AgentTool, risk: &Risk) -> bool {
    let settings = &core.inner.world.settings;
    let named = |listed: &[String]| listed.iter().any(|name| name == tool.name());
    risk.level >= settings.approvals.auto_from
        || named(&settings.mcp.ask)
        || named(&settings.approvals.required)
}

async fn put(noted: &mut Noted<'_>, arguments: Value, question: Question) -> Result<(), Refusal> {
    let core = noted.core;
    let mut entry = noted.entry();
    entry.arguments = Some(bounded_for(noted.caller, &arguments));
    // Whoever goes away from here on leaves an outcome, and whoever closes the record waits for it.
    noted.open.begin(entry.clone());
    let until_told = core.inner.late.token();
    let subject = Subject { caller: noted.caller, tool: None, bound: None };
    let asked = approval::put(core, &subject, question, &entry).await;
    noted.open.take();
    drop(until_told);
    match asked {
        Ok(Asked::NotNeeded) => Ok(()),
        // What the operator says is read once and a sandbox does not change: what was said yes to is what is done.
        Ok(Asked::Yes(decision)) => {
            noted.about.approval = Some(decision);
            match core.still_holds(noted.caller) {
                Ok(()) => Ok(()),
                Err(refusal) => noted.refused(arguments, refusal).await,
            }
        }
        Ok(Asked::No(decision, failure)) => {
            let outcome = json!({"ok": false, "code": failure.code, "message": failure.message});
            entry.approval = Some(decision);
            core.append(told(entry, outcome), Durability::Machine).await?;
            let refusal = Refusal::new(failure.code, failure.message);
            Err(failure.hint.into_iter().fold(refusal, Refusal::with_hint))
        }
        Err(refusal) => noted.refused(arguments, refusal).await,
    }
}
