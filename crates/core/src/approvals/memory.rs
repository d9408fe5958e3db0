//! Answers that hold beyond their call, and the last yes to a call of each tool.
//!
//! A remembered yes holds for one tool as it is (what its pass covers, its texts) under the policy it has, for whoever
//! made the call it was said to, and for the same arguments or for every call with that key. Arguments are compared by
//! SHA-256 of their canonical form with defaults filled in; only that hash and the redacted form are kept. What differs
//! in any of this is asked about anew. It ends with its minutes, or when somebody forgets it.
//!
//! It stays when the key of whoever said it is revoked later: that key was good when it was said, and each remembered yes
//! can be forgotten by itself. A row counts only if the record has the yes and no word of its being forgotten, so one
//! that is put back into the file, or whose record is gone, is none.

use bailiwick_audit::{Entry, Kind, rfc3339};
use bailiwick_store::{Durability, Query, RememberedRow, StoreError, View};
use bailiwick_tool::Hash;
use bailiwick_types::{ApprovalId, CallId, ToolId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::queue::Ended;
use super::wait::{Heard, Subject};
use super::who::Who;
use crate::{Caller, Core, LastYes, Question, Refusal, Remember, RememberedFor};

/// The most answers that are remembered at once.
pub(super) const MOST: usize = 1000;
/// The most bytes of arguments that are shown again with a later question; a list of questions has to stay short.
const MOST_SHOWN_AGAIN: usize = 16 * 1024;
/// The most records of one call that are looked through.
const MOST_RECORDS: usize = 1000;
/// What a record of a forgotten answer is called.
pub(super) const FORGET: &str = "approval.forget";

/// What a remembered yes is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Bound {
    pub(crate) tool: ToolId,
    /// What its pass covers, by hash.
    pub(crate) covered: String,
    /// Its texts, by hash.
    pub(crate) texts: String,
    /// Its policy, by hash.
    pub(crate) policy: String,
    /// The arguments, by the hash of their canonical form.
    pub(crate) arguments: String,
    /// The directory of the workspace that the call names.
    pub(crate) workspace: Option<String>,
}

impl Bound {
    /// Arguments as they are compared.
    pub(crate) fn hash_of(arguments: &serde_json::Map<String, Value>) -> String {
        Hash::of(&Value::Object(arguments.clone())).to_string()
    }
}

/// A remembered yes as its row tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Kept {
    pub(super) what: RememberedFor,
    pub(super) bound: Bound,
    /// Redacted; none where it holds for all.
    pub(super) arguments: Option<Value>,
    pub(super) who: Who,
    pub(super) by: String,
    pub(super) at_ms: u64,
    pub(super) call_id: CallId,
}

impl Kept {
    /// What a row says, if it is ours and holds at this time.
    pub(super) fn read(row: &RememberedRow, now_ms: u64) -> Option<Self> {
        if !row.is_ours || row.until_ms <= now_ms {
            return None;
        }
        let kept: Self = serde_json::from_str(&row.body).ok()?;
        (kept.bound.tool == row.tool).then_some(kept)
    }

    /// Whether it holds for this call.
    pub(super) fn covers(&self, who: &Who, call: &Bound) -> bool {
        let Bound { tool, covered, texts, policy, arguments, workspace } = &self.bound;
        let same_tool =
            *tool == call.tool && *covered == call.covered && *texts == call.texts && *policy == call.policy;
        let same_call = match self.what {
            RememberedFor::Arguments => *arguments == call.arguments && *workspace == call.workspace,
            RememberedFor::Key => who.key.is_some(),
        };
        same_tool && same_call && self.who.is(who)
    }
}

/// Whether the record has the yes behind a row, and no word of its being forgotten.
pub(super) fn is_on_record(view: &View<'_>, id: ApprovalId, kept: &Kept) -> Result<bool, StoreError> {
    let query = Query { call_id: Some(kept.call_id), limit: MOST_RECORDS, ..Query::default() };
    let records = view.records(&query)?;
    let is_whole = records.len() < MOST_RECORDS;
    let id = id.to_string();
    let mut is_said = false;
    for record in records {
        let Ok(body) = serde_json::from_str::<Value>(&record.body) else { return Ok(false) };
        let says = |path: &str| body.pointer(path).and_then(Value::as_str);
        if says("/approval/id") != Some(&id) {
            continue;
        }
        if says("/action") == Some(FORGET) {
            return Ok(false);
        }
        is_said |= says("/kind") == Some("decision")
            && says("/approval/answer") == Some("yes")
            && body.pointer("/approval/remember").is_some_and(Value::is_object);
    }
    Ok(is_whole && is_said)
}

