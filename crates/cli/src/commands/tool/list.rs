//! `bailiwick tool list`: the catalogue, a line each.

use bailiwick_core::{Action, Reply, ToolLine};
use serde_json::json;

use super::NO_CELLS;
use crate::desk::{At, ask, at_desk};
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, Span, bad, faint, good, plain, strong, warning};
use crate::resolved::Session;
use crate::typed::tool::List;

/// So many are asked for at once.
const PAGE: u32 = 1_000;

/// `bailiwick tool list`
pub(crate) fn list(screen: &mut Screen, session: &Session, List { state }: &List) -> Result<u8, Failure> {
    let mut tools = at_desk(session, &NO_CELLS, async |desk| all(desk).await)?;
    if let Some(state) = state {
        tools.retain(|tool| tool.state.eq_ignore_ascii_case(state));
    }
    if screen.wants_json() {
        screen.json(&json!({"tools": tools}));
        return Ok(0);
    }
    if tools.is_empty() {
        screen.line(&[plain(if state.is_some() {
            "no tool is in that state"
        } else {
            "there are no tools"
        })]);
        return Ok(0);
    }
    let mut table = Table::new(&["NAME", "STATE", "BADGE", "VERSION", "TITLE"]);
    for ToolLine { id: _, name, title, state, level, version, updated_at: _ } in &tools {
        let badge = level.map_or("?", bailiwick_types::RiskLevel::name);
        table.row(vec![
            Cell::new(name, strong),
            Cell::new(state, look_of(state)),
            Cell::new(badge, plain),
            Cell::new(version.to_string(), faint),
            Cell::new(title, plain),
        ]);
    }
    table.show(screen);
    Ok(0)
}

/// Every tool, page by page.
async fn all(desk: &At) -> Result<Vec<ToolLine>, Failure> {
    let mut tools: Vec<ToolLine> = Vec::new();
    loop {
        let after = tools.last().map(|tool| tool.name.clone());
        let Reply::Tools(page) = ask(desk, Action::ToolList { after, limit: PAGE }).await? else {
            return Err(Failure::StrangeReply("tools"));
        };
        if page.is_empty() {
            return Ok(tools);
        }
        tools.extend(page);
    }
}

/// How a state looks.
pub(super) fn look_of(state: &str) -> for<'a> fn(&'a str) -> Span<'a> {
    match state {
        "PUBLISHED" | "READY" => good,
        "REVOKED" | "TEST_FAILED" => bad,
        "STALE" | "MISSING_REQUIREMENTS" | "AWAITING_REVIEW" => warning,
        _ => plain,
    }
}
