//! Local Pass: a tool against its own test values and tests, in cells, under exactly the policy that callers get.
//!
//! A command tool is run in sandboxes that are made as for its callers.
//!
//! Nothing outside is touched: each run has a workspace of its own, and requests get canned answers. Policy is asked as
//! for a real request, so a tool that reaches for more than it declared fails here. With `live`, requests that no test
//! answers go out.

mod commands;
mod record;
mod rehearsal;
mod scratch;

use std::sync::Arc;

use bailiwick_audit::{Entry, Kind, ToolRef};
use bailiwick_store::{Durability, ToolRow};
use bailiwick_tool::lifecycle::{Event as Step, State, next};
use bailiwick_types::{ErrorClass, ErrorCode, RiskLevel, Scope};
use serde_json::json;

pub(crate) use record::Pass;
pub(crate) use rehearsal::rehearse;
pub(crate) use scratch::sweep;

use crate::catalogue::{self, OPERATE_FROM, REVIEW_FROM, is_justified, read_document};
use crate::journal::{actor, as_left, told, tool_change};
use crate::parsed::Parsed;
use crate::pipeline::{find, is_stale, revoke};
use crate::{Caller, Core, Document, Refusal, Reply, Tested, Which};

/// How many tools are read at once when all are tested.
const PAGE: usize = 500;

/// Runs the tests of a document that is not kept.
pub(crate) async fn try_out(
    core: &Core,
    caller: &Caller,
    document: &Document,
    live: bool,
) -> Result<Reply, Refusal> {
    let (tool, _) = read_document(document)?;
    let parsed = Parsed::of(tool, &core.inner.world);
    if live {
        reaches_out(core, caller, &parsed, "tool.try").await?;
    }
    let (tested, _) = rehearse(core, caller, &parsed, live).await;
    Ok(Reply::Tested(vec![tested]))
}

/// Puts on the record that a tool's tests are about to reach the world, if the operator's ceiling lets it at all.
async fn reaches_out(core: &Core, caller: &Caller, parsed: &Parsed, action: &str) -> Result<(), Refusal> {
    let standing = parsed.standing()?;
    let (name, level) = (parsed.tool.name().as_str(), standing.level());
    let ceiling = standing.policy.baseline().ceilings.risk;
    if level > ceiling {
        let message = format!("`{name}` is {level}, and the operator's ceiling is {ceiling}");
        return Err(Refusal::new(ErrorCode::Forbidden, message)
            .with_hint("narrow its overrides, or ask the operator to raise `ceilings.risk`"));
    }
    let entry = Entry {
        tool: Some(ToolRef {
            id: None,
            name: bailiwick_types::shortened(name),
            hash: Some(parsed.covered.to_string()),
        }),
        policy_hash: Some(standing.hash.to_string()),
        risk: Some(standing.risk.clone()),
        ..Entry::new(Kind::Intent, actor(&caller.actor), action)
    };
    core.append(told(entry, json!({"live": true})), Durability::Machine).await?;
    Ok(())
}

/// Runs the Local Pass of kept tools, and keeps what came of it.
pub(crate) async fn test(core: &Core, caller: &Caller, which: Which, live: bool) -> Result<Reply, Refusal> {
    let mut tested = Vec::new();
    match which {
        Which::Named(keys) => {
            // All are found before the first runs.
            let mut rows = Vec::with_capacity(keys.len());
            for key in &keys {
                rows.push(find(core, key).await?);
            }
            for row in rows {
                tested.push(test_one(core, caller, row, live).await?);
            }
        }
        Which::All | Which::Stale => {
            let mut after = None;
            loop {
                let from = after.take();
                let page = core.inner.store.read(move |view| view.tools(from.as_deref(), PAGE)).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.name.clone());
                for line in page {
                    let row = find(core, &line.id.to_string()).await?;
                    if which == Which::All || row_is_stale(core, &row) {
                        tested.push(test_one(core, caller, row, live).await?);
                    }
                }
            }
        }
    }
    Ok(Reply::Tested(tested))
}

/// Whether the policy of a kept tool became wider since its pass.
pub(crate) fn row_is_stale(core: &Core, row: &ToolRow) -> bool {
    let Ok(parsed) = core.parsed(row) else { return false };
    let Some(pass) = row.pass.as_deref().and_then(Pass::read) else { return false };
    parsed.standing().is_ok_and(|standing| is_stale(&pass, standing).is_some())
}

