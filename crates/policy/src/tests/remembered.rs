//! A policy that was written down is compared as if it were still there.

use std::sync::Arc;

use bailiwick_types::{LimitKind, RiskLevel, ToolName};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::properties::{overrides, peaceful};
use super::{operated, policy, try_policy};
use crate::{
    Baseline, EffectivePolicy, Exposure, GuestPath, HostRule, Purpose, Remembered, RememberedError, Sourced,
    diff,
};

/// Through a text, as a store keeps it.
#[track_caller]
fn again(policy: &EffectivePolicy) -> Remembered {
    let kept = Remembered::of(policy).to_string();
    Remembered::parse(&serde_json::from_str(&kept).unwrap()).unwrap_or_else(|error| panic!("{error}: {kept}"))
}

#[track_caller]
fn check(before: &EffectivePolicy, after: &EffectivePolicy) {
    assert_eq!(again(before).widened_in(after), diff(before, after).newly_allowed);
    assert_eq!(again(after).widened_in(before), diff(before, after).newly_denied);
}

/// An operator's side in which everything that is compared can differ.
fn operators() -> impl Strategy<Value = Arc<Baseline>> {
    (any::<[bool; 6]>(), 1_000..9_000u64).prop_map(|([never, other, reserved, own, roots, wide], wall)| {
        let mut baseline = (*operated()).clone();
        let rule = |text: &str| {
            Sourced::built_in(Arc::new(HostRule::parse(text, Purpose::Refuse).unwrap()), "policy.hosts")
        };
        if never {
            baseline.never.clear();
        }
        if other {
            baseline.never.push(rule("*.example:8443"));
            baseline.never.push(rule("[fd00::]/8"));
        }
        if reserved {
            baseline.reserved = vec![rule("169.254.169.254"), rule("[::1]:8282")];
        }
        if own {
            baseline.own_listeners = vec!["[::1]:8282".parse().unwrap(), "0.0.0.0:1".parse().unwrap()];
        }
        if roots {
            baseline.read_roots = vec![GuestPath::parse(if wide { "/srv" } else { "/srv/data/x" }).unwrap()];
        }
        baseline.limits.set(LimitKind::Wall, wall).unwrap();
        Arc::new(baseline)
    })
}

fn exposures() -> impl Strategy<Value = Exposure> {
    let levels = prop_oneof![Just(RiskLevel::L1), Just(RiskLevel::L3), Just(RiskLevel::L5)];
    let callees = proptest::collection::vec(("[ab]", levels), 0..3);
    (proptest::collection::vec("[A-C]", 0..3), callees).prop_map(|(unsealed_secrets, callees)| Exposure {
        unsealed_secrets,
        callees: callees.into_iter().map(|(name, level)| (ToolName::parse(&name).unwrap(), level)).collect(),
    })
}

/// A document of policy, the operator it is under, and what it is exposed to.
fn side() -> impl Strategy<Value = (Value, Arc<Baseline>, Exposure)> {
    (prop_oneof![3 => peaceful(), 1 => overrides()], operators(), exposures())
}

