//! Publishing: what passed is offered, with what people said for it on the record.

use bailiwick_store::{Durability, ToolRow, Tx};
use bailiwick_tool::RESERVED_HINT;
use bailiwick_tool::lifecycle::{Event, State, next};
use bailiwick_types::{ErrorCode, RiskLevel, Scope, Scopes, is_reserved_tool_name, shortened};
use serde_json::{Map, Value, json};

use super::import::{Incoming, NotTaken, Taken, not_taken};
use super::{line_of, scanned, standing_of, take_in};
use crate::journal::{self, as_left, told, tool_change, tool_ref};
use crate::parsed::Standing;
use crate::pass::{Pass, rehearse};
use crate::pipeline::{find, is_stale, revoke};
use crate::{Actor, Caller, Core, Document, Found, Published, Reasons, Refusal, Reply, authority};

/// From this level on a tool is published only with a written justification.
pub(crate) const REVIEW_FROM: RiskLevel = RiskLevel::L4;
/// From this level on a tool is published only by whoever operates the server.
pub(crate) const OPERATE_FROM: RiskLevel = RiskLevel::L5;
/// How many tools are looked at for a name that is very near.
const MOST_NEAR: usize = 10_000;
/// The shortest text that counts as a reason.
const SHORTEST_REASON: usize = 8;

/// Publishes a kept tool.
pub(crate) async fn publish(
    core: &Core,
    caller: &Caller,
    key: &str,
    reasons: Reasons,
) -> Result<Reply, Refusal> {
    let row = find(core, key).await?;
    let parsed = match core.parsed(&row) {
        Ok(parsed) => parsed,
        Err(tampered) => return Err(revoke(core, caller, &row, tampered).await?),
    };
    let standing = parsed.standing()?.clone();
    if let Some(wider) = row.pass.as_deref().and_then(Pass::read).and_then(|pass| is_stale(&pass, &standing))
    {
        return Err(Refusal::new(
            ErrorCode::Stale,
            format!("the policy of `{}` became wider since its Local Pass: {}", row.name, wider.join("; ")),
        )
        .with_hint(format!("run its tests again: bailiwick tool test {}", row.name)));
    }
    let texts = scanned(&parsed.tool);
    let offer =
        Offer { actor: caller.actor.clone(), scopes: caller.scopes, standing, texts: texts.clone(), reasons };
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<_, Refusal> {
        // The very document that was looked at: its texts were scanned, its policy was resolved.
        let now = as_left(tx, tx.tool(row.id)?)?;
        let same = now.filter(|now| now.is_ours && now.document == row.document);
        let row = same.ok_or_else(|| {
            Refusal::new(ErrorCode::Conflict, "the tool was changed meanwhile; nothing was published")
                .with_hint("look at it and publish it again")
        })?;
        let (now, notes) = offer.put(tx, row.clone())?;
        Ok((row, now, notes))
    });
    let (before, row, notes) = written.await?;
    core.tell_tool("tool.publish", &row.name, core.was_offered(Some(&before)), Some(&row));
    let tool = line_of(core, &row);
    Ok(Reply::Published(Box::new(Published { tool, tested: None, texts, notes })))
}

