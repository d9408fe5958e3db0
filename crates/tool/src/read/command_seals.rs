//! What a command's sealed statics need: a header as their place, and hosts that its own network reaches. Asked for here,
//! since nothing could put in what is sealed otherwise.

use std::sync::Arc;

use bailiwick_document::{Entry as Field, Value as Written};
use bailiwick_gateway::egress::scope_of;
use bailiwick_gateway::net::{Place, Seal};
use bailiwick_policy::{EgressPolicy, EgressTerms};
use bailiwick_sandbox::Network;
use bailiwick_sandbox::secret::MOST_SECRETS;
use bailiwick_types::shortened;

use super::Reading;
use crate::statics::{Static, StaticValue};

impl Reading {
    /// Tells of every sealed static that no sandbox with this network could use.
    pub(super) fn seals_of_a_command(&mut self, root: &Field<'_>, statics: &[Static], network: &Network) {
        let mut count = 0;
        for one in statics {
            let StaticValue::Secret { seal: Some(sealing), .. } = &one.value else { continue };
            count += 1;
            let Some((why, hint)) = unusable(&sealing.seal, network) else { continue };
            let message = format!("`{}` is sealed, and {why}", shortened(&one.name));
            self.reader.wrong(&place_of(root, &one.name), message, Some(hint));
        }
        if count > MOST_SECRETS {
            let node = root.node.get("statics").unwrap_or(root.node);
            let field = Field { node, path: root.path.field("statics") };
            let message = format!("{count} statics are sealed; a command uses at most {MOST_SECRETS}");
            self.reader.wrong(&field, message, Some("make two tools of it".to_owned()));
        }
    }
}

/// Why a command with this network cannot use what is sealed like this, and what to do about it.
fn unusable(seal: &Seal, network: &Network) -> Option<(String, String)> {
    if !matches!(seal.place(), Place::Header(_)) {
        let why = format!("a command's secrets are put into headers only, not in `{}`", seal.place());
        return Some((why, "write `in: \"header:NAME\"`, or write the tool in JavaScript".to_owned()));
    }
    let shown = |host: &dyn std::fmt::Display, port: u16| match port {
        443 => host.to_string(),
        _ => format!("{host}:{port}"),
    };
    if matches!(network, Network::None | Network::Host) {
        let hosts: Vec<String> =
            seal.hosts().iter().map(|(host, port)| format!("\"{}\"", shown(host, *port))).collect();
        let why =
            format!("with the network `{}` there is no way on which it could be put in", network.mode());
        return Some((why, format!("write `network: {{allow: [{}]}}` below `command`", hosts.join(", "))));
    }
    // The very question that the way out asks of each connection.
    let policy = EgressPolicy::new(scope_of(network).ok()?, Arc::new(EgressTerms::default()));
    let (host, port) = seal.hosts().iter().find(|(host, port)| policy.connect(host, *port).is_err())?;
    let host = shown(host, *port);
    let why = format!("the command's network does not reach `{host}`, one of its hosts");
    Some((why, format!("name `{host}` in `command.network`, or take it out of `sealed.hosts`")))
}

/// Where a static's seal is written.
fn place_of<'a>(root: &Field<'a>, name: &str) -> Field<'a> {
    let path = root.path.field("statics");
    let all = root.node.get("statics").unwrap_or(root.node);
    let items = match &all.value {
        Written::List(items) => items.as_slice(),
        _ => &[],
    };
    let is_it = |value: Option<&Written>| matches!(value, Some(Written::Text(text)) if text == name);
    let found = items.iter().enumerate().find_map(|(index, item)| {
        let seal = item.get("sealed").filter(|_| is_it(item.get("name").map(|node| &node.value)))?;
        Some(Field { node: seal, path: path.item(index).field("sealed") })
    });
    found.unwrap_or(Field { node: all, path })
}
