//! The risk table, one row per line of the rubric and per boundary.

use std::sync::Arc;

use bailiwick_types::{LimitKind, RiskLevel, Tier, ToolName};

use super::{baseline, policy, try_policy};
use crate::{
    Baseline, Capability, CapabilityPattern, CommandNetwork, CommandPlace, CommandPosture, Exposure,
    LimitRequest, MountMode, NetworkMode, Sourced, command_risk, resolve, risk,
};

#[track_caller]
fn check(overrides: &str, level: &str, signal: &str) {
    if level == "?" {
        let conflicts = try_policy(&baseline(), overrides).expect_err(overrides);
        assert!(conflicts.to_string().contains(signal), "{conflicts}");
        return;
    }
    let risk = risk(&policy(overrides), &baseline());
    assert_eq!(risk.level.name(), level, "{overrides}: {:?}", risk.reasons);
    match risk.reasons.first() {
        None => assert_eq!(signal, "", "{overrides}"),
        Some(strongest) => assert_eq!(strongest.signal, signal, "{overrides}: {:?}", risk.reasons),
    }
}

#[test]
fn the_rubric_row_by_row() {
    // no widening
    check("", "L0", "");
    check("addAllow: [console, 'crypto.**']", "L0", "");
    check("removeAllow: [console]\naddDeny: [random]", "L0", "");
    // allow-lists
    check("network: allowlist", "L0", "");
    check("network: allowlist\nhosts: []", "L0", "");
    check("network: allowlist\nhosts: [api.github.com]", "L3", "network allowlist");
    check("network: allowlist\nhosts: ['*.example.com', 1.1.1.1, '8.8.8.0/24']", "L3", "network allowlist");
    check(
        "network: allowlist\nhosts: [{host: api.github.com, methods: [GET], paths: [/x]}]",
        "L3",
        "network allowlist",
    );
    check(
        "network: allowlist\nhosts: [{host: api.internal, port: 8443, private: true}]",
        "L3",
        "private host",
    );
    check("network: allowlist\nhosts: [{host: 10.0.0.1, private: true}]", "L3", "private host");
    check(
        "network: allowlist\nhosts: [{host: api.internal, port: '*', private: true}]",
        "L4",
        "private wildcard",
    );
    check("network: allowlist\nhosts: [{host: '*.internal', private: true}]", "L4", "private wildcard");
    check("network: allowlist\nhosts: [{host: 10.0.0.0/8, private: true}]", "L4", "private wildcard");
    check("network: allowlist\nhosts: ['*']", "L4", "network allowlist with *");
    check("network: allowlist\nhosts: [{host: '*', methods: [GET]}]", "L4", "network allowlist with *");
    check("network: allowlist\nhosts: [api.github.com, '*']", "L4", "network allowlist with *");
    check("network: allowlist\nhosts: ['0.0.0.0/0', '::/0']", "L4", "network allowlist with *");
    check("network: allowlist\nhosts: ['128.0.0.0/1']", "L4", "network allowlist with *");
    // modes
    check("network: blocked", "L0", "");
    check("network: strict", "L3", "network strict");
    check("network: open", "L4", "network open");
    // files
    check("fileRead: true", "L3", "fileRead");
    check("fileRead: true\nbasePath: x", "L3", "fileRead");
    check("fileWrite: true", "L4", "fileWrite");
    check("destructive: true", "L5", "destructive");
    // deny removals: one, two, three; the third is where it tips
    check("removeDeny: [timers]\naddAllow: [timers]", "L3", "deny entry removed");
    check("removeDeny: [timers, tools.call]\naddAllow: [timers, tools.call]", "L3", "capability added");
    check(
        "removeDeny: [timers, tools.call, eval]\naddAllow: [timers]",
        "?",
        "removing the deny entry `tools.call` has no effect",
    );
    check(
        "removeDeny: [timers, tools.call, eval]\naddAllow: [timers, tools.call, eval]",
        "L4",
        "3 or more deny entries removed",
    );
    check("removeDeny: ['**']\naddAllow: [timers]", "L3", "deny entry removed");
    // classes of added capabilities
    check("addAllow: [tools.call]\nremoveDeny: [tools.call]", "L3", "capability added");
    check("addAllow: [eval]\nremoveDeny: [eval]", "L4", "reflection capability");
    check("addAllow: [env.read]\nremoveDeny: [env.read]", "L5", "critical capability");
    check("addAllow: [process.exec]\nremoveDeny: [process.exec]", "L5", "critical capability");
    // pairs that let data out
    check("fileRead: true\nnetwork: allowlist\nhosts: [a.test]", "L4", "files can leave by the network");
    check("fileRead: true\nnetwork: strict", "L4", "files can leave by the network");
    check("fileRead: true\nnetwork: allowlist", "L3", "fileRead");
    check("fileRead: true\nnetwork: blocked", "L3", "fileRead");
    // the highest counts
    check("destructive: true\nnetwork: open\nfileRead: true", "L5", "destructive");
}

