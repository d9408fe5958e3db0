//! The record, as actions write and read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_audit::{Entry, Kind, ToolRef, Verdict, head_line, record_line, rfc3339};
use bailiwick_config::Settings;
use bailiwick_store::{
    Durability, Query, Retention, StoreError, StoredRecord, ToolRow, ToolSummary, View, Witness,
};
use bailiwick_types::{CallId, CorrelationId, ErrorCode, RiskLevel, ToolId};
use serde_json::{Value, json};

use crate::moment::now_ms;
use crate::webhook::Posts;
use crate::{Actor, Caller, Core, Event, ExportPage, Refusal, Reply, RunIntent, RunOutcome, Verified};

/// The most records of one answer.
const MOST: usize = 1000;
/// The milliseconds of a day.
const DAY_MS: u64 = 24 * 3600 * 1000;

/// Who asked, as a record says it.
pub(crate) fn actor(actor: &Actor) -> bailiwick_audit::Actor {
    bailiwick_audit::Actor { key: actor.key.clone(), client: actor.client.clone() }
}

/// Which tool, as a record says it.
pub(crate) fn tool_ref(id: ToolId, name: &str, hash: &str) -> ToolRef {
    ToolRef { id: Some(id), name: name.to_owned(), hash: Some(hash.to_owned()) }
}

/// A change, as a record says it.
pub(crate) fn change(who: &Actor, action: &str, tool: Option<ToolRef>) -> Entry {
    Entry { tool, ..Entry::new(Kind::Change, actor(who), action) }
}

/// A change of a kept tool, as it is from now on: a row that is not as its last change says is not ours.
pub(crate) fn tool_change(who: &Actor, action: &str, row: &ToolRow, mut said: Value) -> Entry {
    if let Value::Object(said) = &mut said {
        said.insert("state".to_owned(), row.state.clone().into());
        said.insert("texts".to_owned(), row.texts.clone().into());
    }
    told(change(who, action, Some(tool_ref(row.id, &row.name, &row.covered))), said)
}

/// A row that is ours only if it is as the last change of its tool left it. An older row that is put back is not.
pub(crate) fn as_left(view: &View<'_>, row: Option<ToolRow>) -> Result<Option<ToolRow>, StoreError> {
    let Some(mut row) = row else { return Ok(None) };
    row.is_ours = row.is_ours && is_as_left(view, &row)?;
    Ok(Some(row))
}

/// The same of what a list shows of a tool, which does not look at its texts.
pub(crate) fn summary_is_as_left(view: &View<'_>, tool: &ToolSummary) -> Result<bool, StoreError> {
    let Some(last) = view.records(&last_change(tool.id))?.pop() else { return Ok(false) };
    let body = serde_json::from_str::<Value>(&last.body).unwrap_or_default();
    Ok(body.pointer("/outcome/state").and_then(Value::as_str) == Some(tool.state.as_str()))
}

fn is_as_left(view: &View<'_>, row: &ToolRow) -> Result<bool, StoreError> {
    // There is one of every tool: before retention takes the last change of one, it is told anew.
    let Some(last) = view.records(&last_change(row.id))?.pop() else { return Ok(false) };
    let Ok(body) = serde_json::from_str::<Value>(&last.body) else { return Ok(false) };
    let says = |path: &str, worth: &str| body.pointer(path).and_then(Value::as_str) == Some(worth);
    Ok(says("/tool/hash", &row.covered)
        && says("/outcome/state", &row.state)
        && says("/outcome/texts", &row.texts))
}

/// An intent, and the entry that its outcome becomes. Only the intent holds the arguments: both have the same call id.
pub(crate) fn intent_and_outcome(entry: Entry) -> (Entry, Entry) {
    let outcome = Entry { kind: Kind::Outcome, arguments: None, ..entry.clone() };
    (Entry { kind: Kind::Intent, ..entry }, outcome)
}

/// An entry with how it went.
pub(crate) fn told(mut entry: Entry, outcome: Value) -> Entry {
    entry.outcome = Some(outcome);
    entry
}

/// The outcome of a call that ended before it could tell how.
pub(crate) fn ended(entry: Entry, code: ErrorCode) -> Entry {
    let entry = Entry { kind: Kind::Outcome, ..entry };
    told(entry, json!({"ok": false, "code": code, "message": code.meaning()}))
}

/// Who gets the signed heads beside the data folder.
pub(crate) fn witnesses(settings: &Settings, posts: &Posts) -> Result<Vec<Witness>, Refusal> {
    settings
        .audit
        .witnesses
        .iter()
        .map(|witness| match witness {
            bailiwick_config::Witness::File(path) => Ok(Witness::File(path.clone())),
            bailiwick_config::Witness::Address(address) => crate::webhook::witness(settings, address, posts),
        })
        .collect()
}

/// Puts a run on the record before it begins.
pub(crate) async fn run_begins(core: &Core, caller: &Caller, intent: RunIntent) -> Result<Reply, Refusal> {
    let durability = durability_of(&intent);
    let entry = run_entry(caller, Kind::Intent, intent);
    core.append(entry, durability).await?;
    Ok(Reply::Done)
}