/// Lets a call through by a remembered yes, on the record; none when there is none that holds for it.
pub(crate) async fn recall(
    core: &Core,
    caller: &Caller,
    call: &Bound,
    entry: &Entry,
) -> Result<Option<Value>, Refusal> {
    let (now, who, call, tool) = (core.now_ms(), Who::of(caller), call.clone(), call.tool);
    let found = core.inner.store.read(move |view| {
        for row in view.remembered_of(tool, MOST)? {
            let Some(kept) = Kept::read(&row, now).filter(|kept| kept.covers(&who, &call)) else { continue };
            if is_on_record(view, row.id, &kept)? {
                return Ok(Some((row, kept)));
            }
        }
        Ok(None)
    });
    let Some((seen, kept)) = found.await? else { return Ok(None) };
    let decision = json!({
        "answer": "yes", "by": format!("remembered {} by {}", seen.id, kept.by), "waitedMs": 0,
        "remembered": {"id": seen.id, "for": kept.what, "until": rfc3339(seen.until_ms)},
    });
    let told = decision.clone();
    let record = Entry { kind: Kind::Decision, approval: Some(told), ..entry.clone() };
    let used = core.inner.store.write(Durability::Machine, move |tx| -> Result<bool, StoreError> {
        // Somebody may have forgotten it meanwhile.
        let Some(row) = tx.remembered(seen.id)?.filter(|row| row.is_ours && row.body == seen.body) else {
            return Ok(false);
        };
        tx.put_remembered(&RememberedRow { used: row.used.saturating_add(1), ..row })?;
        tx.append(&record)?;
        Ok(true)
    });
    Ok(used.await?.then_some(decision))
}

/// Puts how a question ended on the record; with a yes to a call, what is to be remembered of it.
pub(crate) async fn record(
    core: &Core,
    subject: &Subject<'_>,
    question: &Question,
    heard: &mut Heard,
    entry: Entry,
) -> Result<(), Refusal> {
    let record = Entry { kind: Kind::Decision, approval: Some(heard.decision.clone()), ..entry };
    let now = core.now_ms();
    let (mut last, mut row) = (None, None);
    if let (Ended::Yes { by }, None, Some(tool)) = (&heard.ended, &question.effect, subject.tool) {
        let said = LastYes {
            arguments: crate::pipeline::bounded_to(&question.arguments, MOST_SHOWN_AGAIN),
            at: rfc3339(now),
            by: by.clone(),
            hash: question.hash.clone(),
        };
        last = Some((tool, written(&said)?));
        if let (Some(Remember { what, minutes }), Some(bound)) = (heard.remember, &subject.bound) {
            let kept = Kept {
                what,
                bound: bound.clone(),
                arguments: (what == RememberedFor::Arguments).then_some(said.arguments),
                who: Who::of(subject.caller),
                by: by.clone(),
                at_ms: now,
                call_id: question.call_id,
            };
            let until_ms = now.saturating_add(u64::from(minutes).saturating_mul(60_000));
            let (id, body) = (heard.id, written(&kept)?);
            row = Some(RememberedRow { id, tool, until_ms, used: 0, body, is_ours: true });
        }
    }
    let (store, noted) = (core.inner.store.clone(), heard.take_noted());
    // A caller that goes away while this is written does not keep whoever answered from hearing that it is.
    let writing = core.inner.late.spawn(async move {
        let recorded = store.write(Durability::Machine, move |tx| -> Result<(), StoreError> {
            if let Some((tool, body)) = last {
                tx.put_last_yes(tool, &body)?;
            }
            if let Some(row) = row {
                tx.remove_ended_remembered(now)?;
                tx.put_remembered(&row)?;
            }
            tx.append(&record).map(drop)
        });
        recorded.await?;
        if let Some(noted) = noted {
            // Whoever answered may not wait for the word.
            let _told = noted.send(());
        }
        Ok(())
    });
    writing.await.unwrap_or_else(|_| Err(Refusal::internal("a decision")))
}

fn written(what: &impl Serialize) -> Result<String, Refusal> {
    serde_json::to_string(what).map_err(|_| Refusal::internal("a yes"))
}

/// The last yes of a person to a call of a tool. It is only shown, so a row that somebody edited is as good as none.
pub(super) async fn last_yes(core: &Core, tool: ToolId) -> Result<Option<LastYes>, Refusal> {
    let Some(row) = core.inner.store.read(move |view| view.last_yes(tool)).await? else { return Ok(None) };
    let read = row.is_ours.then(|| serde_json::from_str(&row.body).ok()).flatten();
    if read.is_none() {
        tracing::warn!(%tool, "the last yes to a call of this tool was changed behind our back");
    }
    Ok(read)
}
