//! Documents into the catalogue: all of them in one transaction, or none.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_audit::rfc3339;
use bailiwick_store::{Durability, StoreError, ToolRow, Tx};
use bailiwick_tool::lifecycle::{Event, State, next};
use bailiwick_tool::{ApprovalMode, COVERED, Managed, Tool};
use bailiwick_types::{ErrorCode, ToolId};
use serde_json::json;

use super::{read_document, scanned, standing_of};
use crate::journal::{as_left, tool_change};
use crate::moment::now_ms;
use crate::parsed::Parsed;
use crate::{Actor, Caller, Change, Core, Document, Fault, Found, Imported, Refusal, Reply};

/// The most documents of one import.
const MOST_DOCUMENTS: usize = 20_000;

/// A document that was read and can be taken in.
pub(crate) struct Incoming {
    pub(crate) document: String,
    pub(crate) parsed: Arc<Parsed>,
    pub(crate) warnings: Vec<Fault>,
    pub(crate) texts: Vec<Found>,
    /// What a list shows of it under the policy of today.
    pub(crate) standing: String,
    /// The id it gets if it is new and brings none.
    pub(crate) fresh: ToolId,
    /// A person confirmed that approval is turned off.
    pub(crate) approval_off: bool,
    /// The names of tools whose calls always wait, by the operator's word.
    always_asked: Vec<String>,
}

impl Incoming {
    /// Reads a document as far as that needs no store.
    pub(crate) fn read(core: &Core, document: &Document, approval_off: bool) -> Result<Self, Refusal> {
        let (tool, warnings) = read_document(document)?;
        Self::of(core, &document.name, tool, warnings, approval_off)
    }

    /// A tool that was read.
    pub(crate) fn of(
        core: &Core,
        document: &str,
        tool: Tool,
        warnings: Vec<Fault>,
        approval_off: bool,
    ) -> Result<Self, Refusal> {
        let texts = scanned(&tool);
        let parsed = Arc::new(Parsed::of(tool, &core.inner.world));
        let standing = standing_of(core, &parsed, false);
        let fresh = fresh_id()?;
        let always_asked = core.inner.world.settings.approvals.required.clone();
        let document = document.to_owned();
        Ok(Self { document, parsed, warnings, texts, standing, fresh, approval_off, always_asked })
    }

    fn tool(&self) -> &Tool {
        &self.parsed.tool
    }

    fn name(&self) -> &str {
        self.tool().name().as_str()
    }

    /// Whether calls waited by the operator's word about the name that it had, and would not under this one.
    fn sheds_approval(&self, before: &str) -> bool {
        let waits = self.parsed.standing.as_ref().is_ok_and(|standing| standing.needs_approval);
        !waits && self.always_asked.iter().any(|name| name == before)
    }

    fn fault(&self, path: &str, message: String, hint: &str) -> Fault {
        Fault {
            document: self.document.clone(),
            path: path.to_owned(),
            line: 0,
            column: 0,
            message,
            hint: Some(hint.to_owned()),
        }
    }
}

/// Takes documents in, or none of them.
pub(crate) async fn import(
    core: &Core,
    caller: &Caller,
    documents: Vec<Document>,
    approval_off: bool,
) -> Result<Reply, Refusal> {
    if documents.len() > MOST_DOCUMENTS {
        return Err(Refusal::new(
            ErrorCode::InvalidInput,
            format!("{} documents at once; at most {MOST_DOCUMENTS} are taken", documents.len()),
        )
        .with_hint("import in parts"));
    }
    let mut faults = Vec::new();
    let mut incoming = Vec::new();
    for document in &documents {
        match Incoming::read(core, document, approval_off) {
            Ok(one) => incoming.push(one),
            Err(refusal) if refusal.faults.is_empty() => faults.push(whole(&document.name, &refusal)),
            Err(refusal) => faults.extend(refusal.faults),
        }
    }
    faults.extend(twice(&incoming));
    let (actor, inside) = (caller.actor.clone(), core.clone());
    let written = core.inner.store.write(Durability::Machine, move |tx| -> Result<_, Refusal> {
        let mut taken = Vec::with_capacity(incoming.len());
        for one in &incoming {
            match take_in(&inside, tx, &actor, one) {
                Ok(one) => taken.push(one),
                Err(NotTaken::Fault(fault)) => faults.push(*fault),
                Err(NotTaken::Store(error)) => return Err(error.into()),
            }
        }
        if faults.is_empty() { Ok(taken) } else { Err(not_taken(faults)) }
    });
    let mut imported = Vec::new();
    for Taken { imported: one, before, now } in written.await? {
        if let Some(now) = now {
            core.tell_tool("tool.import", &one.name, core.was_offered(before.as_ref()), Some(&now));
        }
        imported.push(one);
    }
    Ok(Reply::Imported(imported))
}

