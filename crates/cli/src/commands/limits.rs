//! `bailiwick limits`: exactly what code gets under a policy, here or at a server.

use bailiwick_core::{Action, Reply};
use bailiwick_types::{LimitKind, format_duration_ms};
use serde_json::Value;

use crate::desk::{ask, at_desk};
use crate::documents;
use crate::failure::Failure;
use crate::render::{Screen, faint, plain, strong};
use crate::resolved::Session;
use crate::typed::{CellFlags, Limits};

/// Nothing of this runs code.
const NO_CELLS: CellFlags = CellFlags { insecure_cells: false };

/// `bailiwick limits [--overrides FILE] [--profile NAME]`
pub(crate) fn limits(screen: &mut Screen, session: &Session, what: &Limits) -> Result<u8, Failure> {
    let (surface, hosts) = if session.asks_a_server() { asked(session, what)? } else { here(session, what)? };
    if screen.wants_json() {
        screen.json(&surface);
    } else {
        tell(screen, &surface, &hosts);
    }
    Ok(0)
}

/// What the settings of this machine give, with the hosts and whose rules they are.
fn here(session: &Session, what: &Limits) -> Result<(Value, Vec<(String, String)>), Failure> {
    let policy = documents::effective(session, &what.subject)?;
    let hosts = policy.hosts().map(|(rule, layer)| (rule.describe(), format!("  ({layer})"))).collect();
    Ok((bailiwick::surface(&policy).to_json(), hosts))
}

/// What a server gives to code that declares nothing.
fn asked(session: &Session, what: &Limits) -> Result<(Value, Vec<(String, String)>), Failure> {
    if what.subject.overrides.is_some() || what.subject.profile.is_some() {
        session.here_only(
            "--overrides and --profile are looked at with the settings of this machine",
            "leave out the server, or those two",
        )?;
    }
    let surface = at_desk(session, &NO_CELLS, async |desk| match ask(desk, Action::Limits).await? {
        Reply::Limits(surface) => Ok(surface),
        _ => Err(Failure::StrangeReply("limits")),
    })?;
    let hosts = surface.pointer("/fetch/hosts").and_then(Value::as_array).into_iter().flatten();
    let hosts =
        hosts.map(|rule| (rule.as_str().map_or_else(|| rule.to_string(), str::to_owned), String::new()));
    let hosts = hosts.collect();
    Ok((surface, hosts))
}

fn tell(screen: &mut Screen, surface: &Value, hosts: &[(String, String)]) {
    let number = |pointer: &str| surface.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let list =
        |field: &str| surface.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    screen.line(&[strong("Globals")]);
    let globals: Vec<&str> = list("globals").iter().filter_map(Value::as_str).collect();
    words(screen, &globals);
    screen.line(&[]);
    screen.line(&[strong("Not there")]);
    // Names that one capability would bring stand together.
    let brought_by = |name: &Value| name.get("capability").and_then(Value::as_str).map(str::to_owned);
    let together = |a: &Value, b: &Value| brought_by(a).is_some() && brought_by(a) == brought_by(b);
    for together in list("blocked").chunk_by(together) {
        let Some(first) = together.first() else { continue };
        let text =
            |of: &'static str| move |name: &'_ Value| name.get(of).and_then(Value::as_str).map(str::to_owned);
        let names: Vec<String> = together.iter().filter_map(text("name")).collect();
        words(screen, &names.iter().map(String::as_str).collect::<Vec<_>>());
        screen.line(&[faint("      "), faint(&text("why")(first).unwrap_or_default())]);
        screen.line(&[faint("      instead: "), plain(&text("instead")(first).unwrap_or_default())]);
    }
    screen.line(&[]);
    screen.line(&[strong("Limits"), faint("  (a tool may ask for more, up to the ceiling)")]);
    for kind in LimitKind::ALL {
        let (unit, key) = (kind.unit(), kind.json_key());
        let name = format!("  {:<16}", kind.key());
        let value = format!("{:>14}", unit.format(number(&format!("/limits/{key}"))));
        let ceiling = format!("  up to {:<14}", unit.format(number(&format!("/limits/{key}Max"))));
        screen.line(&[plain(&name), strong(&value), faint(&ceiling), faint(kind.doc())]);
    }
    screen.line(&[]);
    screen.line(&[strong("Fetch")]);
    if surface.pointer("/fetch/available").and_then(Value::as_bool) != Some(true) {
        screen.line(&[plain("  none")]);
        return;
    }
    let network = surface.pointer("/fetch/network").and_then(Value::as_str).unwrap_or_default();
    screen.line(&[plain("  network "), strong(network)]);
    for (rule, layer) in hosts {
        screen.line(&[plain("  "), plain(rule), faint(layer)]);
    }
    let bounds = format!(
        "  a request: {} in all, {} to connect, {} bytes of body, {} of headers, {} redirects",
        format_duration_ms(number("/fetch/totalMs")),
        format_duration_ms(number("/fetch/connectMs")),
        number("/fetch/bodyBytes"),
        number("/fetch/headerBytes"),
        number("/fetch/redirects"),
    );
    screen.line(&[plain(&bounds)]);
}

/// Names side by side, in lines that fit.
fn words(screen: &mut Screen, names: &[&str]) {
    let mut line = String::from(" ");
    for name in names {
        if line.len() + name.len() > 98 {
            screen.line(&[plain(&line)]);
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(name);
    }
    screen.line(&[plain(&line)]);
}