/// Takes a document in, passes it and publishes it, in one step.
pub(crate) async fn publish_document(
    core: &Core,
    caller: &Caller,
    document: &Document,
    reasons: Reasons,
    approval_off: bool,
) -> Result<Reply, Refusal> {
    let one = Incoming::read(core, document, approval_off)?;
    let standing = one.parsed.standing()?.clone();
    let texts = one.texts.clone();
    let offer =
        Offer { actor: caller.actor.clone(), scopes: caller.scopes, standing, texts: texts.clone(), reasons };
    // What a person has to say first is said before anything runs.
    offer.check(one.parsed.tool.name().as_str())?;
    let (mut tested, pass) = rehearse(core, caller, &one.parsed, false).await;
    let Some(pass) = pass else {
        let refusal = Refusal::new(
            tested.code().unwrap_or(ErrorCode::Validation),
            format!("`{}` did not pass its own tests; nothing was published", tested.tool),
        );
        // The caller heard each run as it ended; what kept them from running is told here.
        let refusal = match &tested.refused {
            Some(why) => Refusal { hint: why.hint.clone(), ..Refusal::new(why.code, why.message.clone()) },
            None => refusal.with_hint(format!("bailiwick tool test {}", document.name)),
        };
        return Err(refusal);
    };
    let (actor, inside) = (caller.actor.clone(), core.clone());
    let kept = serde_json::to_string(&pass).map_err(|_| Refusal::internal("tool.publish"))?;
    let standing = standing_of(core, &one.parsed, false);
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<_, Refusal> {
        let before = match one.parsed.tool.id() {
            Some(id) => tx.tool(id)?,
            None => tx.tool_named(one.parsed.tool.name().as_str())?,
        };
        let was_published = before.is_some_and(|row| row.state == State::Published.word());
        let taken = take_in(&inside, tx, &actor, &one).map_err(|error| match error {
            NotTaken::Fault(fault) => not_taken(vec![*fault]),
            NotTaken::Store(error) => error.into(),
        })?;
        let Taken { imported, before, .. } = taken;
        let row = tx.tool(imported.id)?.ok_or_else(|| Refusal::internal("tool.publish"))?;
        let from: State = row.state.parse().map_err(|_| Refusal::internal("tool.publish"))?;
        let state = next(from, Event::Passed)?;
        let row =
            ToolRow { state: state.word().to_owned(), pass: Some(kept), standing: Some(standing), ..row };
        let said = json!({"passed": true, "runs": pass.results.len(), "failed": []});
        tx.append(&tool_change(&actor, "tool.test", &row, said))?;
        if state == State::Published {
            // It was offered before, and only its texts changed.
            tx.put_tool(&row)?;
        }
        let (row, notes) = offer.put(tx, row)?;
        if was_published && row.state == State::AwaitingReview.word() {
            return Err(Refusal::new(
                ErrorCode::Forbidden,
                format!(
                    "`{}` would be {} now, which needs a written reason; nothing was changed",
                    row.name,
                    offer.standing.level()
                ),
            )
            .with_hint("say why with --justification"));
        }
        Ok((before, row, notes))
    });
    let (before, row, notes) = written.await?;
    core.tell_tool("tool.publish", &row.name, core.was_offered(before.as_ref()), Some(&row));
    let tool = line_of(core, &row);
    tested.state = Some(row.state);
    Ok(Reply::Published(Box::new(Published { tool, tested: Some(tested), texts, notes })))
}

/// A tool that is to be offered, with all that speaks for it.
struct Offer {
    actor: Actor,
    scopes: Scopes,
    standing: Standing,
    texts: Vec<Found>,
    reasons: Reasons,
}

impl Offer {
    /// Whether whoever offers it may, and said what has to be said for it.
    fn check(&self, name: &str) -> Result<(), Refusal> {
        // A document that is handed in was refused by its reader; this one may have been kept before that.
        if is_reserved_tool_name(name) {
            let message =
                format!("`{}` is not published: the name is kept for a native tool", shortened(name));
            return Err(Refusal::new(ErrorCode::Conflict, message).with_hint(RESERVED_HINT));
        }
        let level = self.standing.level();
        if level >= OPERATE_FROM && !self.scopes.covers(Scope::Operate) {
            let what = format!("publishing `{name}`, which is {level},");
            return Err(authority::lacking(self.scopes, &[Scope::Operate], &what));
        }
        let short = |text: &Option<String>| {
            text.as_ref().is_some_and(|text| text.trim().chars().count() < SHORTEST_REASON)
        };
        if short(&self.reasons.justification) || short(&self.reasons.despite_scan) {
            return Err(Refusal::new(
                ErrorCode::InvalidInput,
                "that is no reason: it is too short to be one",
            )
            .with_hint(format!("write at least {SHORTEST_REASON} characters that others will understand")));
        }
        let blocking: Vec<&Found> = self.texts.iter().filter(|found| found.blocks).collect();
        if let Some(first) = blocking.first()
            && self.reasons.despite_scan.is_none()
        {
            return Err(Refusal::new(
                ErrorCode::Validation,
                format!(
                    "the texts of `{name}` trip the scan: {} in `{}` ({})",
                    first.rule, first.path, first.meaning
                ),
            )
            .with_hint(
                "mend the text; or, if it is meant, say why with --despite-scan: it goes on the record",
            ));
        }
        Ok(())
    }

