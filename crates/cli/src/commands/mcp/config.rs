//! `bailiwick mcp config`: what to paste, alone on stdout, so that it can be piped; where it belongs goes to stderr.

use serde_json::json;

use super::snippet;
use super::wanted::{Wanted, Way};
use crate::failure::Failure;
use crate::render::Screen;
use crate::resolved::Session;
use crate::typed::Global;
use crate::typed::mcp::{Client, McpConfig};

/// `bailiwick mcp config CLIENT`
pub(super) fn config(
    screen: &mut Screen,
    session: &Session,
    global: &Global,
    what: &McpConfig,
) -> Result<u8, Failure> {
    let wanted = Wanted::resolve(session, global, &what.entry)?;
    let snippet = snippet::text(&wanted);
    let file = wanted.file.display().to_string();
    if screen.wants_json() {
        screen.json(&json!({
            "client": wanted.client.word(),
            "file": file,
            "format": wanted.client.format().name(),
            "snippet": snippet,
        }));
        return Ok(0);
    }
    screen.raw(&snippet);
    screen.show_now();
    screen.note(&format!("for {}: it belongs into {file}, beside what is there", wanted.client.title()));
    if let Some(elsewhere) = wanted.client.elsewhere().filter(|_| !wanted.project) {
        screen.note(&format!("on another system: {elsewhere}"));
    }
    if let Some(command) = wanted.client.own_command(&wanted) {
        screen.note(&format!("or have {} do it: {command}", wanted.client.title()));
    }
    beside(screen, session, &wanted);
    Ok(0)
}

/// What has to be there beside the entry.
pub(super) fn beside(screen: &mut Screen, session: &Session, wanted: &Wanted) {
    match &wanted.way {
        Way::Http { key: Some(_), .. } if wanted.client == Client::VsCode => {
            screen.note("VS Code asks for a key, once; one is made by: bailiwick key create NAME --scope call");
        }
        Way::Http { key: Some(variable), .. } => screen.note(&format!(
            "{} looks for a key in {variable} when it starts; one is made by: bailiwick key create NAME --scope call",
            wanted.client.title()
        )),
        Way::Http { key: None, .. } => {}
        Way::Stdio { .. } => {
            // Most clients hand on little of their environment.
            let set = session.environment.variables.keys().filter(|name| !speaks_to_servers(name));
            let set: Vec<&str> = set.map(String::as_str).collect();
            if !set.is_empty() {
                screen.note(&format!(
                    "the client may not hand on {}: settings that are to hold there belong into the configuration",
                    set.join(", ")
                ));
            }
        }
    }
    if wanted.project && matches!(wanted.way, Way::Stdio { .. }) {
        screen.note("the entry names a path of this machine; whoever shares the folder may have another");
    }
}

/// Whether a variable is only about which server is asked.
fn speaks_to_servers(name: &str) -> bool {
    ["BAILIWICK_SERVER", "BAILIWICK_SERVER_CA", "BAILIWICK_KEY_FILE"].contains(&name)
}
