//! What people with the scope `approve` do: look at the questions, answer them, look at what is remembered, forget it.

use bailiwick_audit::{Entry, Kind, rfc3339};
use bailiwick_store::{Durability, StoreError};
use bailiwick_types::{ApprovalId, ErrorCode};
use serde_json::json;

use super::memory::{FORGET, Kept, MOST, is_on_record};
use super::queue::{Ended, too_late};
use super::who::name_of;
use crate::journal::{actor, as_left, tool_ref};
use crate::{Caller, Core, Happening, Refusal, Remember, RememberedYes, Reply};

/// The questions that wait, the oldest first.
pub(crate) fn list(core: &Core) -> Reply {
    Reply::Approvals(core.inner.approvals.queue.list())
}

/// Answers a question. When this is done, the answer is on the record.
pub(crate) async fn answer(
    core: &Core,
    caller: &Caller,
    id: ApprovalId,
    yes: bool,
    remember: Option<Remember>,
) -> Result<Reply, Refusal> {
    if remember.is_some() {
        let now = core.now_ms();
        let count = core.inner.store.read(move |view| view.remembered_count(now)).await?;
        if count >= MOST as u64 {
            let message = format!("{MOST} answers are remembered, and not more at once");
            let refusal = Refusal::new(ErrorCode::Busy, message);
            return Err(refusal.with_hint("answer it once, or forget some: the question still waits"));
        }
    }
    // The key may have gone since it was shown.
    if caller.key.is_some_and(|key| !core.inner.keys.is_live(key, core.now_ms())) {
        return Err(Refusal::new(ErrorCode::Unauthorized, "the key of this answer does not hold any more")
            .with_hint("ask the operator for a new key; the question still waits"));
    }
    let answered = core.inner.approvals.queue.answer(id, name_of(&caller.actor), yes, remember);
    let (settled, recorded) = answered?;
    core.tell(Happening::Answered(settled));
    match recorded.await {
        Ok(()) => Ok(Reply::Done),
        // It went away between the answer and its record, so nothing runs.
        Err(_) => Err(too_late(&Ended::Withdrawn)),
    }
}

/// The answers that are remembered and hold, the newest first. One whose tool is not what it was is none of them.
pub(crate) async fn remembered(core: &Core) -> Result<Reply, Refusal> {
    let now = core.now_ms();
    let rows = core.inner.store.read(move |view| {
        let mut found = Vec::new();
        for row in view.all_remembered(MOST)? {
            let Some(kept) = Kept::read(&row, now) else { continue };
            let tool = as_left(view, view.tool(row.tool)?)?;
            if let Some(tool) = tool.filter(|tool| tool.is_ours)
                && is_on_record(view, row.id, &kept)?
            {
                found.push((row, kept, tool));
            }
        }
        Ok(found)
    });
    let mut listed = Vec::new();
    for (row, kept, tool) in rows.await? {
        let Ok(parsed) = core.parsed(&tool) else { continue };
        let bound = &kept.bound;
        let holds = parsed.covered.to_string() == bound.covered
            && parsed.texts.to_string() == bound.texts
            && parsed.standing().is_ok_and(|standing| standing.hash.to_string() == bound.policy);
        if holds {
            listed.push(RememberedYes {
                id: row.id,
                tool: tool.name,
                hash: kept.bound.covered,
                policy_hash: kept.bound.policy,
                what: kept.what,
                arguments: kept.arguments,
                actor: kept.who.actor,
                by: kept.by,
                at: rfc3339(kept.at_ms),
                until: rfc3339(row.until_ms),
                used: row.used,
            });
        }
    }
    Ok(Reply::Remembered(listed))
}

/// Forgets a remembered answer, on the record.
pub(crate) async fn forget(core: &Core, caller: &Caller, id: ApprovalId) -> Result<Reply, Refusal> {
    let (who, by) = (caller.actor.clone(), name_of(&caller.actor));
    let forgotten = core.inner.store.write(Durability::Machine, move |tx| -> Result<bool, StoreError> {
        let Some(row) = tx.remembered(id)? else { return Ok(false) };
        tx.remove_remembered(id)?;
        let kept: Option<Kept> = serde_json::from_str(&row.body).ok();
        let tool = match &kept {
            Some(kept) => {
                let name = tx.tool(row.tool)?.map_or_else(String::new, |tool| tool.name);
                Some(tool_ref(row.tool, &name, &kept.bound.covered))
            }
            None => None,
        };
        let entry = Entry {
            call_id: kept.map(|kept| kept.call_id),
            tool,
            approval: Some(json!({"id": id, "answer": "forgotten", "by": by})),
            ..Entry::new(Kind::Decision, actor(&who), FORGET)
        };
        tx.append(&entry)?;
        Ok(true)
    });
    if forgotten.await? {
        Ok(Reply::Done)
    } else {
        Err(Refusal::new(ErrorCode::NotFound, format!("no answer `{id}` is remembered"))
            .with_hint("bailiwick approvals tells which are; one that ended is forgotten by itself"))
    }
}
