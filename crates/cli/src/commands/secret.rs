//! `bailiwick secret`: set, list, remove and rotate. A value comes in from a prompt or stdin and never goes out.

mod entered;
pub(crate) mod terminal;

use std::time::SystemTime;

use bailiwick_redact::Secret as Value;
use bailiwick_secrets::{
    Change, Fallback, Listed, SecretName, Secrets, SecretsError, Source, Strength, check_value,
    hide_this_process,
};
use serde_json::json;

use crate::failure::Failure;
use crate::render::{Screen, faint, good, plain, strong};
use crate::resolved::Session;
use crate::typed::{Secret, SecretRm, SecretRotate, SecretSet};

/// `bailiwick secret …`
pub(crate) fn secret(screen: &mut Screen, session: &Session, what: &Secret) -> Result<u8, Failure> {
    session.here_only(
        "secrets are kept and looked at on the machine of their data folder only",
        "leave out the server, or do it there",
    )?;
    // Before anything secret is in memory.
    hide_this_process().map_err(SecretsError::from)?;
    match what {
        Secret::Set(what) => set(screen, session, what),
        Secret::List => list(screen, session),
        Secret::Rm(what) => rm(screen, session, what),
        Secret::Rotate(what) => rotate(screen, session, what),
    }
}

fn set(screen: &mut Screen, session: &Session, SecretSet { name }: &SecretSet) -> Result<u8, Failure> {
    let name = SecretName::parse(name)?;
    let secrets = open(session)?;
    let value = entered::value(screen, &name)?;
    let strength = check_value(&value).map_err(SecretsError::from)?;
    let first = secrets.key_place()?.is_none();
    let change = secrets.set(&name, &value, now())?;
    drop(value);
    let word = match change {
        Change::Added => "added",
        Change::Replaced => "replaced",
    };
    tell(screen, &name, word);
    warn(screen, strength);
    if let (true, Some(place)) = (first, secrets.key_place()?) {
        screen.note(&format!("the key is in {place}; without it the values are lost"));
    }
    Ok(0)
}

fn rotate(screen: &mut Screen, session: &Session, what: &SecretRotate) -> Result<u8, Failure> {
    let secrets = open(session)?;
    let Some(name) = &what.name else {
        secrets.rotate_key()?;
        if screen.wants_json() {
            screen.json(&json!({"key": "rotated"}));
        } else {
            screen.line(&[good("rotated "), plain("the key; every secret is sealed anew")]);
            screen.note("copies of the old store and the old key still open each other: remove them");
        }
        return Ok(0);
    };
    let name = SecretName::parse(name)?;
    // Before a person types a value for nothing.
    secrets.only_where_kept(&name)?;
    let value = entered::value(screen, &name)?;
    let strength = check_value(&value).map_err(SecretsError::from)?;
    secrets.rotate(&name, &value, now())?;
    tell(screen, &name, "rotated");
    warn(screen, strength);
    Ok(0)
}

fn rm(screen: &mut Screen, session: &Session, SecretRm { name, yes }: &SecretRm) -> Result<u8, Failure> {
    let name = SecretName::parse(name)?;
    let secrets = open(session)?;
    secrets.only_where_kept(&name)?;
    if !yes && terminal::is_there() && !terminal::agrees(screen, &format!("Remove {name} for good?"))? {
        return Err(Failure::Declined("nothing was removed"));
    }
    secrets.remove(&name)?;
    tell(screen, &name, "removed");
    if secrets.get(&name)?.is_some() {
        screen.note(&format!("the environment variable {name} stands in for it now (secrets.env)"));
    }
    Ok(0)
}

fn list(screen: &mut Screen, session: &Session) -> Result<u8, Failure> {
    let listed = open(session)?.list()?;
    if screen.wants_json() {
        let all: Vec<_> = listed
            .iter()
            .map(|Listed { name, source }| match source {
                Source::Store { created, updated } => json!({
                    "name": name.as_str(), "source": "store",
                    "created": created.to_string(), "updated": updated.to_string(),
                }),
                Source::Environment => json!({"name": name.as_str(), "source": "environment"}),
            })
            .collect();
        screen.json(&json!({"secrets": all}));
        return Ok(0);
    }
    if listed.is_empty() {
        screen.line(&[plain("there are no secrets")]);
        return Ok(0);
    }
    let width = listed.iter().map(|listed| listed.name.as_str().len()).max().unwrap_or(0);
    for Listed { name, source } in &listed {
        let name = format!("{name:<width$}  ");
        match source {
            Source::Store { created, updated } => {
                let times = format!("created {created}  updated {updated}");
                screen.line(&[strong(&name), plain("store        "), faint(&times)]);
            }
            Source::Environment => screen.line(&[strong(&name), plain("environment")]),
        }
    }
    Ok(0)
}

/// The secrets of this session's data folder, with what the operator lets the environment stand in for.
pub(crate) fn open(session: &Session) -> Result<Secrets, Failure> {
    let folder = session.loaded.data_folder.as_deref().ok_or(Failure::NoDataFolder)?;
    Ok(Secrets::open(folder, fallback(session)?)?)
}

/// The variables that the operator lets stand in for secrets.
pub(crate) fn fallback(session: &Session) -> Result<Fallback, Failure> {
    let names: Vec<SecretName> = session
        .loaded
        .settings
        .secret_variables
        .iter()
        .map(|name| {
            SecretName::parse(name).map_err(|problem| Failure::Argument {
                message: format!("secrets.env: {problem}"),
                hint: "name a variable that can be a secret's name, such as GITHUB_TOKEN".to_owned(),
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(Fallback::of_this_process(&names)?)
}

fn tell(screen: &mut Screen, name: &SecretName, change: &str) {
    if screen.wants_json() {
        screen.json(&json!({"name": name.as_str(), "change": change}));
    } else {
        screen.line(&[good(change), plain(" "), plain(name.as_str())]);
    }
}

/// Says what redaction will not find.
fn warn(screen: &mut Screen, strength: Strength) {
    match strength {
        Strength::Full => {}
        Strength::ExactOnly => screen.note(
            "it has under 8 characters: redaction finds it as it is, but not encoded (base64, hex, percent)",
        ),
        Strength::NotRedacted => screen
            .note("it has under 4 characters: nothing of it is redacted, for that would shred ordinary text"),
    }
}

#[expect(clippy::disallowed_methods, reason = "the time a person set a secret at")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// A value from bytes that are wiped.
fn to_value(bytes: &[u8]) -> Result<Value, Failure> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| SecretsError::Value(bailiwick_secrets::ValueError::NotText))?;
    Ok(Value::new(text.to_owned()))
}