/// A document that was taken in.
pub(crate) struct Taken {
    pub(crate) imported: Imported,
    /// The row that was there before.
    pub(crate) before: Option<ToolRow>,
    /// The row that is there now; none when nothing changed.
    pub(crate) now: Option<ToolRow>,
}

/// Why one document is not taken.
pub(crate) enum NotTaken {
    Fault(Box<Fault>),
    Store(StoreError),
}

impl From<StoreError> for NotTaken {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Nothing was taken, and why.
pub(crate) fn not_taken(faults: Vec<Fault>) -> Refusal {
    let mut documents: Vec<&str> = faults.iter().map(|fault| fault.document.as_str()).collect();
    documents.sort_unstable();
    documents.dedup();
    let code = if faults.iter().any(|fault| fault.path == APPROVAL) {
        ErrorCode::Conflict
    } else {
        ErrorCode::Validation
    };
    let message = format!(
        "nothing was imported: {} in {}",
        counted(faults.len(), "mistake"),
        counted(documents.len(), "document")
    );
    Refusal::new(code, message).with_faults(faults)
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn whole(document: &str, refusal: &Refusal) -> Fault {
    Fault {
        document: document.to_owned(),
        path: String::new(),
        line: 0,
        column: 0,
        message: refusal.message.clone(),
        hint: refusal.hint.clone(),
    }
}

/// Documents of one import that claim the same name or id.
fn twice(incoming: &[Incoming]) -> Vec<Fault> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut ids: BTreeMap<ToolId, &str> = BTreeMap::new();
    let mut faults = Vec::new();
    for one in incoming {
        if let Some(before) = names.insert(one.name(), &one.document) {
            let message = format!("the name `{}` is also that of {before}", one.name());
            faults.push(one.fault("name", message, "names are unique: change one of them"));
        }
        if let Some(id) = one.tool().id()
            && let Some(before) = ids.insert(id, &one.document)
        {
            let message = format!("the id {id} is also that of {before}");
            faults.push(one.fault("id", message, "leave out `id` in a copy: it gets one of its own"));
        }
    }
    faults
}

/// The tool that a document would change, as we left it or marked as not ours.
fn predecessor(tx: &Tx<'_>, one: &Incoming) -> Result<Option<ToolRow>, NotTaken> {
    let id = one.tool().id();
    let taken = |other: &ToolRow, hint: &str| {
        let message = format!("the name `{}` belongs to another tool, {}", one.name(), other.id);
        NotTaken::Fault(Box::new(one.fault("name", message, hint)))
    };
    let by_id = match id {
        Some(id) => as_left(tx, tx.tool(id)?)?,
        None => None,
    };
    match (by_id, as_left(tx, tx.tool_named(one.name())?)?) {
        (Some(row), Some(other)) if row.id != other.id => {
            Err(taken(&other, "choose another name, or remove that tool first"))
        }
        (Some(row), _) => Ok(Some(row)),
        (None, Some(other)) if id.is_some() => {
            Err(taken(&other, "leave out `id` to change that tool, or choose another name"))
        }
        (None, by_name) => Ok(by_name),
    }
}

/// The path of faults about approval that is turned off.
const APPROVAL: &str = "approval.mode";

/// Takes one document in, within a transaction.
pub(crate) fn take_in(
    core: &Core,
    tx: &mut Tx<'_>,
    actor: &Actor,
    one: &Incoming,
) -> Result<Taken, NotTaken> {
    let tool = one.tool();
    let fault =
        |path: &str, message: String, hint: &str| NotTaken::Fault(Box::new(one.fault(path, message, hint)));
    let before = predecessor(tx, one)?;
    let now = now_ms();
    let (id, version, created_ms) = match &before {
        Some(row) => (row.id, row.version.saturating_add(1), row.created_ms),
        None => (tool.id().unwrap_or(one.fresh), 1, now),
    };
    let (covered, texts) = (one.parsed.covered.to_string(), one.parsed.texts.to_string());
    let managed = Managed {
        created_at: Some(rfc3339(created_ms)),
        updated_at: Some(rfc3339(now)),
        version: Some(version),
    };
    let document = tool.clone().with_id(id).with_managed(managed).to_json().to_string();
    let change = match &before {
        None => Change::Added,
        // A revoked tool comes back by its document, whatever that says.
        Some(row) if !row.is_ours || row.state == State::Revoked.word() => Change::Changed,
        Some(row) if row.covered != covered || !same_covered(&row.document, &document) => Change::Changed,
        Some(row) if row.texts == texts && same_but_managed(&row.document, &document) => Change::Same,
        Some(_) => Change::Texts,
    };
    if let Some(row) = before.as_ref().filter(|row| row.is_ours)
        && !one.approval_off
        && (turns_approval_off(core, row, &one.parsed) || one.sheds_approval(&row.name))
    {
        return Err(fault(
            APPROVAL,
            format!("calls of `{}` waited for a person until now, and would no longer", one.name()),
            "if that is meant, confirm it: --approval-off, or --yes where it is published",
        ));
    }
    let from = before.as_ref().and_then(|row| row.state.parse().ok()).unwrap_or(State::Draft);
    let blocked = one.texts.iter().any(|found| found.blocks);
    let state = match change {
        Change::Added => State::Draft,
        Change::Changed => step(from, Event::CoveredEdited, &fault)?,
        Change::Same => from,
        Change::Texts => {
            let state = step(from, Event::TextEdited, &fault)?;
            // What trips the scan is not offered on without a word for it.
            if blocked && state == State::Published {
                step(state, Event::Unpublished, &fault)?
            } else {
                state
            }
        }
    };
    let mut kept = None;
    if change != Change::Same {
        let pass = before.as_ref().filter(|_| change == Change::Texts).and_then(|row| row.pass.clone());
        let notes =
            before.as_ref().filter(|_| change == Change::Texts && !blocked).and_then(|row| row.notes.clone());
        let row = ToolRow {
            id,
            name: one.name().to_owned(),
            title: tool.title().map(str::to_owned),
            state: state.word().to_owned(),
            document,
            covered: covered.clone(),
            texts,
            pass,
            notes,
            version,
            created_ms,
            updated_ms: now,
            standing: Some(one.standing.clone()),
            is_ours: true,
        };
        tx.put_tool(&row)?;
        let tripped: Vec<&str> = one.texts.iter().map(|found| found.rule.as_str()).collect();
        let said = json!({
            "change": change, "version": version,
            "before": before.as_ref().map(|row| row.state.clone()), "scan": tripped,
        });
        tx.append(&tool_change(actor, "tool.import", &row, said))?;
        kept = Some(row);
    }
    let imported = Imported {
        id,
        name: one.name().to_owned(),
        change,
        state: state.word().to_owned(),
        version: before.as_ref().filter(|_| change == Change::Same).map_or(version, |row| row.version),
        warnings: one.warnings.clone(),
        texts: one.texts.clone(),
    };
    Ok(Taken { imported, before, now: kept })
}

fn step(
    from: State,
    event: Event,
    fault: &impl Fn(&str, String, &str) -> NotTaken,
) -> Result<State, NotTaken> {
    next(from, event).map_err(|refused| fault("", refused.to_string(), refused.hint))
}

/// Whether what a pass covers is the same in two kept documents to the letter. Code can see the order of keys and the
/// sign of a zero, which the hash of the canonical form cannot.
pub(crate) fn same_covered(before: &str, now: &str) -> bool {
    let covered = |text: &str| {
        let mut fields = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).ok()?;
        fields.retain(|field, _| COVERED.contains(&field.as_str()));
        serde_json::to_string(&fields).ok()
    };
    covered(before).zip(covered(now)).is_some_and(|(before, now)| before == now)
}

