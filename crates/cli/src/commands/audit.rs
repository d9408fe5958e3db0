//! `bailiwick audit`: the record, for people and for files. It changes nothing but what `retain` is told to remove.

mod export;
mod show;
mod tail;
mod verify;

use bailiwick_core::{Action, ExportPage, Reply};
use serde_json::{Value, json};

use crate::commands::secret::terminal;
use crate::desk::{At, ask, at_desk};
use crate::failure::Failure;
use crate::render::{Screen, good, plain};
use crate::resolved::Session;
use crate::typed::CellFlags;
use crate::typed::audit::{Audit, Retain};

/// Nothing of this runs code.
const NO_CELLS: CellFlags = CellFlags { insecure_cells: false };

/// So many records are taken at once.
const PAGE: u32 = 1_000;

/// `bailiwick audit …`
pub(crate) fn audit(screen: &mut Screen, session: &Session, what: &Audit) -> Result<u8, Failure> {
    match what {
        Audit::Tail(what) => tail::tail(screen, session, what),
        Audit::Show(what) => show::show(screen, session, what),
        Audit::Verify(what) => verify::verify(screen, session, what),
        Audit::Export(what) => export::export(screen, session, what),
        Audit::Retain(what) => retain(screen, session, what),
    }
}

fn retain(screen: &mut Screen, session: &Session, what: &Retain) -> Result<u8, Failure> {
    let Retain { days, records, yes } = *what;
    let asks = !yes && terminal::is_there();
    if asks && !terminal::agrees_now(screen, "Remove the oldest records for good?")? {
        return Err(Failure::Declined("nothing was removed"));
    }
    let removed = at_desk(session, &NO_CELLS, async |desk| {
        match ask(desk, Action::AuditRetain { days, records }).await? {
            Reply::Retained { removed } => Ok(removed),
            _ => Err(Failure::StrangeReply("what was removed")),
        }
    })?;
    if screen.wants_json() {
        screen.json(&json!({"removed": removed}));
    } else {
        screen
            .line(&[good("removed "), plain(&format!("{removed} records; the rest is provable as before"))]);
    }
    Ok(0)
}

/// Asks for records.
async fn records(desk: &At, action: Action) -> Result<Vec<Value>, Failure> {
    match ask(desk, action).await? {
        Reply::Records(records) => Ok(records),
        _ => Err(Failure::StrangeReply("records")),
    }
}

/// Asks for a part of the record as lines.
async fn lines(desk: &At, from: u64) -> Result<ExportPage, Failure> {
    match ask(desk, Action::AuditExport { from, limit: PAGE }).await? {
        Reply::Lines(page) => Ok(page),
        _ => Err(Failure::StrangeReply("lines")),
    }
}

/// The number of a record; none of a signed head among them.
fn seq_of(record: &Value) -> Option<u64> {
    record.get("seq").and_then(Value::as_u64)
}