#[test]
fn a_secret_that_is_not_sealed_leaves_only_with_a_network() {
    let exposure = Exposure { unsealed_secrets: vec!["TOKEN".into()], callees: Vec::new() };
    let level = |text: &str| risk(&policy(text).exposed_to(exposure.clone()), &baseline()).level;
    assert_eq!(level(""), RiskLevel::L0);
    assert_eq!(level("network: allowlist"), RiskLevel::L0);
    assert_eq!(level("network: allowlist\nhosts: [a.test]"), RiskLevel::L4);
    assert_eq!(level("network: strict"), RiskLevel::L4);
    let sealed = risk(&policy("network: strict"), &baseline());
    assert_eq!(sealed.level, RiskLevel::L3);
}

#[test]
fn a_caller_is_at_least_as_risky_as_what_it_calls() {
    let level = |callee: RiskLevel| {
        let callees = vec![(ToolName::parse("other").unwrap(), callee)];
        let policy = policy("addAllow: [tools.call]\nremoveDeny: [tools.call]");
        risk(&policy.exposed_to(Exposure { unsealed_secrets: Vec::new(), callees }), &baseline()).level
    };
    assert_eq!(level(RiskLevel::L0), RiskLevel::L3);
    assert_eq!(level(RiskLevel::L5), RiskLevel::L5);
}

#[test]
fn files_can_leave_through_a_tool_that_is_called() {
    let callees = vec![(ToolName::parse("post").unwrap(), RiskLevel::L3)];
    let policy = policy("fileRead: true\naddAllow: [tools.call]\nremoveDeny: [tools.call]");
    let exposed = policy.exposed_to(Exposure { unsealed_secrets: Vec::new(), callees });
    assert_eq!(risk(&exposed, &baseline()).level, RiskLevel::L4);
}

fn wall(milliseconds: u64) -> crate::EffectivePolicy {
    let mut layer = crate::Layer::empty(bailiwick_types::LayerName::Tool, "t");
    layer
        .limits
        .push(Sourced::built_in(LimitRequest::new(LimitKind::Wall, milliseconds).unwrap(), "limits.wall"));
    resolve(&baseline(), None, Some(&Arc::new(layer))).unwrap()
}

#[test]
fn raised_limits_are_l1_and_lowered_ones_nothing() {
    assert_eq!(risk(&wall(10_000), &baseline()).level, RiskLevel::L1);
    assert_eq!(risk(&wall(10_000), &baseline()).reasons[0].detail, "wall 5s → 10s");
    assert_eq!(risk(&wall(5_000), &baseline()).level, RiskLevel::L0);
    assert_eq!(risk(&wall(1_000), &baseline()).level, RiskLevel::L0);
}

fn with_layer(change: impl Fn(&mut crate::Layer)) -> Arc<Baseline> {
    let mut base = Baseline::shipped();
    let mut layer = (*base.layer).clone();
    change(&mut layer);
    base.layer = Arc::new(layer);
    Arc::new(base)
}

