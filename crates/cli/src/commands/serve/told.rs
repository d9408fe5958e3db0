//! What a server says when it stands: where, with what, behind which walls, and how to talk to it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bailiwick::types::{WallStatus, Wallpart};
use bailiwick_core::{OperatorKey, Refusal, ToolLine};
use serde_json::{Value, json};

use super::listens::Listens;
use crate::render::{Screen, bad, faint, good, level, plain, strong, warning};

/// So many tools are named.
const NAMED: usize = 10;

/// A server that answers.
pub(super) struct Standing {
    pub(super) listens: Listens,
    pub(super) folder: PathBuf,
    /// Whether commands find that folder without being told.
    pub(super) is_usual_folder: bool,
    pub(super) key: OperatorKey,
    pub(super) walls: Result<Vec<Wallpart>, Refusal>,
    pub(super) published: Vec<ToolLine>,
}

impl Standing {
    /// Tells it: one line of JSON for machines.
    pub(super) fn tell(&self, screen: &mut Screen, preset: Option<&str>) {
        if screen.wants_json() {
            screen.json_line(&self.json(preset));
        } else {
            self.tell_people(screen, preset);
        }
        screen.show_now();
    }

    fn json(&self, preset: Option<&str>) -> Value {
        let Self { listens, folder, is_usual_folder: _, key, walls, published } = self;
        json!({
            "listens": listens.address(),
            "mcp": format!("{}/mcp", listens.address()),
            "pid": std::process::id(),
            "data": folder,
            "operatorKey": key.path,
            "operatorKeyIsNew": key.is_new,
            "published": published.len(),
            "preset": preset,
            "walls": walls.as_ref().ok(),
            "cellsUnavailable": walls.as_ref().err().map(|refusal| &refusal.message),
        })
    }

    fn tell_people(&self, screen: &mut Screen, preset: Option<&str>) {
        let Self { listens, folder, is_usual_folder, key, walls, published } = self;
        let (address, reached) = (listens.address(), listens.reached());
        let from_here =
            if reached == address { String::new() } else { format!("  (from this machine: {reached})") };
        screen.field("listens", &[strong(&address), faint(&from_here)]);
        screen.field("mcp", &[plain(&format!("{reached}/mcp"))]);
        screen.field("data", &[plain(&folder.display().to_string())]);
        let is_new = if key.is_new { "  (new; it covers everything, keep it to yourself)" } else { "" };
        screen.field("operator key", &[plain(&key.path.display().to_string()), faint(is_new)]);
        tell_published(screen, published, preset);
        tell_walls(screen, walls);
        screen.line(&[]);
        let data = if *is_usual_folder { String::new() } else { format!(" --data {}", quoted(folder)) };
        let path = quoted(&key.path);
        let header = format!("  curl -H \"Authorization: Bearer $(cat {path})\" {reached}/v1/tools");
        screen.line(&[faint("Ask it:")]);
        screen.line(&[plain(&header)]);
        screen.line(&[plain(&format!("  bailiwick{data} --server {reached} tool list"))]);
        let live = format!("  bailiwick{data} approvals");
        screen.line(&[plain(&live), faint("    calls that wait for a person, live")]);
        let connect = format!("  bailiwick{data} mcp config CLIENT");
        screen.line(&[
            plain(&connect),
            faint("    connects an agent: claude-code, claude-desktop, cursor, vscode, codex"),
        ]);
        screen.line(&[faint("Ctrl-C ends it.")]);
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    if path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@%".contains(c)) {
        path
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// The first of these names, and how many more there are.
fn first(names: &[&str]) -> String {
    let (told, more) = names.split_at(names.len().min(NAMED));
    match more.len() {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

fn tell_published(screen: &mut Screen, published: &[ToolLine], preset: Option<&str>) {
    let mut levels = BTreeMap::new();
    for tool in published {
        if let Some(badge) = tool.level {
            *levels.entry(badge).or_insert(0_usize) += 1;
        }
    }
    let count = published.len().to_string();
    let mut line = vec![plain(&count), plain(" published")];
    let counts: Vec<_> = levels.iter().map(|(badge, count)| (*badge, format!(" {count}"))).collect();
    for (badge, count) in &counts {
        line.extend([plain("  "), level(*badge), plain(count)]);
    }
    let coming =
        preset.map_or_else(String::new, |name| format!("  (first start: the preset `{name}` follows)"));
    line.push(faint(&coming));
    screen.field("tools", &line);
    if !published.is_empty() {
        let names: Vec<&str> = published.iter().map(|tool| tool.name.as_str()).collect();
        screen.field("", &[plain(&first(&names))]);
    }
}

/// Which walls stand. One that does not is said plainly.
fn tell_walls(screen: &mut Screen, walls: &Result<Vec<Wallpart>, Refusal>) {
    let walls = match walls {
        Ok(walls) => walls,
        Err(refusal) => {
            screen.field("walls", &[bad("no cell can be made: "), plain(&refusal.message)]);
            if let Some(hint) = &refusal.hint {
                screen.field("", &[strong("hint: "), plain(hint)]);
            }
            return;
        }
    };
    let standing = walls.iter().filter(|wall| wall.status == WallStatus::Enforced).count();
    screen.field(
        "walls",
        &[good(&format!("{standing} of {} stand", walls.len())), faint("  (bailiwick doctor)")],
    );
    for Wallpart { demand, mechanism, status } in
        walls.iter().filter(|wall| wall.status != WallStatus::Enforced)
    {
        let word = match status {
            WallStatus::Partial => warning("in part: "),
            _ => bad("missing: "),
        };
        screen.field("", &[word, plain(demand), faint("  "), faint(mechanism)]);
    }
}
