//! A name that is not there because the policy does not grant it: told as a denial, with the fix.

use bailiwick_policy::{Answers, Capability, EffectivePolicy};
use bailiwick_types::{ErrorCode, Failure};

use crate::surface::blocked;

/// Turns "X is not defined" into what stands behind it, where the policy does.
pub(crate) fn explain_missing(policy: &EffectivePolicy, name: &str, failure: &mut Failure) {
    if failure.code != ErrorCode::EvalError {
        return;
    }
    // A dotted name is one of ours as a whole or not at all; a plain one may be the root of several.
    let root = |global: &str| {
        if name.contains('.') { global == name } else { global.split('.').next() == Some(name) }
    };
    let capability = Capability::ALL
        .iter()
        .copied()
        .find(|one| one.globals().iter().any(|global| root(global)) && !policy.allowed().contains(*one));
    let decided = capability.map(|capability| policy.decide(&capability, Answers::default()));
    if let Some(denial) = decided.as_ref().and_then(bailiwick_policy::Decision::denial) {
        failure.code = ErrorCode::CapabilityDenied;
        failure.message = format!("`{name}` is not there: {}", denial.reason.meaning());
        failure.hint = denial.fix.as_ref().map(|fix| format!("overrides: {} ({})", fix.overrides, fix.risk));
        failure.denied = Some(denial.clone());
        return;
    }
    if let Some(blocked) = blocked(policy).into_iter().find(|blocked| root(&blocked.name)) {
        failure.hint = Some(format!("{}; {}", blocked.why, blocked.instead));
    }
}
