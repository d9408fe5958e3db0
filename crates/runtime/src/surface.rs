//! What code finds when it runs: what the policy gives, as far as this engine can install it today.

use bailiwick_cell::OFFERED;
use bailiwick_policy::{BlockedName, Capability, EffectivePolicy, Surface};
use bailiwick_types::ECMASCRIPT;

/// The surface of a policy. A name that it grants and that no engine here installs yet is told as blocked.
pub fn surface(policy: &EffectivePolicy) -> Surface {
    let mut surface = bailiwick_policy::surface(policy);
    let (installed, waiting): (Vec<String>, Vec<String>) =
        surface.globals.into_iter().partition(|name| is_installed(name));
    surface.globals = installed;
    surface.blocked.extend(waiting.into_iter().map(|name| BlockedName {
        capability:
            Capability::ALL.iter().copied().find(|capability| capability.globals().contains(&name.as_str())),
        why: "granted, but this version cannot install it yet".to_owned(),
        instead: "write it in plain JavaScript".to_owned(),
        name,
    }));
    surface
}

fn is_installed(name: &str) -> bool {
    ECMASCRIPT.contains(&name) || OFFERED.contains(&name)
}

/// The names a policy does not give, with the reasons.
pub(crate) fn blocked(policy: &EffectivePolicy) -> Vec<BlockedName> {
    surface(policy).blocked
}
