//! Whether a kept tool may be called: it is the one that passed, it is published, and it may do no more than then.

use std::sync::Arc;

use bailiwick_store::{Durability, StoreError, ToolRow};
use bailiwick_tool::Tool;
use bailiwick_tool::lifecycle::{Event, State, next};
use bailiwick_types::{ErrorCode, Scope, Scopes, ToolId, did_you_mean};
use serde_json::json;

use crate::journal::{as_left, tool_change};
use crate::parsed::{Parsed, Standing};
use crate::pass::Pass;
use crate::{Caller, Core, Refusal};

/// A tool that may be called.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) id: ToolId,
    pub(crate) parsed: Arc<Parsed>,
    pub(crate) standing: Standing,
}

/// The row of a tool, by name or id, for whoever may know of all of them.
pub(crate) async fn find(core: &Core, key: &str) -> Result<ToolRow, Refusal> {
    look_up(core, Scopes::ALL, key).await
}

/// The same for a caller: what they are told of a name that is none names no tool that they may not know of.
pub(crate) async fn find_for(core: &Core, caller: &Caller, key: &str) -> Result<ToolRow, Refusal> {
    look_up(core, caller.scopes, key).await
}

async fn look_up(core: &Core, scopes: Scopes, key: &str) -> Result<ToolRow, Refusal> {
    let (id, name) = (ToolId::parse(key).ok(), key.to_owned());
    let row = core.inner.store.read(move |view| {
        let row = match id {
            Some(id) => view.tool(id)?,
            None => view.tool_named(&name)?,
        };
        as_left(view, row)
    });
    match row.await? {
        Some(row) => Ok(row),
        None => Err(no_such(core, scopes, key).await?),
    }
}

/// What somebody is told who asks for a tool that is not there, or not there for them.
pub(crate) async fn no_such(core: &Core, scopes: Scopes, key: &str) -> Result<Refusal, Refusal> {
    let mut near = core.inner.store.read(|view| view.tools(None, 1000)).await?;
    if !scopes.covers(Scope::Author) {
        near.retain(|tool| tool.state == State::Published.word());
    }
    let names = near.iter().map(|tool| tool.name.as_str());
    let message = format!("there is no tool `{}`", bailiwick_types::shortened(key));
    Ok(Refusal::new(ErrorCode::NotFound, message)
        .with_hint(did_you_mean(key, names, || "bailiwick tool list tells which there are".to_owned())))
}

impl Core {
    /// What a row holds, read; an error when it is not what we wrote.
    pub(crate) fn parsed(&self, row: &ToolRow) -> Result<Arc<Parsed>, Tampered> {
        if !row.is_ours {
            return Err(Tampered("its row in the store is not as we left it"));
        }
        let parsed = if let Some(parsed) = self.inner.shelf.find(row.id, &row.document) {
            parsed
        } else {
            let value = serde_json::from_str(&row.document)
                .map_err(|_| Tampered("its document in the store is no JSON"))?;
            let tool = Tool::from_json(&value)
                .map_err(|_| Tampered("its document in the store breaks the rules of documents"))?;
            let parsed = Arc::new(Parsed::of(tool, &self.inner.world));
            self.inner.shelf.keep(row.id, &row.document, &parsed);
            parsed
        };
        let is_same = parsed.covered.to_string() == row.covered && parsed.texts.to_string() == row.texts;
        if is_same {
            Ok(parsed)
        } else {
            Err(Tampered("its document does not have the hash it was kept with"))
        }
    }
}

