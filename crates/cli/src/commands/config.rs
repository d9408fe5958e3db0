//! `bailiwick config show`: every setting, and where it came from.

use bailiwick_config::{DEFAULT_FILE, Used};
use bailiwick_policy::Profile;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::render::{Screen, faint, plain, strong};
use crate::resolved::Session;
use crate::typed::ConfigShow;

/// `bailiwick config show --defaults`
#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn defaults(screen: &mut Screen) -> Result<u8, Failure> {
    if screen.wants_json() {
        screen.json(&json!({"defaults": DEFAULT_FILE}));
    } else {
        screen.raw(DEFAULT_FILE);
    }
    Ok(0)
}

/// `bailiwick config show [--origin]`
#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn show(screen: &mut Screen, session: &Session, what: &ConfigShow) -> Result<u8, Failure> {
    let config = &session.loaded.config;
    if screen.wants_json() {
        screen.json(&as_json(session));
    } else {
        let origin = what.origin || session.verbose;
        let entries: Vec<_> = config
            .entries()
            .map(|(key, setting)| (key, setting.value.to_json().to_string(), setting.origin.to_string()))
            .collect();
        let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0).min(60);
        let keys = width(&mut entries.iter().map(|(key, ..)| key.path.len()));
        let values = width(&mut entries.iter().map(|(_, value, _)| value.chars().count()));
        for (key, value, from) in &entries {
            let path = format!("{:<keys$}  ", key.path);
            if origin {
                let value = format!("{value:<values$}  ");
                screen.line(&[strong(&path), plain(&value), faint(from)]);
            } else {
                screen.line(&[strong(&path), plain(value)]);
            }
        }
        for (name, profile, from) in config.profiles() {
            let path = format!("profiles.{name}");
            let path = format!("{path:<keys$}  ");
            let said = profile_json(profile).to_string();
            let from = format!("  {from}");
            screen.line(&[strong(&path), plain(&said), faint(if origin { &from } else { "" })]);
        }
        if let (true, Some(folder)) = (origin, &session.loaded.data_folder) {
            screen.line(&[faint("data folder: "), faint(&folder.display().to_string())]);
        }
    }
    Ok(0)
}

/// A profile as it is written in the file.
fn profile_json(profile: &Profile) -> Value {
    let mut json = profile.layer.to_overrides();
    if let Value::Object(map) = &mut json {
        if let Some(parent) = &profile.extends {
            map.insert("extends".to_owned(), json!(parent.value));
        }
        let limits = profile.layer.to_limits();
        if limits.as_object().is_some_and(|limits| !limits.is_empty()) {
            map.insert("limits".to_owned(), limits);
        }
    }
    json
}

fn as_json(session: &Session) -> Value {
    let config = &session.loaded.config;
    let mut settings = Map::new();
    for (key, setting) in config.entries() {
        let used = match key.used {
            Used::Now => Value::Null,
            Used::WaitsFor(part) => json!(part),
        };
        settings.insert(
            key.path.clone(),
            json!({
                "value": setting.value.to_json(),
                "origin": setting.origin.to_string(),
                "about": key.doc,
                "waitsFor": used,
            }),
        );
    }
    let mut profiles = Map::new();
    for (name, profile, origin) in config.profiles() {
        profiles.insert(
            name.to_string(),
            json!({
                "value": profile_json(profile),
                "origin": origin.to_string(),
            }),
        );
    }
    let files: Vec<String> = session.loaded.files.iter().map(|path| path.display().to_string()).collect();
    json!({
        "settings": settings,
        "profiles": profiles,
        "files": files,
        "dataFolder": session.loaded.data_folder.as_ref().map(|path| path.display().to_string()),
    })
}
