//! Layers in, effective policy out — or every conflict at once, each with its source.
//!
//! The rules, in the order of the code: within a layer removals come before additions; lists are unions; other
//! statements are last-wins, but asking a person can only become stricter; an explicit `false` or `blocked`
//! clears what the layers below granted. A deny in a *higher* layer than the allow narrows; a deny in the *same
//! or a lower* layer means that the allow cannot take effect, and that is a conflict.

mod chain;
mod conflict;
mod fold;
mod live;
mod live_hosts;

use std::sync::Arc;

use bailiwick_types::ProfileName;

pub use chain::MAX_PROFILE_LINKS;
pub use conflict::{Conflict, ConflictKind, Conflicts};

use crate::effective::EffectivePolicy;
use crate::risk::Exposure;
use crate::{Baseline, Layer};
use fold::Fold;

/// Puts baseline, profile chain and overrides together.
///
/// ```
/// use std::sync::Arc;
/// use bailiwick_policy::{resolve, Baseline, NetworkMode};
/// let policy = resolve(&Arc::new(Baseline::shipped()), None, None)?;
/// assert_eq!(policy.network(), NetworkMode::Blocked);
/// # Ok::<(), bailiwick_policy::Conflicts>(())
/// ```
pub fn resolve(
    baseline: &Arc<Baseline>,
    profile: Option<&ProfileName>,
    overrides: Option<&Arc<Layer>>,
) -> Result<EffectivePolicy, Conflicts> {
    let (mut layers, mut conflicts) = chain::layers(baseline, profile);
    if let Some(overrides) = overrides {
        layers.push(overrides.clone());
    }
    let mut fold = Fold::new(baseline);
    for (index, layer) in layers.iter().enumerate() {
        fold.apply(index, layer);
    }
    let policy = fold.finish(layers, profile.cloned(), Exposure::default(), &mut conflicts);
    if conflicts.is_empty() { Ok(policy) } else { Err(Conflicts::new(conflicts)) }
}
