//! What a server says when it stands: where, with what, behind which walls, and how to talk to it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bailiwick::types::{WallStatus, Wallpart};
use bailiwick_core::{OperatorKey, Refusal, ToolLine};
use serde_json::{Value, json};

use crate::render::{Screen, bad, faint, good, level, plain, strong, warning};

/// A server that answers.
pub(super) struct Standing {
    pub(super) address: String,
    pub(super) folder: PathBuf,
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
        let Self { address, folder, key, walls, published } = self;
        json!({
            "listens": address,
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
        let Self { address, folder, key, walls, published } = self;
        let path = key.path.display().to_string();
        screen.field("listens", &[strong(address)]);
        screen.field("data", &[plain(&folder.display().to_string())]);
        let is_new = if key.is_new { "  (new; it covers everything, keep it to yourself)" } else { "" };
        screen.field("operator key", &[plain(&path), faint(is_new)]);
        tell_published(screen, published, preset);
        tell_walls(screen, walls);
        screen.line(&[]);
        let header = format!("  curl -H \"Authorization: Bearer $(cat {path})\" {address}/v1/tools");
        screen.line(&[faint("Ask it:")]);
        screen.line(&[plain(&header)]);
        screen.line(&[plain(&format!("  bailiwick --server {address} tool list"))]);
        screen.line(&[plain("  bailiwick approvals"), faint("    calls that wait for a person, live")]);
        screen.line(&[faint("MCP is not here yet. Ctrl-C ends it.")]);
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
