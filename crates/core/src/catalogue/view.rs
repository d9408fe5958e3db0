//! Tools as people see them: in a list, in full, as documents.

use std::sync::Arc;

use bailiwick_audit::rfc3339;
use bailiwick_store::{Durability, StoreError, ToolRow, ToolSummary};
use bailiwick_tool::Tool;
use bailiwick_tool::lifecycle::State;
use bailiwick_types::{ErrorCode, RiskLevel, Scope, ToolId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::journal::summary_is_as_left;
use crate::parsed::{Parsed, Standing};
use crate::pass::row_is_stale;
use crate::pipeline::{find, find_for, no_such};
use crate::{Caller, Core, Document, Refusal, Reply, ToolLine, ToolView};

/// The most tools of one answer.
const MOST: usize = 1000;
/// What a published tool is called whose policy became wider since its pass.
const STALE: &str = "STALE";

/// What a list shows of a tool beside its columns, as it was under one baseline.
#[derive(Serialize, Deserialize)]
struct Kept {
    baseline: String,
    level: Option<RiskLevel>,
    stale: bool,
}

/// What a list will show of a tool, to be kept beside it.
pub(crate) fn standing_of(core: &Core, parsed: &Parsed, stale: bool) -> String {
    let level = parsed.standing.as_ref().ok().map(Standing::level);
    let kept = Kept { baseline: core.inner.baseline.to_string(), level, stale };
    serde_json::to_string(&kept).unwrap_or_default()
}

/// Tools by name: all of them for whoever may author, else those that can be called.
pub(crate) async fn list(
    core: &Core,
    caller: &Caller,
    mut after: Option<String>,
    limit: u32,
) -> Result<Reply, Refusal> {
    let limit = usize::try_from(limit).unwrap_or(MOST).clamp(1, MOST);
    let sees_all = caller.scopes.covers(Scope::Author);
    let mut lines = Vec::new();
    // What is not shown takes no place on a page: whoever pages on finds all that is theirs.
    loop {
        let page = page(core, after.take(), limit).await?;
        let was_last = page.len() < limit;
        after = page.last().map(|line| line.name.clone());
        lines.extend(page.into_iter().filter(|line| sees_all || is_offered(line)));
        if was_last || lines.len() >= limit {
            lines.truncate(limit);
            return Ok(Reply::Tools(lines));
        }
    }
}

/// Whether a tool can be called.
pub(crate) fn is_offered(line: &ToolLine) -> bool {
    line.state == State::Published.word()
}

async fn page(core: &Core, after: Option<String>, limit: usize) -> Result<Vec<ToolLine>, Refusal> {
    let page = core.inner.store.read(move |view| {
        let mut page = view.tools(after.as_deref(), limit)?;
        for line in page.iter_mut().filter(|line| line.is_ours && line.state == State::Published.word()) {
            line.is_ours = summary_is_as_left(view, line)?;
        }
        Ok(page)
    });
    let page = page.await?;
    let mut lines = Vec::with_capacity(page.len());
    let mut outdated = Vec::new();
    for mut summary in page {
        let kept = summary.standing.as_deref().and_then(|text| serde_json::from_str::<Kept>(text).ok());
        let was_stale = kept.as_ref().is_some_and(|kept| kept.stale);
        match kept.filter(|kept| kept.baseline == core.inner.baseline.to_string() && summary.is_ours) {
            Some(kept) => lines.push(line(&summary, kept.level, kept.stale)),
            None if !summary.is_ours => lines.push(line(&summary, None, false)),
            None => {
                // The operator's file changed since: look again, and keep what came of it.
                let row = find(core, &summary.id.to_string()).await?;
                let level = if let Ok(parsed) = core.parsed(&row) {
                    let stale = row_is_stale(core, &row);
                    if stale && !was_stale && row.state == State::Published.word() {
                        core.tell_tool("tool.stale", &row.name, Some(row.name.clone()), Some(&row));
                    }
                    outdated.push((row.id, row.version, standing_of(core, &parsed, stale)));
                    parsed.standing.as_ref().ok().map(|standing| (standing.level(), stale))
                } else {
                    summary.is_ours = false;
                    None
                };
                lines.push(line(
                    &summary,
                    level.map(|(level, _)| level),
                    level.is_some_and(|(_, stale)| stale),
                ));
            }
        }
    }
    if !outdated.is_empty() {
        keep(core, outdated).await?;
    }
    Ok(lines)
}

async fn keep(core: &Core, outdated: Vec<(ToolId, u64, String)>) -> Result<(), Refusal> {
    let written = core.inner.store.write(Durability::Process, move |tx| -> Result<(), StoreError> {
        for (id, version, standing) in outdated {
            if let Some(mut row) = tx.tool(id)?.filter(|row| row.is_ours && row.version == version) {
                row.standing = Some(standing);
                tx.put_tool(&row)?;
            }
        }
        Ok(())
    });
    Ok(written.await?)
}

fn line(summary: &ToolSummary, level: Option<RiskLevel>, is_stale: bool) -> ToolLine {
    let shown = match summary.state.as_str() {
        _ if !summary.is_ours => State::Revoked.word(),
        "PUBLISHED" if is_stale => STALE,
        other => other,
    };
    ToolLine {
        id: summary.id,
        name: summary.name.clone(),
        title: summary.title.clone().unwrap_or_default(),
        state: shown.to_owned(),
        level,
        version: summary.version,
        updated_at: rfc3339(summary.updated_ms),
    }
}

/// The line of a row.
pub(crate) fn line_of(core: &Core, row: &ToolRow) -> ToolLine {
    let parsed = core.parsed(row);
    let state = match row.state.as_str() {
        _ if parsed.is_err() => State::Revoked.word(),
        "PUBLISHED" if row_is_stale(core, row) => STALE,
        state => state,
    };
    let level = parsed.ok().and_then(|parsed| parsed.standing.as_ref().ok().map(Standing::level));
    ToolLine {
        id: row.id,
        name: row.name.clone(),
        title: row.title.clone().unwrap_or_default(),
        state: state.to_owned(),
        level,
        version: row.version,
        updated_at: rfc3339(row.updated_ms),
    }
}

/// One tool in full; for whoever may not author only one that can be called, and only what a caller needs to know.
pub(crate) async fn show(core: &Core, caller: &Caller, key: &str) -> Result<Reply, Refusal> {
    let row = find_for(core, caller, key).await?;
    let line = line_of(core, &row);
    let sees_all = caller.scopes.covers(Scope::Author);
    if !sees_all && !is_offered(&line) {
        return Err(no_such(core, caller.scopes, key).await?);
    }
    let document: Value = serde_json::from_str(&row.document).unwrap_or_else(|_| row.document.clone().into());
    let json = |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let (because, parsed) = match core.parsed(&row) {
        Ok(parsed) if row.state == State::Revoked.word() => {
            (Some("it was revoked; the record tells when and why".to_owned()), Some(parsed))
        }
        Ok(parsed) => (None, Some(parsed)),
        Err(tampered) => (Some(tampered.0.to_owned()), None),
    };
    let standing = parsed.as_ref().map(|parsed| parsed.standing());
    let (because, standing) = match standing {
        Some(Ok(standing)) => (because, Some(standing)),
        Some(Err(refusal)) => (Some(refusal.message), None),
        None => (because, None),
    };
    let view = ToolView {
        because,
        hash: row.covered.clone(),
        texts_hash: row.texts.clone(),
        risk: standing.map(|standing| standing.risk.clone()),
        policy: standing.map(Standing::shown),
        approval: standing.is_some_and(|standing| standing.needs_approval),
        pass: json(&row.pass),
        notes: json(&row.notes),
        definition: parsed.as_ref().map_or(Value::Null, |parsed| parsed.tool.definition()),
        document,
        line,
    };
    Ok(Reply::Tool(Box::new(if sees_all { view } else { outside_of(view) })))
}

/// What a caller is shown of a tool: what it is for and how it is called, not how it is made.
fn outside_of(view: ToolView) -> ToolView {
    let ToolView {
        line,
        because: _,
        document: _,
        hash,
        texts_hash,
        risk,
        policy: _,
        approval,
        pass: _,
        notes: _,
        definition,
    } = view;
    ToolView {
        line,
        because: None,
        document: Value::Null,
        hash,
        texts_hash,
        risk,
        policy: None,
        approval,
        pass: None,
        notes: None,
        definition,
    }
}

/// Tools as documents for a folder.
pub(crate) async fn export(core: &Core, keys: Vec<String>) -> Result<Reply, Refusal> {
    let mut rows = Vec::new();
    if keys.is_empty() {
        let mut after: Option<String> = None;
        loop {
            let from = after.take();
            let page = core.inner.store.read(move |view| view.tools(from.as_deref(), MOST)).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.name.clone());
            for summary in page {
                rows.push(find(core, &summary.id.to_string()).await?);
            }
        }
    }
    for key in &keys {
        rows.push(find(core, key).await?);
    }
    let documents = rows.iter().map(|row| document(core, row)).collect::<Result<_, _>>()?;
    Ok(Reply::Exported(documents))
}

