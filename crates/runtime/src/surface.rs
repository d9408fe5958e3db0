//! What code finds when it runs: what the policy gives. The registry says what this build has, and the tests of this file
//! hold it to what the engine installs.

use bailiwick_policy::{BlockedName, EffectivePolicy};

pub use bailiwick_policy::surface;

/// The names a policy does not give, with the reasons.
pub(crate) fn blocked(policy: &EffectivePolicy) -> Vec<BlockedName> {
    surface(policy).blocked
}

#[cfg(test)]
mod tests;