/// Whether two kept documents differ in nothing but what is managed.
fn same_but_managed(before: &str, now: &str) -> bool {
    let plain = |text: &str| {
        let mut value = serde_json::from_str::<serde_json::Value>(text).ok()?;
        let fields = value.as_object_mut()?;
        for managed in ["id", "createdAt", "updatedAt", "version"] {
            fields.remove(managed);
        }
        Some(value)
    };
    plain(before).zip(plain(now)).is_some_and(|(before, now)| before == now)
}

/// Whether calls of a tool wait for a person as it is kept, and would not as it comes in.
fn turns_approval_off(core: &Core, before: &ToolRow, now: &Parsed) -> bool {
    let waits = |parsed: &Parsed| match &parsed.standing {
        Ok(standing) => standing.needs_approval,
        // Its level is not known; its own word is.
        Err(_) => parsed.tool.approval().mode == ApprovalMode::Required,
    };
    core.parsed(before).is_ok_and(|before| waits(&before)) && !waits(now)
}

fn fresh_id() -> Result<ToolId, Refusal> {
    let failed = |_| Refusal::new(ErrorCode::Unavailable, "the system gives no randomness");
    let mut random = [0; 10];
    bailiwick_sys::clock::random(&mut random).map_err(failed)?;
    Ok(ToolId::from_parts(now_ms(), &random))
}
