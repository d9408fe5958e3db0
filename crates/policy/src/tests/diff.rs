//! What an edit would change.

use std::sync::Arc;

use bailiwick_types::RiskLevel;

use super::{operated, policy, try_policy};
use crate::{Baseline, diff};

#[track_caller]
fn check(before: &str, after: &str, allowed: &[&str], denied: &[&str]) {
    let diff = diff(&policy(before), &policy(after));
    assert_eq!(diff.newly_allowed, allowed, "{before} → {after}");
    assert_eq!(diff.newly_denied, denied, "{before} → {after}");
    assert_eq!(diff.is_wider(), !allowed.is_empty());
}

#[test]
fn capabilities_hosts_files_and_asking_are_compared() {
    check("", "", &[], &[]);
    check("", "removeAllow: [console]", &[], &["use console"]);
    check("", "network: strict", &["use net.fetch", "fetch any public host"], &[]);
    check("network: strict", "network: open", &["fetch any host"], &[]);
    check("network: open", "network: strict", &[], &["fetch any host"]);
    check("network: strict", "network: allowlist\nhosts: [a.test]", &[], &["fetch any public host"]);
    check(
        "network: strict",
        "network: allowlist\nhosts: [{host: a.test, private: true}]",
        &["fetch a.test (private)"],
        &["fetch any public host"],
    );
    let list = "network: allowlist\nhosts: ['*.a.test']";
    check(list, "network: allowlist\nhosts: [b.a.test]", &[], &["fetch *.a.test"]);
    check(
        list,
        "network: allowlist\nhosts: ['b.a.test:8443']",
        &["fetch b.a.test:8443"],
        &["fetch *.a.test"],
    );
    check(list, "network: allowlist\nhosts: ['*.a.test', a.test]", &["fetch a.test"], &[]);
    check(
        "network: allowlist\nhosts: [{host: a.test, methods: [GET]}]",
        "network: allowlist\nhosts: [a.test]",
        &["fetch a.test"],
        &[],
    );
    check("network: allowlist\nhosts: ['*:*']", "network: strict", &[], &[]);
    check("fileRead: true\nbasePath: a", "fileRead: true\nbasePath: a/b", &[], &["use files under a"]);
    check("fileRead: true\nbasePath: a", "fileRead: true", &["use files everywhere in its roots"], &[]);
    check("fileRead: true", "fileWrite: true", &["use fs.write"], &["use fs.read"]);
    check(
        "network: strict\nask: {net: always}",
        "network: strict\nask: {net: first}",
        &["fetch while a person is asked less often"],
        &[],
    );
    check(
        "fileRead: true\nask: {fs: first}",
        "fileRead: true",
        &["use files while a person is asked less often"],
        &[],
    );
}

#[test]
fn a_change_of_the_operators_file_shows_too() {
    let before = try_policy(&operated(), "network: strict\nfileRead: true").unwrap();
    let mut changed = (*operated()).clone();
    changed.never.clear();
    changed.own_listeners.clear();
    changed.read_roots.push(crate::GuestPath::parse("/srv").unwrap());
    changed.limits.set(bailiwick_types::LimitKind::Wall, 9_000).unwrap();
    let after = try_policy(&Arc::new(changed), "network: strict\nfileRead: true").unwrap();
    assert_eq!(
        diff(&before, &after).newly_allowed,
        [
            "reach *.corp.example, which was never to be reached",
            "reach 10.9.0.0/16, which was never to be reached",
            "reach 127.0.0.1:8282, which was an own listener",
            "read files under /srv",
            "limit wall 5s → 9s",
        ]
    );
    assert!(!diff(&after, &before).is_wider());
}

#[test]
fn a_new_exposure_is_wider_too() {
    let plain = policy("network: strict");
    let secrets = crate::Exposure { unsealed_secrets: vec!["K".into()], callees: Vec::new() };
    let exposed = plain.clone().exposed_to(secrets);
    assert_eq!(diff(&plain, &exposed).newly_allowed, ["read the secret K"]);
    assert!(!diff(&exposed, &plain).is_wider());
    let calls = |level| crate::Exposure {
        unsealed_secrets: Vec::new(),
        callees: vec![(bailiwick_types::ToolName::parse("t").unwrap(), level)],
    };
    let (low, high) =
        (plain.clone().exposed_to(calls(RiskLevel::L1)), plain.exposed_to(calls(RiskLevel::L3)));
    assert_eq!(diff(&low, &high).newly_allowed, ["call t (L3)"]);
}

#[test]
fn the_change_of_risk_is_told() {
    let diff = diff(&policy(""), &policy("network: open"));
    assert_eq!((diff.risk_before.level, diff.risk_after.level), (RiskLevel::L0, RiskLevel::L4));
    assert_eq!(diff.to_json()["risk"]["after"]["level"], "L4");
}

#[test]
fn the_shipped_baseline_is_no_wider_than_itself() {
    let base = Arc::new(Baseline::shipped());
    let same = try_policy(&base, "").unwrap();
    assert!(diff(&same, &same).is_empty());
}