fn resolved((value, baseline, exposure): &(Value, Arc<Baseline>, Exposure)) -> Option<EffectivePolicy> {
    let policy = try_policy(baseline, &value.to_string()).ok()?;
    Some(policy.exposed_to(exposure.clone()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_remembered_policy_is_compared_as_the_policy_was(first in side(), second in side()) {
        let (Some(a), Some(b)) = (resolved(&first), resolved(&second)) else { return Ok(()) };
        let remembered = Remembered::parse(&Remembered::of(&a));
        prop_assert_eq!(remembered.as_ref(), Ok(&Remembered::from_policy(&a)));
        prop_assert_eq!(remembered.unwrap().widened_in(&b), diff(&a, &b).newly_allowed);
        prop_assert!(again(&a).widened_in(&a).is_empty(), "wider than itself");
    }

    #[test]
    fn the_same_powers_are_written_the_same(value in peaceful()) {
        let Ok(a) = try_policy(&operated(), &value.to_string()) else { return Ok(()) };
        let flat = crate::resolve(&operated(), None, Some(&Arc::new(a.to_overrides().unwrap()))).unwrap();
        prop_assert_eq!(Remembered::of(&a).to_string(), Remembered::of(&flat).to_string());
    }

    #[test]
    fn a_memory_that_lost_something_is_an_error(value in peaceful(), which in 0..40usize) {
        let Ok(a) = try_policy(&operated(), &value.to_string()) else { return Ok(()) };
        let mut kept = Remembered::of(&a);
        let mut keys = Vec::new();
        for (outer, inner) in kept.as_object().unwrap() {
            keys.push((outer.clone(), None));
            keys.extend(inner.as_object().unwrap().keys().map(|key| (outer.clone(), Some(key.clone()))));
        }
        let (outer, inner) = keys[which % keys.len()].clone();
        let map = kept.as_object_mut().unwrap();
        match &inner {
            None => drop(map.remove(&outer)),
            Some(inner) => drop(map[&outer].as_object_mut().unwrap().remove(inner)),
        }
        prop_assert!(Remembered::parse(&kept).is_err(), "{outer}.{inner:?} was not missed");
    }
}

#[test]
fn every_form_of_a_host_rule_comes_back() {
    for hosts in [
        "[a.test, '*.a.test', 'a.test:8443', 'a.test:*', '*', '*:*', 1.1.1.1, 8.8.8.0/24]",
        "['[2001:4860:4860::8888]', '[2001:4860:4860::8888]:8443', '2001:4860::/32']",
        "[{host: 8.8.8.0/24, port: 8443}, {host: 8.8.4.0/24, port: '*'}]",
        "[{host: a.test, methods: [GET, HEAD]}, {host: b.test, paths: ['/v1/**', '/x/*']}]",
        "[{host: api.internal, port: 8443, private: true, methods: [POST], paths: [/v1/a]}]",
        "[{host: 10.0.0.0/8, private: true}, {host: '*.internal', private: true}]",
    ] {
        let before = policy(&format!("network: allowlist\nhosts: {hosts}"));
        assert_eq!(again(&before), Remembered::from_policy(&before), "{hosts}");
        check(&before, &policy("network: strict"));
        check(&before, &policy("network: open"));
        check(&before, &policy("network: allowlist\nhosts: [c.test, {host: a.test, private: true}]"));
        check(&before, &policy(""));
    }
}

#[test]
fn what_became_wider_is_told_after_a_restart() {
    let before = again(&policy("network: allowlist\nhosts: [a.test]\nask: {net: always}"));
    let after = policy("network: allowlist\nhosts: ['*.a.test', a.test]\nask: {net: first}");
    assert_eq!(before.widened_in(&after), ["fetch *.a.test", "fetch while a person is asked less often"]);
    assert!(before.widened_in(&policy("")).is_empty());
}

#[test]
fn a_memory_that_cannot_be_read_is_an_error_that_says_what_to_do() {
    #[track_caller]
    fn check(pointer: &str, value: Value, expected: &str) {
        let mut kept = Remembered::of(&policy("network: allowlist\nhosts: [a.test]"));
        *kept.pointer_mut(pointer).unwrap() = value;
        let error: RememberedError = Remembered::parse(&kept).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected) && text.ends_with("run the test again"), "{text}");
    }
    check("", json!(null), "another shape");
    check("", json!({}), "another shape");
    check("/network/mode", json!("wide"), "network mode `wide`");
    check("/network/ask", json!("never"), "time to ask `never`");
    check("/network/hosts", json!(["https://a.test/"]), "host `https://a.test/`");
    check("/network/hosts", json!([{"host": "a.test", "port": "all"}]), "port `all`");
    check("/network/hosts", json!([{"host": "a.test", "methods": ["EAT"]}]), "method `EAT`");
    check("/network/hosts", json!([{"host": "a.test", "mood": 1}]), "another shape");
    check("/network/ownListeners", json!(["here"]), "listener `here`");
    check("/capabilities/allowed", json!(["flying"]), "capability `flying`");
    check("/files/basePath", json!("../up"), "path `../up`");
    check("/limits/wall", json!(0), "limit");
    check("/limits", json!({"wall": 1}), "says nothing about the limit");
    check("/exposure/callees", json!([{"name": "t", "level": "L9"}]), "another shape");
}
