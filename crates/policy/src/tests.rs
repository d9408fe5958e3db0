//! Tests of the policy as its users see it: documents in, decisions out.

mod decide;
mod diff;
mod documents;
mod egress;
mod hints;
mod hosts;
mod properties;
mod remembered;
mod resolve;
mod risk;
mod shapes;

use std::sync::Arc;

use bailiwick_document::{Bounds, Format, Problems, parse};
use bailiwick_types::LayerName;

use crate::layer::Sourced;
use crate::{
    Answers, Baseline, Capability, Conflicts, EffectivePolicy, FetchQuestion, GuestPath, HostRule, Layer,
    Profile, Purpose, Query, explain,
};

fn layer(text: &str) -> Result<Layer, Problems> {
    let tree = parse("o.yaml", text, Format::Yaml, Bounds::WRITTEN_BY_HAND)?;
    Layer::read("o.yaml", &tree, LayerName::Tool)
}

fn baseline() -> Arc<Baseline> {
    Arc::new(Baseline::shipped())
}

/// A baseline with the operator's odds and ends set: a never-list, a read root, a listener.
fn operated() -> Arc<Baseline> {
    let mut baseline = Baseline::shipped();
    let refuse = |text: &str| {
        Sourced::built_in(Arc::new(HostRule::parse(text, Purpose::Refuse).unwrap()), "policy.hosts.never")
    };
    baseline.never = vec![refuse("*.corp.example"), refuse("10.9.0.0/16")];
    baseline.read_roots = vec![GuestPath::parse("/srv/data").unwrap()];
    baseline.own_listeners = vec!["127.0.0.1:8282".parse().unwrap()];
    Arc::new(baseline)
}

fn with_profile(baseline: &Baseline, name: &str, extends: Option<&str>, text: &str) -> Baseline {
    let mut baseline = baseline.clone();
    let name = bailiwick_types::ProfileName::parse(name).unwrap();
    let mut parsed = layer(text).unwrap();
    parsed.name = LayerName::Profile(name.clone());
    let extends = extends
        .map(|parent| Sourced::built_in(bailiwick_types::ProfileName::parse(parent).unwrap(), "extends"));
    baseline.profiles.insert(name, Profile { extends, layer: Arc::new(parsed) });
    baseline
}

fn try_policy(baseline: &Arc<Baseline>, text: &str) -> Result<EffectivePolicy, Conflicts> {
    crate::resolve(baseline, None, Some(&Arc::new(layer(text).unwrap())))
}

#[track_caller]
fn policy(text: &str) -> EffectivePolicy {
    try_policy(&baseline(), text).unwrap_or_else(|conflicts| panic!("{text}\n{conflicts}"))
}

/// `yes`, `ask`, or the reason of the no.
fn answer(policy: &EffectivePolicy, query: &str) -> String {
    let explanation = explain(policy, &Query::parse(query).unwrap());
    explanation
        .denial
        .map_or_else(|| explanation.answer.word().to_owned(), |denial| denial.reason.to_string())
}

fn fetch_allowed(policy: &EffectivePolicy, url: &str) -> bool {
    policy.decide(&FetchQuestion::get(url), Answers::default()).is_allowed()
}

#[test]
fn the_registry_names_are_unique_and_read_back() {
    let mut names: Vec<&str> = Capability::ALL.iter().map(|capability| capability.name()).collect();
    for capability in Capability::ALL {
        assert_eq!(Capability::from_name(capability.name()), Some(*capability));
        assert!(!capability.globals().is_empty());
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Capability::ALL.len());
    assert!(Capability::ALL.len() <= 32, "a set of capabilities is 32 bits");
}

#[test]
fn the_reference_has_a_row_for_every_row_of_the_tables() {
    let page = crate::reference::markdown();
    for capability in Capability::ALL {
        assert!(page.contains(&format!("| `{capability}` |")), "{capability}");
    }
    for kind in bailiwick_types::LimitKind::ALL {
        assert!(page.contains(&format!("| `{}` |", kind.key())), "{}", kind.key());
    }
}
