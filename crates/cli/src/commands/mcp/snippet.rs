//! The entry as each client writes it, and the text that a person pastes.

use serde_json::{Value, json};

use super::clients::{Format, KeyBy};
use super::toml;
use super::wanted::{Wanted, Way};
use crate::typed::mcp::Client;

/// The entry itself.
pub(super) fn entry(wanted: &Wanted) -> Value {
    match &wanted.way {
        Way::Stdio { command, args } => match wanted.client {
            // As `claude mcp add` writes it, so that it is the same entry whoever wrote it.
            Client::ClaudeCode => json!({"type": "stdio", "command": command, "args": args, "env": {}}),
            Client::Cursor | Client::VsCode => {
                json!({"type": "stdio", "command": command, "args": args})
            }
            Client::ClaudeDesktop | Client::Codex => json!({"command": command, "args": args}),
        },
        Way::Http { url, key } => {
            let mut entry = match wanted.client {
                Client::ClaudeCode | Client::VsCode => json!({"type": "http", "url": url}),
                Client::ClaudeDesktop | Client::Cursor | Client::Codex => json!({"url": url}),
            };
            if let (Some(key), Some(by), Some(fields)) = (key, wanted.client.key_by(), entry.as_object_mut())
            {
                let bearer = |reference: String| json!({"Authorization": format!("Bearer {reference}")});
                match by {
                    KeyBy::Variable(before, after) => {
                        fields.insert("headers".to_owned(), bearer(format!("{before}{key}{after}")));
                    }
                    KeyBy::Input => {
                        fields.insert(
                            "headers".to_owned(),
                            bearer(format!("${{input:{}}}", wanted.input_id())),
                        );
                    }
                    KeyBy::Field(name) => {
                        fields.insert(name.to_owned(), json!(key));
                    }
                }
            }
            entry
        }
    }
}

/// What VS Code asks a person for, where the entry refers to it.
pub(super) fn input(wanted: &Wanted) -> Option<Value> {
    let asks = wanted.client.key_by() == Some(KeyBy::Input);
    match &wanted.way {
        Way::Http { key: Some(_), .. } if asks => Some(json!({
            "type": "promptString",
            "id": wanted.input_id(),
            "description": format!("Key of {}", wanted.name),
            "password": true,
        })),
        _ => None,
    }
}

/// What is pasted: the entry with what stands around it.
pub(super) fn text(wanted: &Wanted) -> String {
    let entry = entry(wanted);
    match wanted.client.format() {
        Format::Toml(servers) => toml::document(servers, &wanted.name, &entry),
        Format::Json(servers) => {
            let mut whole = serde_json::Map::new();
            if let Some(input) = input(wanted) {
                whole.insert("inputs".to_owned(), json!([input]));
            }
            whole.insert(servers.to_owned(), json!({wanted.name.as_str(): entry}));
            format!("{:#}\n", Value::Object(whole))
        }
    }
}
