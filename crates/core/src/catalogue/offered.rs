//! The tools that can be called, as a model sees them: what they are for and what their policy lets them do.
//!
//! A page is one look at the store, so it shows the tools of one moment, by name. What a call would be refused for (it
//! was edited, it is stale, it is above the ceiling) is not on it. Nothing of how a tool is made leaves here.

use std::sync::Arc;

use bailiwick_store::{StoreError, ToolRow, View};
use bailiwick_tool::lifecycle::State;

use super::pages::edition;
use crate::journal::as_left;
use crate::parsed::{Parsed, Standing};
use crate::pass::Pass;
use crate::pipeline::is_stale;
use crate::{Core, Offered, Refusal, Reply};

/// The most tools of one page.
const MOST: usize = 1000;
/// How many lines are looked at in one go for those that are offered.
const AT_ONCE: usize = if cfg!(test) { 16 } else { 250 };

/// A page of them.
pub(crate) async fn offered(core: &Core, after: Option<String>, limit: u32) -> Result<Reply, Refusal> {
    let limit = usize::try_from(limit).unwrap_or(MOST).clamp(1, MOST);
    let edition = edition(&core.inner.store).await?;
    let which = (after, limit);
    let found = if let Some(found) = core.inner.pages.find(edition, &which) {
        found
    } else {
        let (inside, after) = (core.clone(), which.0.clone());
        // Documents that were not read before are read there, too: away from whoever serves others.
        let page = core.inner.store.read(move |view| page(&inside, view, after, limit));
        core.inner.pages.keep(edition, which, page.await?)
    };
    Ok(Reply::Offered(Arc::unwrap_or_clone(found)))
}

/// What is not offered takes no place on a page: only a short page is the last.
fn page(
    core: &Core,
    view: &View<'_>,
    mut after: Option<String>,
    limit: usize,
) -> Result<Vec<Offered>, StoreError> {
    let mut all = Vec::new();
    loop {
        let next = view.tools(after.as_deref(), AT_ONCE)?;
        for line in next.iter().filter(|line| line.state == State::Published.word()) {
            // The line was sealed without its texts, and they count.
            let Some(row) = as_left(view, view.tool(line.id)?)? else { continue };
            let Ok(parsed) = core.parsed(&row) else { continue };
            let Some(standing) = standing_of_callable(&row, &parsed) else { continue };
            all.push(of(&parsed, standing));
            if all.len() >= limit {
                return Ok(all);
            }
        }
        if next.len() < AT_ONCE {
            return Ok(all);
        }
        after = next.into_iter().last().map(|line| line.name);
    }
}

/// What a tool may do, if a call of it would get as far as its arguments, and its name is its own.
fn standing_of_callable<'a>(row: &ToolRow, parsed: &'a Parsed) -> Option<&'a Standing> {
    let pass = row.pass.as_deref().and_then(Pass::read).filter(|pass| pass.covered == row.covered)?;
    let standing = parsed.standing.as_ref().ok()?;
    let fits = row.state == State::Published.word()
        // It may have been published before its name was kept for a native tool.
        && !parsed.tool.name().is_reserved()
        && is_stale(&pass, standing).is_none()
        && standing.level() <= standing.policy.baseline().ceilings.risk;
    fits.then_some(standing)
}

fn of(parsed: &Parsed, standing: &Standing) -> Offered {
    let tool = &parsed.tool;
    Offered {
        name: tool.name().as_str().to_owned(),
        title: tool.title().map(str::to_owned),
        description: tool.description().map(str::to_owned),
        input_schema: tool.input_schema(),
        output_schema: tool.output().cloned(),
        hints: standing.hints(),
        level: standing.level(),
        approval: standing.needs_approval,
    }
}