    /// Offers it, or has it wait for a written reason.
    fn put(&self, tx: &mut Tx<'_>, mut row: ToolRow) -> Result<(ToolRow, Vec<String>), Refusal> {
        self.check(&row.name)?;
        let mut notes = Vec::new();
        let level = self.standing.level();
        let ceiling = self.standing.policy.baseline().ceilings.risk;
        if level > ceiling {
            return Err(Refusal::new(
                ErrorCode::Forbidden,
                format!("`{}` is {level}, and the operator's ceiling is {ceiling}", row.name),
            )
            .with_hint("narrow its overrides, or ask the operator to raise `ceilings.risk`"));
        }
        let from: State = row.state.parse().map_err(|_| Refusal::internal("tool.publish"))?;
        let needs_review = level >= REVIEW_FROM && self.reasons.justification.is_none();
        let mut state = from;
        if from == State::AwaitingReview && !needs_review {
            state = next(from, Event::Justified)?;
        } else if from != State::AwaitingReview && from != State::Published {
            state = next(from, Event::PublishAsked { needs_review })?;
        }
        if state == State::AwaitingReview {
            notes.push(format!(
                "it is {level} and waits for a written reason: publish it again with --justification"
            ));
        }
        for other in tx.tools(None, MOST_NEAR)? {
            let is_near = || bailiwick_scan::shadowing(&row.name, &[other.name.as_str()]).is_some();
            if other.id != row.id && other.state == State::Published.word() && is_near() {
                notes.push(format!("its name is very near to that of the published tool `{}`", other.name));
            }
        }
        state.word().clone_into(&mut row.state);
        let blocking: Vec<&str> =
            self.texts.iter().filter(|found| found.blocks).map(|found| found.rule.as_str()).collect();
        let said = json!({
            "justification": self.reasons.justification,
            "despiteScan": self.reasons.despite_scan, "scan": blocking,
        });
        if state == State::Published {
            row.notes = Some(remembered(&row, from, &said).to_string());
        }
        tx.put_tool(&row)?;
        let said = json!({"before": from.word(), "said": said});
        let mut entry = tool_change(&self.actor, "tool.publish", &row, said);
        entry.policy_hash = Some(self.standing.hash.to_string());
        entry.risk = Some(self.standing.risk.clone());
        tx.append(&entry)?;
        Ok((row, notes))
    }
}

/// What was said for a tool. Where it is offered already, what was said before and is not said anew still holds.
fn remembered(row: &ToolRow, from: State, said: &Value) -> Value {
    let mut said = said.clone();
    let before = row.notes.as_deref().filter(|_| from == State::Published);
    let before = before.and_then(|notes| serde_json::from_str::<Map<String, Value>>(notes).ok());
    for (key, word) in said.as_object_mut().into_iter().flatten() {
        if word.is_null()
            && let Some(earlier) = before.as_ref().and_then(|before| before.get(key))
        {
            word.clone_from(earlier);
        }
    }
    said
}

/// Whether somebody wrote down why a tool of a high level is worth it.
pub(crate) fn is_justified(row: &ToolRow) -> bool {
    let notes = row.notes.as_deref().and_then(|notes| serde_json::from_str::<Value>(notes).ok());
    notes.is_some_and(|notes| notes.get("justification").is_some_and(Value::is_string))
}

/// Takes a tool off the list of published ones.
pub(crate) async fn unpublish(core: &Core, caller: &Caller, key: &str) -> Result<Reply, Refusal> {
    let row = find(core, key).await?;
    if let Err(tampered) = core.parsed(&row) {
        return Err(revoke(core, caller, &row, tampered).await?);
    }
    let (id, actor) = (row.id, caller.actor.clone());
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<_, Refusal> {
        let mut row = as_left(tx, tx.tool(id)?)?.filter(|row| row.is_ours).ok_or_else(gone)?;
        let from: State = row.state.parse().map_err(|_| Refusal::internal("tool.unpublish"))?;
        let before = row.clone();
        let state = next(from, Event::Unpublished)?;
        state.word().clone_into(&mut row.state);
        tx.put_tool(&row)?;
        tx.append(&tool_change(&actor, "tool.unpublish", &row, json!({"before": from.word()})))?;
        Ok((before, row))
    });
    let (before, row) = written.await?;
    core.tell_tool("tool.unpublish", &row.name, core.was_offered(Some(&before)), Some(&row));
    let tool = line_of(core, &row);
    Ok(Reply::Tools(vec![tool]))
}

/// Removes a tool.
pub(crate) async fn remove(core: &Core, caller: &Caller, key: &str) -> Result<Reply, Refusal> {
    let row = find(core, key).await?;
    let (id, actor) = (row.id, caller.actor.clone());
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<(), Refusal> {
        let row = tx.tool(id)?.ok_or_else(gone)?;
        tx.remove_tool(id)?;
        let entry = journal::change(&actor, "tool.remove", Some(tool_ref(id, &row.name, &row.covered)));
        tx.append(&told(entry, json!({"before": row.state})))?;
        Ok(())
    });
    written.await?;
    core.tell_tool("tool.remove", &row.name, core.was_offered(Some(&row)), None);
    Ok(Reply::Done)
}

fn gone() -> Refusal {
    Refusal::new(ErrorCode::NotFound, "the tool was removed meanwhile")
}
