//! `bailiwick key`: keys of the server. A key is shown once, when it is made, alone on stdout; what is said about it goes
//! to stderr, so that it can be piped to where it is kept.

use bailiwick_core::{Action, KeyLine, KeyMade, KeyWish, Reply};
use bailiwick_types::{Scopes, parse_duration_ms};
use serde_json::json;

use crate::commands::secret::terminal;
use crate::desk::{ask, at_desk};
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, bad, faint, good, plain, strong};
use crate::resolved::Session;
use crate::typed::CellFlags;
use crate::typed::serving::{Key, KeyCreate, KeyRevoke};

/// Nothing of this runs code.
const NO_CELLS: CellFlags = CellFlags { insecure_cells: false };

/// `bailiwick key …`
pub(crate) fn key(screen: &mut Screen, session: &Session, what: &Key) -> Result<u8, Failure> {
    match what {
        Key::Create(what) => create(screen, session, what),
        Key::List => list(screen, session),
        Key::Revoke(what) => revoke(screen, session, what),
    }
}

fn create(screen: &mut Screen, session: &Session, what: &KeyCreate) -> Result<u8, Failure> {
    let wish = wish(what)?;
    let made = at_desk(session, &NO_CELLS, async |desk| match ask(desk, Action::KeyCreate(wish)).await? {
        Reply::KeyMade(made) => Ok(*made),
        _ => Err(Failure::StrangeReply("a key")),
    })?;
    let KeyMade { line, key } = &made;
    if screen.wants_json() {
        screen.json(&json!(made));
        return Ok(0);
    }
    screen.line(&[plain(key)]);
    screen.show_now();
    let until = line
        .expires_at
        .as_deref()
        .map_or_else(|| "until it is revoked".to_owned(), |at| format!("until {at}"));
    screen.note(&format!("`{}` covers {} and holds {until}", line.name, line.scopes));
    if line.dialogue {
        screen.note(
            "a yes in its MCP client's own dialogue counts: the agent must not be able to answer that by itself",
        );
    }
    screen.note("this key is not kept and will not be shown again");
    Ok(0)
}

fn wish(what: &KeyCreate) -> Result<KeyWish, Failure> {
    let KeyCreate { name, scopes, expires, per_second, at_once, dialogue } = what;
    let expires_in_s = match expires {
        None => None,
        Some(text) => {
            let ms = parse_duration_ms(text).map_err(|error| Failure::Argument {
                message: format!("--expires: {error}"),
                hint: "for example --expires 30d".to_owned(),
            })?;
            Some(ms.div_ceil(1_000))
        }
    };
    Ok(KeyWish {
        name: name.clone(),
        scopes: Scopes::of(scopes.iter().copied()),
        expires_in_s,
        per_second: *per_second,
        at_once: *at_once,
        dialogue: *dialogue,
    })
}

fn list(screen: &mut Screen, session: &Session) -> Result<u8, Failure> {
    let keys = at_desk(session, &NO_CELLS, async |desk| match ask(desk, Action::KeyList).await? {
        Reply::Keys(keys) => Ok(keys),
        _ => Err(Failure::StrangeReply("keys")),
    })?;
    if screen.wants_json() {
        screen.json(&json!({"keys": keys}));
        return Ok(0);
    }
    if keys.is_empty() {
        screen.line(&[plain("there are no keys")]);
        return Ok(0);
    }
    let mut table = Table::new(&["NAME", "SCOPES", "DIALOGUE", "STATE", "LAST USED", "ID"]);
    for KeyLine {
        id,
        name,
        scopes,
        created_at: _,
        expires_at,
        revoked_at,
        last_used_at,
        per_second: _,
        at_once: _,
        dialogue,
    } in &keys
    {
        let state = match (revoked_at, expires_at) {
            (Some(at), _) => Cell::new(format!("revoked {at}"), bad),
            (None, Some(at)) => Cell::new(format!("until {at}"), plain),
            (None, None) => Cell::new("holds", good),
        };
        table.row(vec![
            Cell::new(name, strong),
            Cell::new(scopes.to_string(), plain),
            Cell::new(if *dialogue { "counts" } else { "-" }, plain),
            state,
            Cell::new(last_used_at.as_deref().unwrap_or("never"), plain),
            Cell::new(id.to_string(), faint),
        ]);
    }
    table.show(screen);
    Ok(0)
}

fn revoke(screen: &mut Screen, session: &Session, KeyRevoke { key, yes }: &KeyRevoke) -> Result<u8, Failure> {
    let asks = !yes && terminal::is_there();
    let question = format!("Revoke the key {} for good?", key.escape_debug());
    if asks && !terminal::agrees(screen, &question)? {
        return Err(Failure::Declined("nothing was revoked"));
    }
    at_desk(session, &NO_CELLS, async |desk| {
        match ask(desk, Action::KeyRevoke { key: key.clone() }).await? {
            Reply::Done | Reply::Keys(_) => Ok(()),
            _ => Err(Failure::StrangeReply("done")),
        }
    })?;
    if screen.wants_json() {
        screen.json(&json!({"key": key, "change": "revoked"}));
    } else {
        screen.line(&[good("revoked "), plain(key)]);
    }
    Ok(0)
}
