//! `bailiwick audit export`: the record as lines of JSON, page by page, so that its length does not matter.

use bailiwick_config::files::{Readers, Replacement};
use bailiwick_core::Action;
use serde_json::json;

use super::{NO_CELLS, records, seq_of};
use crate::desk::at_desk;
use crate::failure::Failure;
use crate::render::{Screen, good, plain};
use crate::resolved::Session;
use crate::typed::audit::Export;

/// So many are taken at once.
const PAGE: u32 = 1_000;

/// `bailiwick audit export`
pub(crate) fn export(screen: &mut Screen, session: &Session, what: &Export) -> Result<u8, Failure> {
    let mut file = match &what.to {
        Some(path) => Some(Replacement::begin(path, Readers::Owner)?),
        None => None,
    };
    let count = at_desk(session, &NO_CELLS, async |desk| {
        let mut next = what.from;
        let mut count = 0_u64;
        loop {
            let page = records(desk, Action::AuditExport { from: next, limit: PAGE }).await?;
            for line in &page {
                match &mut file {
                    Some(file) => file.write(&format!("{line}\n"))?,
                    None => screen.json_line(line),
                }
            }
            screen.show_now();
            count += page.iter().filter_map(seq_of).count() as u64;
            match page.iter().filter_map(seq_of).max() {
                Some(last) => next = last + 1,
                None => return Ok(count),
            }
        }
    })?;
    let (Some(path), Some(file)) = (&what.to, file) else {
        return Ok(0);
    };
    file.take_its_place()?;
    let shown = path.display().to_string();
    if screen.wants_json() {
        screen.json(&json!({"file": shown, "records": count}));
    } else {
        screen.line(&[good("wrote "), plain(&format!("{count} records to {shown}"))]);
    }
    Ok(0)
}