async fn test_one(core: &Core, caller: &Caller, row: ToolRow, live: bool) -> Result<Tested, Refusal> {
    let parsed = match core.parsed(&row) {
        Ok(parsed) => parsed,
        Err(tampered) => {
            let refusal = revoke(core, caller, &row, tampered).await?;
            return Ok(refused(row.name, refusal, State::Revoked));
        }
    };
    if row.state == State::Revoked.word() {
        let refusal = Refusal::new(ErrorCode::Revoked, format!("the tool `{}` was revoked", row.name))
            .with_hint("import its document again");
        return Ok(refused(row.name, refusal, State::Revoked));
    }
    if live {
        reaches_out(core, caller, &parsed, "tool.test").await?;
    }
    let (mut tested, pass) = rehearse(core, caller, &parsed, live).await;
    // What kept it from running is no fault of the tool's: it stays where it is.
    let ours = |refusal: &Refusal| matches!(refusal.code.class(), ErrorClass::Ours);
    if tested.refused.as_ref().is_some_and(ours) {
        tested.state = Some(row.state);
        return Ok(tested);
    }
    let state = keep(core, caller, &row, &parsed, &tested, pass).await?;
    tested.state = Some(state.word().to_owned());
    Ok(tested)
}

fn refused(tool: String, refusal: Refusal, state: State) -> Tested {
    Tested {
        tool,
        passed: false,
        state: Some(state.word().to_owned()),
        lines: Vec::new(),
        risk: None,
        refused: Some(refusal),
    }
}

/// What a pass does to the state of its tool.
pub(crate) fn step_of(tested: &Tested) -> Step {
    match &tested.refused {
        _ if tested.passed => Step::Passed,
        Some(refusal) if refusal.code == ErrorCode::MissingSecret => Step::RequirementMissing,
        _ => Step::Failed,
    }
}

/// Keeps what came of a pass, if the tool is still the one that ran.
async fn keep(
    core: &Core,
    caller: &Caller,
    row: &ToolRow,
    parsed: &Arc<Parsed>,
    tested: &Tested,
    pass: Option<Pass>,
) -> Result<State, Refusal> {
    let (id, covered, name, ran) = (row.id, row.covered.clone(), row.name.clone(), row.document.clone());
    let step = step_of(tested);
    let failed: Vec<&str> = tested
        .lines
        .iter()
        .filter(|line| line.verdict == crate::TestVerdict::Failed)
        .map(|line| line.name.as_str())
        .collect();
    let why = tested.refused.as_ref().map(|refusal| refusal.message.as_str());
    let said = json!({
        "passed": tested.passed, "runs": tested.lines.len(), "failed": failed, "because": why,
    });
    let now = parsed.standing().ok().map(|standing| (standing.hash.to_string(), standing.risk.clone()));
    let level = now.as_ref().map_or(RiskLevel::L0, |(_, risk)| risk.level);
    let actor = caller.actor.clone();
    let pass = pass.map(|pass| serde_json::to_string(&pass)).transpose();
    let pass = pass.map_err(|_| Refusal::internal("tool.test"))?;
    let standing = catalogue::standing_of(core, parsed, false);
    let may_operate = caller.scopes.covers(Scope::Operate);
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<_, Refusal> {
        let row = as_left(tx, tx.tool(id)?)?.filter(|row| row.is_ours && row.covered == covered);
        let row = row.filter(|row| catalogue::same_covered(&row.document, &ran));
        let Some(mut row) = row else {
            return Err(Refusal::new(
                ErrorCode::Conflict,
                format!("the tool `{name}` was changed while its tests ran; nothing was kept"),
            )
            .with_hint("run its tests again"));
        };
        let mut state = next(row.state.parse().unwrap_or(State::Draft), step)?;
        let before = row.clone();
        let lacks_word = level >= REVIEW_FROM && !is_justified(&row) || level >= OPERATE_FROM && !may_operate;
        if state == State::Published && lacks_word {
            // It is wider than what was published without a written reason, or than its tester may publish.
            state = next(next(state, Step::Unpublished)?, Step::PublishAsked { needs_review: true })?;
        }
        state.word().clone_into(&mut row.state);
        if pass.is_some() {
            row.pass = pass;
        }
        row.standing = Some(standing);
        tx.put_tool(&row)?;
        let mut entry = tool_change(&actor, "tool.test", &row, said);
        (entry.policy_hash, entry.risk) = now.unzip();
        tx.append(&entry)?;
        Ok((state, before, row))
    });
    let (state, before, now) = written.await?;
    core.tell_tool("tool.test", &now.name, core.was_offered(Some(&before)), Some(&now));
    Ok(state)
}
