//! `bailiwick limits`: exactly what code gets under a policy.

use bailiwick_policy::{Capability, FetchBounds};
use bailiwick_types::{LimitKind, format_duration_ms};

use crate::documents;
use crate::failure::Failure;
use crate::render::{Screen, faint, plain, strong};
use crate::resolved::Session;
use crate::typed::Limits;

/// `bailiwick limits [--overrides FILE] [--profile NAME]`
pub(crate) fn limits(screen: &mut Screen, session: &Session, what: &Limits) -> Result<u8, Failure> {
    let policy = documents::effective(session, &what.subject)?;
    let surface = bailiwick::surface(&policy);
    if screen.wants_json() {
        screen.json(&surface.to_json());
        return Ok(0);
    }
    screen.line(&[strong("Globals")]);
    let globals: Vec<&str> = surface.globals.iter().map(String::as_str).collect();
    words(screen, &globals);
    screen.line(&[]);
    screen.line(&[strong("Not there")]);
    // Names that one capability would bring stand together.
    for together in surface.blocked.chunk_by(|a, b| a.capability.is_some() && a.capability == b.capability) {
        let Some(first) = together.first() else { continue };
        let names: Vec<&str> = together.iter().map(|blocked| blocked.name.as_str()).collect();
        words(screen, &names);
        screen.line(&[faint("      "), faint(&first.why)]);
        screen.line(&[faint("      instead: "), plain(&first.instead)]);
    }
    screen.line(&[]);
    screen.line(&[strong("Limits"), faint("  (a tool may ask for more, up to the ceiling)")]);
    for kind in LimitKind::ALL {
        let unit = kind.unit();
        let name = format!("  {:<16}", kind.key());
        let value = format!("{:>14}", unit.format(policy.limits().get(*kind)));
        let ceiling = format!("  up to {:<14}", unit.format(policy.baseline().ceilings.limits.get(*kind)));
        screen.line(&[plain(&name), strong(&value), faint(&ceiling), faint(kind.doc())]);
    }
    screen.line(&[]);
    screen.line(&[strong("Fetch")]);
    if !policy.allowed().contains(Capability::NetFetch) {
        screen.line(&[plain("  none")]);
        return Ok(0);
    }
    screen.line(&[plain("  network "), strong(policy.network().word())]);
    for (rule, layer) in policy.hosts() {
        screen.line(&[plain("  "), plain(&rule.describe()), faint(&format!("  ({layer})"))]);
    }
    let FetchBounds { total_ms, connect_ms, body_bytes, redirects, header_bytes } = FetchBounds::SHIPPED;
    let bounds = format!(
        "  a request: {} in all, {} to connect, {body_bytes} bytes of body, {header_bytes} of headers, {redirects} redirects",
        format_duration_ms(total_ms),
        format_duration_ms(connect_ms),
    );
    screen.line(&[plain(&bounds)]);
    Ok(0)
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