/// Puts how a run ended on the record.
pub(crate) async fn run_ended(core: &Core, caller: &Caller, outcome: RunOutcome) -> Result<Reply, Refusal> {
    let RunOutcome { intent, code, message, usage } = outcome;
    let durability = durability_of(&intent);
    // Its intent holds the arguments.
    let mut entry = Entry { arguments: None, ..run_entry(caller, Kind::Outcome, intent) };
    entry.usage = Some(usage);
    let entry = told(entry, json!({"ok": code.is_none(), "code": code, "message": message}));
    core.append(entry, durability).await?;
    Ok(Reply::Done)
}

fn durability_of(intent: &RunIntent) -> Durability {
    if intent.risk.level >= RiskLevel::L4 { Durability::Machine } else { Durability::Process }
}

fn run_entry(caller: &Caller, kind: Kind, intent: RunIntent) -> Entry {
    let RunIntent { name, code_hash, policy_hash, risk, arguments, call_id, correlation_id } = intent;
    Entry {
        call_id: Some(call_id),
        correlation_id: Some(correlation_id),
        tool: Some(ToolRef {
            id: None,
            name: bailiwick_types::shortened(&name),
            hash: Some(bailiwick_types::shortened(&code_hash)),
        }),
        policy_hash: Some(bailiwick_types::shortened(&policy_hash)),
        risk: Some(risk),
        arguments: Some(crate::pipeline::bounded(&arguments)),
        backend: Some(json!({"id": "cell", "tier": bailiwick_types::Tier::Process})),
        ..Entry::new(kind, actor(&caller.actor), "run")
    }
}

/// As many as were asked for, within bounds.
fn most(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(MOST).clamp(1, MOST)
}

/// The newest records, the oldest of them first.
pub(crate) async fn tail(core: &Core, limit: u32) -> Result<Reply, Refusal> {
    let query = Query { limit: most(limit), newest_first: true, ..Query::default() };
    let mut records = core.inner.store.read(move |view| view.records(&query)).await?;
    records.reverse();
    Ok(Reply::Records(records.iter().map(shown).collect::<Result<_, _>>()?))
}

/// Records from one on, in the order they are asked for.
pub(crate) async fn page(
    core: &Core,
    from_seq: Option<u64>,
    newest_first: bool,
    limit: u32,
) -> Result<Reply, Refusal> {
    let query = Query { from_seq, newest_first, limit: most(limit), ..Query::default() };
    let records = core.inner.store.read(move |view| view.records(&query)).await?;
    Ok(Reply::Records(records.iter().map(shown).collect::<Result<_, _>>()?))
}

/// The records that belong to a number, a call, or what caused it.
pub(crate) async fn show(core: &Core, about: String) -> Result<Reply, Refusal> {
    let all = Query { limit: MOST, ..Query::default() };
    let queries: Vec<Query> = if let Ok(seq) = about.parse::<u64>() {
        let numbered = Query { from_seq: Some(seq), limit: 1, ..all.clone() };
        // Somebody may have called what caused it by a number.
        let cause = CorrelationId::parse(&about).ok().map(|cause| Query { correlation: Some(cause), ..all });
        std::iter::once(numbered).chain(cause).collect()
    } else {
        let call = CallId::parse(&about).ok().map(|id| Query { call_id: Some(id), ..all.clone() });
        let cause = CorrelationId::parse(&about).map_err(|error| {
            Refusal::new(ErrorCode::InvalidInput, error.to_string())
                .with_hint("name a record's number, a call id or a correlation id")
        })?;
        let cause = Query { correlation: Some(cause), ..all };
        call.into_iter().chain([cause]).collect()
    };
    let mut found: BTreeMap<u64, Value> = BTreeMap::new();
    for query in queries {
        let exactly = query.from_seq;
        let records = core.inner.store.read(move |view| view.records(&query)).await?;
        // A call that nobody tied to anything is tied to itself, and others may be tied to it.
        for record in records.iter().filter(|record| exactly.is_none_or(|seq| record.seq == seq)) {
            found.insert(record.seq, shown(record)?);
        }
        // A number is a record's before it is anything else.
        if exactly.is_some() && !found.is_empty() {
            break;
        }
    }
    if !found.is_empty() {
        return Ok(Reply::Records(found.into_values().collect()));
    }
    Err(Refusal::new(
        ErrorCode::NotFound,
        format!("no record belongs to `{}`", bailiwick_types::shortened(&about)),
    )
    .with_hint("bailiwick audit tail tells the newest"))
}

/// A record as it is shown: its text with its hash.
fn shown(record: &StoredRecord) -> Result<Value, Refusal> {
    let line = record_line(&record.body, &record.hash);
    serde_json::from_str(&line).map_err(|_| {
        Refusal::new(ErrorCode::Internal, format!("record {} cannot be read", record.seq))
            .with_hint("bailiwick audit verify tells since when")
    })
}