#[test]
fn a_pure_capability_the_operator_left_out_is_l1_when_added() {
    let base = with_layer(|layer| layer.add_allow.retain(|pattern| pattern.value.text() != "parser.html"));
    let policy = try_policy(&base, "addAllow: [parser.html]").unwrap();
    let risk = risk(&policy, &base);
    assert_eq!((risk.level, risk.reasons[0].signal.as_str()), (RiskLevel::L1, "pure capability added"));
}

#[test]
fn what_the_operators_baseline_opens_to_the_world_shows_on_every_badge() {
    let base =
        with_layer(|layer| layer.network = Some(Sourced::built_in(NetworkMode::Strict, "policy.network")));
    assert_eq!(risk(&try_policy(&base, "").unwrap(), &base).level, RiskLevel::L3);
    assert_eq!(risk(&try_policy(&base, "fileRead: true").unwrap(), &base).level, RiskLevel::L4);
    assert_eq!(risk(&try_policy(&base, "network: blocked").unwrap(), &base).level, RiskLevel::L0);
    // A pure capability the operator gives to everybody is not a widening of one tool.
    let timers = Sourced::built_in(CapabilityPattern::exact(Capability::Timers), "policy.allow");
    let base = with_layer(|layer| {
        layer.add_deny.retain(|pattern| pattern.value.text() != "timers");
        layer.add_allow.push(timers.clone());
    });
    assert_eq!(risk(&try_policy(&base, "").unwrap(), &base).level, RiskLevel::L0);
}

#[test]
fn reasons_come_strongest_first_and_name_what_they_saw() {
    let risk = risk(&policy("network: allowlist\nhosts: [a.test, b.test]\nfileRead: true"), &baseline());
    let told: Vec<String> =
        risk.reasons.iter().map(|r| format!("{} {}: {}", r.level, r.signal, r.detail)).collect();
    assert_eq!(
        told,
        [
            "L4 files can leave by the network: fileRead with network",
            "L3 fileRead: workspace",
            "L3 network allowlist: a.test",
            "L3 network allowlist: b.test",
        ]
    );
}

#[test]
fn command_tools_have_rows_of_their_own() {
    use CommandNetwork::{Allow, Full, Git, Host, None};
    use CommandPlace::{Elsewhere, Here};
    use MountMode::{ReadOnly, ReadWrite};
    use RiskLevel::{L1, L3, L4, L5};
    let secret = Exposure { unsealed_secrets: vec!["TOKEN".into()], callees: Vec::new() };
    let plain = Exposure::default();
    let table = [
        (Tier::Process, Here, None, vec![], &plain, L1),
        (Tier::MicroVm, Here, None, vec![], &plain, L1),
        (Tier::Process, Here, None, vec![ReadOnly], &plain, L3),
        (Tier::Process, Here, None, vec![ReadOnly, ReadWrite], &plain, L4),
        (Tier::Process, Here, Allow, vec![], &plain, L3),
        (Tier::Process, Here, Git, vec![ReadOnly], &plain, L3),
        (Tier::Process, Here, Full, vec![], &plain, L4),
        (Tier::Container, Here, Full, vec![], &plain, L3),
        (Tier::MicroVm, Here, Full, vec![ReadWrite], &plain, L4),
        (Tier::Process, Elsewhere, Full, vec![], &plain, L3),
        (Tier::MicroVm, Here, Host, vec![], &plain, L5),
        (Tier::MicroVm, Here, None, vec![], &secret, L1),
        (Tier::MicroVm, Here, Allow, vec![], &secret, L4),
    ];
    for (tier, place, network, mounts, exposure, level) in table {
        let posture = CommandPosture { tier, place, network, mounts };
        assert_eq!(command_risk(&posture, exposure).level, level, "{posture:?}");
    }
}
