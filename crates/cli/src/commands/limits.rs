//! `bailiwick limits`: exactly what code gets under a policy.

use bailiwick_policy::surface;
use bailiwick_types::LimitKind;

use crate::documents;
use crate::failure::Failure;
use crate::render::{Screen, faint, plain, strong};
use crate::resolved::Session;
use crate::typed::Limits;

/// `bailiwick limits [--overrides FILE] [--profile NAME]`
pub(crate) fn limits(screen: &mut Screen, session: &Session, what: &Limits) -> Result<u8, Failure> {
    let policy = documents::effective(session, &what.subject)?;
    let surface = surface(&policy);
    if screen.wants_json() {
        screen.json(&surface.to_json());
        return Ok(0);
    }
    screen.line(&[strong("Globals")]);
    let mut line = String::from(" ");
    for name in &surface.globals {
        if line.len() + name.len() > 98 {
            screen.line(&[plain(&line)]);
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(name);
    }
    screen.line(&[plain(&line)]);
    screen.line(&[]);
    screen.line(&[strong("Not there")]);
    for blocked in &surface.blocked {
        let name = format!("  {:<24}", blocked.name);
        screen.line(&[plain(&name), faint(&blocked.why), plain(" → "), plain(&blocked.instead)]);
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
    Ok(0)
}
