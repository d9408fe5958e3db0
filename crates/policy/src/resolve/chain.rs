//! The chain of profiles: who extends whom, the root first.

use std::sync::Arc;

use bailiwick_document::DocPath;
use bailiwick_types::{LayerName, ProfileName, did_you_mean};

use super::{Conflict, ConflictKind};
use crate::layer::Source;
use crate::{Baseline, Layer};

/// The most profiles that may build on one another.
pub const MAX_PROFILE_LINKS: usize = 8;

/// The baseline's layer and the chain's, in the order they are applied.
pub(super) fn layers(baseline: &Baseline, profile: Option<&ProfileName>) -> (Vec<Arc<Layer>>, Vec<Conflict>) {
    let mut chain: Vec<(&ProfileName, Arc<Layer>)> = Vec::new();
    let mut conflicts = Vec::new();
    let mut next = profile;
    let mut asked_by: Option<Source> = None;
    while let Some(name) = next {
        if chain.iter().any(|(seen, _)| *seen == name) {
            let links: Vec<&str> =
                chain.iter().map(|(seen, _)| seen.as_str()).chain([name.as_str()]).collect();
            conflicts.push(Conflict {
                kind: ConflictKind::ProfileCycle,
                message: format!("profiles extend each other in a circle: {}", links.join(" → ")),
                hint: Some("remove one `extends`".to_owned()),
                sources: asked_by.into_iter().collect(),
            });
            break;
        }
        if chain.len() == MAX_PROFILE_LINKS {
            let first = profile.map_or("", ProfileName::as_str);
            conflicts.push(Conflict {
                kind: ConflictKind::ProfileChain,
                message: format!("the chain of profile `{first}` has more than {MAX_PROFILE_LINKS} links"),
                hint: Some(format!("`{name}` is one too many; merge two of the profiles")),
                sources: asked_by.into_iter().collect(),
            });
            break;
        }
        let Some(found) = baseline.profiles.get(name) else {
            conflicts.push(unknown(baseline, name, asked_by));
            break;
        };
        chain.push((name, found.layer.clone()));
        next = found.extends.as_ref().map(|extends| &extends.value);
        asked_by = found.extends.as_ref().map(|extends| found.layer.source(extends));
    }
    let root_first = chain.into_iter().rev().map(|(_, layer)| layer);
    (std::iter::once(baseline.layer.clone()).chain(root_first).collect(), conflicts)
}

fn unknown(baseline: &Baseline, name: &ProfileName, asked_by: Option<Source>) -> Conflict {
    let known = || baseline.profiles.keys().map(ProfileName::as_str);
    let hint = did_you_mean(name.as_str(), known(), || {
        if baseline.profiles.is_empty() {
            "the operator's file offers no profiles".to_owned()
        } else {
            format!("the operator's file offers {}", known().collect::<Vec<_>>().join(", "))
        }
    });
    let source = asked_by.unwrap_or_else(|| Source {
        layer: LayerName::Tool,
        document: "--profile".into(),
        place: None,
        path: DocPath::root(),
    });
    Conflict {
        kind: ConflictKind::UnknownProfile,
        message: format!("there is no profile `{name}`"),
        hint: Some(hint),
        sources: vec![source],
    }
}
