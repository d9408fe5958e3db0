//! `bailiwick audit export`: the record as lines of JSON, page by page, so that its length does not matter.

use bailiwick_config::files::{Readers, Replacement};
use serde_json::json;

use super::{NO_CELLS, lines};
use crate::desk::at_desk;
use crate::failure::Failure;
use crate::render::{Screen, good, plain};
use crate::resolved::Session;
use crate::typed::audit::Export;

/// `bailiwick audit export`
pub(crate) fn export(screen: &mut Screen, session: &Session, what: &Export) -> Result<u8, Failure> {
    let mut file = match &what.to {
        Some(path) => Some(Replacement::begin(path, Readers::Owner)?),
        None => None,
    };
    let count = at_desk(session, &NO_CELLS, async |desk| {
        let mut next = Some(what.from);
        let mut count = 0_usize;
        while let Some(from) = next {
            let page = lines(desk, from).await?;
            for line in &page.lines {
                match &mut file {
                    Some(file) => file.write(&format!("{line}\n"))?,
                    None => screen.proven_line(line),
                }
            }
            screen.show_now();
            count += page.lines.len();
            next = page.next;
        }
        Ok(count)
    })?;
    let (Some(path), Some(file)) = (&what.to, file) else {
        return Ok(0);
    };
    file.take_its_place()?;
    let shown = path.display().to_string();
    if screen.wants_json() {
        screen.json(&json!({"file": shown, "lines": count}));
    } else {
        screen.line(&[good("wrote "), plain(&format!("{count} lines to {shown}"))]);
    }
    Ok(0)
}