fn document(core: &Core, row: &ToolRow) -> Result<Document, Refusal> {
    if row.state == State::Revoked.word() {
        // What lies there is not known to be its author's.
        return Err(Refusal::new(
            ErrorCode::Revoked,
            format!("`{}` is not exported: it was revoked", row.name),
        )
        .with_hint("import its document again, or remove it"));
    }
    let parsed: Arc<Parsed> = core.parsed(row).map_err(|tampered| {
        Refusal::new(ErrorCode::Revoked, format!("`{}` is not exported: {}", row.name, tampered.0))
            .with_hint("bailiwick tool show tells what is there")
    })?;
    let tool: &Tool = &parsed.tool;
    Ok(Document { name: format!("{}.tool.yaml", plain_name(tool)), text: tool.to_yaml() })
}

/// A tool's name as that of a file, unlike that of every other tool: a name from elsewhere has a hash of itself
/// behind it, and a capital before it, which no name of ours has.
fn plain_name(tool: &Tool) -> String {
    let name = tool.name().as_str();
    if tool.name().slug().is_some() {
        return name.to_owned();
    }
    let tame = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let tame: String = name.chars().map(tame).take(40).collect();
    let hash = bailiwick_tool::Hash::of_bytes(name.as_bytes()).to_string();
    format!("X-{tame}-{}", hash.get(..16).unwrap_or_default())
}