/// A row that is not what we wrote, and why that is known.
pub(crate) struct Tampered(pub(crate) &'static str);

/// Whether a tool, asked for by this name or id, may be called now.
pub(crate) async fn ready_to_call(
    core: &Core,
    caller: &Caller,
    asked_by: &str,
    row: ToolRow,
) -> Result<Ready, Refusal> {
    let parsed = match core.parsed(&row) {
        Ok(parsed) => parsed,
        Err(tampered) => return Err(revoke(core, caller, &row, tampered).await?),
    };
    match row.state.parse() {
        Ok(State::Published) => {}
        Ok(State::Revoked) => return Err(revoked(&row.name, "it was revoked")),
        // Whoever may not author does not learn of drafts.
        _ if !caller.scopes.covers(Scope::Author) => {
            return Err(no_such(core, caller.scopes, asked_by).await?);
        }
        state => {
            let state = state.map_or("unknown", State::word);
            return Err(Refusal::new(
                ErrorCode::Conflict,
                format!("the tool `{}` is not published: its state is {state}", row.name),
            )
            .with_hint(match state {
                "DRAFT" | "TEST_FAILED" => format!("bailiwick tool test {}, then publish it", row.name),
                "MISSING_REQUIREMENTS" => {
                    format!("bailiwick tool test {} tells which secret is missing", row.name)
                }
                "AWAITING_REVIEW" => format!("bailiwick tool publish {} --justification TEXT", row.name),
                _ => format!("bailiwick tool publish {}", row.name),
            }));
        }
    }
    let pass = row.pass.as_deref().and_then(Pass::read);
    let Some(pass) = pass.filter(|pass| pass.covered == row.covered) else {
        return Err(revoke(core, caller, &row, Tampered("it is published without a pass of its own")).await?);
    };
    let standing = parsed.standing()?.clone();
    if let Some(wider) = is_stale(&pass, &standing) {
        return Err(Refusal::new(
            ErrorCode::Stale,
            format!("the policy of `{}` became wider since its Local Pass: {}", row.name, wider.join("; ")),
        )
        .with_hint(format!("look at it, then run its tests again: bailiwick tool test {}", row.name)));
    }
    let ceiling = standing.policy.baseline().ceilings.risk;
    if standing.level() > ceiling {
        let message =
            format!("`{}` is {}, and the operator's ceiling is {ceiling} now", row.name, standing.level());
        return Err(Refusal::new(ErrorCode::Forbidden, message)
            .with_hint("narrow what it may do, or ask the operator to raise `ceilings.risk`"));
    }
    Ok(Ready { id: row.id, parsed, standing })
}

/// What a tool may do now and might not when it passed; none when that is nothing.
pub(crate) fn is_stale(pass: &Pass, standing: &Standing) -> Option<Vec<String>> {
    if pass.policy_hash == standing.hash.to_string() {
        return None;
    }
    let wider = standing.widened_since(&pass.policy);
    (!wider.is_empty()).then_some(wider)
}

/// Puts a tool that is not what we wrote out of use, on the record.
pub(crate) async fn revoke(
    core: &Core,
    caller: &Caller,
    row: &ToolRow,
    Tampered(why): Tampered,
) -> Result<Refusal, Refusal> {
    let from = row.state.parse().unwrap_or(State::Draft);
    let state = next(from, Event::Tampered)?;
    let (seen, actor) = (row.clone(), caller.actor.clone());
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<_, StoreError> {
        // Only what was looked at: it may have been taken in anew meanwhile.
        let same = |row: &ToolRow| row.document == seen.document && row.state == seen.state;
        let Some(mut row) = tx.tool(seen.id)?.filter(same) else { return Ok(None) };
        state.word().clone_into(&mut row.state);
        tx.put_tool(&row)?;
        tx.append(&tool_change(&actor, "tool.revoke", &row, json!({"because": why})))?;
        Ok(Some(row))
    });
    if let Some(now) = written.await? {
        // Whoever knew it as published is told that it is gone, whatever its row says now.
        let published_as = (from == State::Published).then(|| now.name.clone());
        core.tell_tool("tool.revoke", &now.name, published_as, Some(&now));
    }
    Ok(revoked(&row.name, why))
}

fn revoked(name: &str, why: &str) -> Refusal {
    Refusal::new(ErrorCode::Revoked, format!("the tool `{name}` does not run: {why}"))
        .with_hint("look at it with bailiwick tool show, and import its document again")
}