/// Proves the chain.
pub(crate) async fn verify(core: &Core, caller: &Caller) -> Result<Reply, Refusal> {
    let listener = Arc::clone(&caller.listener);
    let heard = move |done: u64| listener.hear(Event::Progress { done, of: None });
    let verdict = core.inner.store.verify(heard).await?;
    let (proven_to, unsigned, removed, first_bad, why) = match &verdict {
        Verdict::Proven { to, unsigned, from: _, removed } => (*to, *unsigned, *removed, None, None),
        Verdict::Broken { first_bad, why, proven_to } => {
            (*proven_to, 0, 0, Some(*first_bad), Some(format!("{why:?}")))
        }
    };
    Ok(Reply::Verified(Verified {
        ok: verdict.is_proven(),
        says: verdict.to_string(),
        proven_to,
        unsigned,
        removed,
        first_bad,
        why,
        key: core.inner.store.public_key().to_string(),
    }))
}

/// A part of the record as lines for a file, each signed head behind the record it speaks for.
pub(crate) async fn export(core: &Core, from: u64, limit: u32) -> Result<Reply, Refusal> {
    let limit = most(limit);
    let query = Query { from_seq: Some(from.max(1)), limit, ..Query::default() };
    let page = core.inner.store.read(move |view| {
        let records = view.records(&query)?;
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            return Ok(ExportPage { lines: Vec::new(), next: None });
        };
        let heads = view.heads(first.seq, limit)?;
        let mut heads = heads.iter().peekable();
        let mut lines = Vec::with_capacity(records.len());
        for record in &records {
            lines.push(record_line(&record.body, &record.hash));
            while let Some(head) = heads.next_if(|head| head.seq <= record.seq) {
                lines.push(head_line(head));
            }
        }
        let next = (records.len() >= limit).then(|| last.seq.saturating_add(1));
        Ok(ExportPage { lines, next })
    });
    Ok(Reply::Lines(page.await?))
}

/// Tells the last change of every tool anew that would go with the oldest records, so that its row can still be held
/// against it.
async fn restate(core: &Core, goes: impl Fn(&StoredRecord) -> bool) -> Result<(), Refusal> {
    let mut after: Option<String> = None;
    loop {
        let from = after.take();
        let page = core.inner.store.read(move |view| view.tools(from.as_deref(), MOST)).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.name.clone());
        for id in page.iter().map(|tool| tool.id) {
            let found = core.inner.store.read(move |view| Ok(view.records(&last_change(id))?.pop()));
            if !found.await?.is_some_and(|change| goes(&change)) {
                continue;
            }
            let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<(), StoreError> {
                // A row that is not as it was left has nothing to be told anew.
                if let Some(row) = as_left(tx, tx.tool(id)?)?.filter(|row| row.is_ours) {
                    tx.append(&tool_change(&own(), "tool.restate", &row, json!({})))?;
                }
                Ok(())
            });
            written.await?;
        }
    }
}

/// This program, where nobody asked.
fn own() -> Actor {
    Actor { key: None, client: "bailiwick".to_owned() }
}

/// The last change of a tool.
fn last_change(id: ToolId) -> Query {
    Query { tool: Some(id), changes: true, newest_first: true, limit: 1, ..Query::default() }
}

/// Removes records as far as they are too old or too many.
pub(crate) async fn forget(core: &Core, retention: Retention) -> Result<u64, Refusal> {
    let now = now_ms();
    let bounds = core.inner.store.read(|view| {
        Ok((view.last_link()?.seq, view.tool_count()?.saturating_add(view.keys()?.len() as u64)))
    });
    let (last, kept) = bounds.await?;
    // What is told anew makes the record longer by so many.
    let to = retention.max_records.map_or(0, |most| last.saturating_add(kept).saturating_sub(most));
    let oldest = retention.max_age_ms.map_or(0, |age| now.saturating_sub(age));
    let oldest = rfc3339(oldest);
    let goes = |change: &StoredRecord| change.seq <= to || is_older(change, &oldest);
    restate(core, goes).await?;
    crate::keys::restate(core, own(), goes).await?;
    Ok(core.inner.store.retain(retention, now).await?.removed)
}

/// Whether a record was made before this time, or cannot tell when it was.
fn is_older(record: &StoredRecord, than: &str) -> bool {
    let body = serde_json::from_str::<Value>(&record.body).unwrap_or_default();
    // One form for all times, so that they compare as texts do.
    body.get("time").and_then(Value::as_str).is_none_or(|time| time < than)
}

/// Removes the oldest records, as far as a signed head allows.
pub(crate) async fn retain(core: &Core, days: Option<u32>, records: Option<u64>) -> Result<Reply, Refusal> {
    if days.is_none() && records.is_none() {
        return Err(Refusal::new(ErrorCode::InvalidInput, "nothing says what to keep")
            .with_hint("name an age in days, or a number of records"));
    }
    let retention = Retention {
        max_age_ms: days.map(|days| u64::from(days).saturating_mul(DAY_MS)),
        max_records: records,
        ..Retention::default()
    };
    Ok(Reply::Retained { removed: forget(core, retention).await? })
}
