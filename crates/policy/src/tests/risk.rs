//! The risk table, one row per line of the rubric and per boundary.

use std::sync::Arc;

use bailiwick_types::{LimitKind, RiskLevel, Tier, ToolName};

use super::{baseline, policy, try_policy};
use crate::{
    Baseline, Capability, CapabilityPattern, CommandNetwork, CommandPlace, CommandPosture, Exposure,
    HostRule, LimitRequest, MountMode, NetworkMode, Purpose, Sourced, command_risk, resolve, risk,
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
    check("removeDeny: [timers, eval]\naddAllow: [timers, eval]", "L4", "reflection capability");
    check(
        "removeDeny: [timers, eval]\naddAllow: [timers]",
        "?",
        "removing the deny entry `eval` has no effect",
    );
    check("removeDeny: ['**']\naddAllow: [timers]", "L3", "deny entry removed");
    // classes of added capabilities
    check("addAllow: [eval]\nremoveDeny: [eval]", "L4", "reflection capability");
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
fn the_third_deny_entry_that_is_removed_tips_the_level() {
    let denied = [Capability::ParserCsv, Capability::ParserXml, Capability::ParserYaml];
    let base = with_layer(|layer| {
        let entries = denied.map(|one| Sourced::built_in(CapabilityPattern::exact(one), "policy.deny"));
        layer.add_allow.retain(|pattern| !denied.iter().any(|one| one.name() == pattern.value.text()));
        layer.add_deny.extend(entries);
    });
    let badge = |names: &str| {
        let policy = try_policy(&base, &format!("addAllow: [{names}]\nremoveDeny: [{names}]")).unwrap();
        let risk = risk(&policy, &base);
        (risk.level.name(), risk.reasons[0].signal.clone())
    };
    assert_eq!(badge("parser.csv, parser.xml"), ("L3", "deny entry removed".to_owned()));
    assert_eq!(badge("parser.*"), ("L4", "3 or more deny entries removed".to_owned()));
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
        risk(&policy("").exposed_to(Exposure { unsealed_secrets: Vec::new(), callees }), &baseline()).level
    };
    assert_eq!(level(RiskLevel::L0), RiskLevel::L0);
    assert_eq!(level(RiskLevel::L5), RiskLevel::L5);
}

#[test]
fn files_can_leave_through_a_tool_that_is_called() {
    let callees = vec![(ToolName::parse("post").unwrap(), RiskLevel::L3)];
    let policy = policy("fileRead: true");
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

fn hosts(names: &[&str]) -> CommandNetwork {
    CommandNetwork::Allow(names.iter().map(|name| HostRule::parse(name, Purpose::Grant).unwrap()).collect())
}

#[test]
fn command_tools_have_the_same_rows_and_two_of_their_own() {
    use CommandNetwork::{Full, Host, None};
    use CommandPlace::{Elsewhere, Here};
    use MountMode::{ReadOnly, ReadWrite};
    use RiskLevel::{L1, L3, L4, L5};
    let secret = Exposure { unsealed_secrets: vec!["TOKEN".into()], callees: Vec::new() };
    let plain = Exposure::default();
    let allow = || hosts(&["a.test", "*.b.test:8443"]);
    let table = [
        (Tier::Process, Here, None, vec![], &plain, L1, "runs a command"),
        (Tier::MicroVm, Here, None, vec![], &plain, L1, "runs a command"),
        (Tier::Process, Here, None, vec![ReadOnly], &plain, L3, "read-only mount"),
        (Tier::Process, Here, None, vec![ReadOnly, ReadWrite], &plain, L4, "read-write mount"),
        (Tier::Process, Here, allow(), vec![], &plain, L3, "network allowlist"),
        // What is mounted can leave by the network.
        (Tier::Process, Here, allow(), vec![ReadOnly], &plain, L4, "files can leave by the network"),
        (Tier::Container, Here, Full, vec![ReadOnly], &plain, L4, "files can leave by the network"),
        (Tier::MicroVm, Here, Full, vec![ReadWrite], &plain, L4, "files can leave by the network"),
        (Tier::Process, Here, Full, vec![], &plain, L4, "full network below a container"),
        (Tier::Container, Here, Full, vec![], &plain, L3, "network full"),
        (Tier::Process, Elsewhere, Full, vec![], &plain, L3, "network full"),
        (Tier::MicroVm, Here, Host, vec![], &plain, L5, "host network"),
        (Tier::MicroVm, Here, None, vec![], &secret, L1, "runs a command"),
        (Tier::MicroVm, Here, allow(), vec![], &secret, L4, "a secret can leave by the network"),
    ];
    for (tier, place, network, mounts, exposure, level, signal) in table {
        let posture = CommandPosture { tier, place, network, private: Vec::new(), mounts };
        let risk = command_risk(&posture, exposure);
        assert_eq!((risk.level, risk.reasons[0].signal.as_str()), (level, signal), "{posture:?}");
    }
}

#[test]
fn hosts_that_the_operator_lets_be_private_count_as_private_for_commands() {
    let level = |network: &CommandNetwork, private: &[&str]| {
        let private = private.iter().map(|name| HostRule::parse(name, Purpose::Grant).unwrap()).collect();
        let (network, tier) = (network.clone(), Tier::Container);
        let posture =
            CommandPosture { tier, place: CommandPlace::Here, network, private, mounts: Vec::new() };
        command_risk(&posture, &Exposure::default()).level.name()
    };
    let one = hosts(&["git.internal"]);
    let many = hosts(&["*.internal"]);
    let table = [
        (&one, &[][..], "L3"),
        (&one, &["git.internal"], "L3"),
        (&one, &["*.internal"], "L3"),
        (&one, &["*.internal:22"], "L3"),
        (&many, &[], "L3"),
        (&many, &["git.internal"], "L3"),
        (&many, &["git.internal", "db.internal:443"], "L4"),
        (&many, &["*.internal"], "L4"),
        (&CommandNetwork::Full, &["git.internal"], "L3"),
        (&CommandNetwork::Full, &["*.internal"], "L4"),
    ];
    for (network, private, expected) in table {
        assert_eq!(level(network, private), expected, "{network:?} {private:?}");
    }
}

#[test]
fn the_sum_of_all_entries_counts_and_not_their_spelling() {
    let level =
        |hosts: &str| risk(&policy(&format!("network: allowlist\nhosts: [{hosts}]")), &baseline()).level;
    let private = |host: &str| format!("{{host: {host}, private: true}}");
    let singly: Vec<String> = (0..=255).map(|last| private(&format!("10.0.0.{last}"))).collect();
    assert_eq!(level(&private("10.0.0.0/24")), RiskLevel::L4);
    assert_eq!(level(&singly.join(", ")), RiskLevel::L4, "the same addresses, listed one by one");
    assert_eq!(level(&singly[..2].join(", ")), RiskLevel::L4);
    assert_eq!(level(&singly[0]), RiskLevel::L3);
    // One service at its usual ports is one, however often it is narrowed.
    let twice =
        "{host: a.internal, private: true, methods: [GET]}, {host: a.internal, private: true, paths: [/x]}";
    assert_eq!(level(twice), RiskLevel::L3);
    assert_eq!(
        level("{host: 'a.internal:80', private: true}, {host: 'a.internal:443', private: true}"),
        RiskLevel::L3
    );
    assert_eq!(
        level("{host: 'a.internal:80', private: true}, {host: 'a.internal:81', private: true}"),
        RiskLevel::L4
    );
    // Blocks that are `*` only together.
    assert_eq!(level("8.0.0.0/8"), RiskLevel::L3);
    assert_eq!(level("8.0.0.0/7"), RiskLevel::L4);
    assert_eq!(level("8.0.0.0/8, 9.0.0.0/8"), RiskLevel::L4);
    assert_eq!(
        level("8.0.0.0/8, 8.0.0.0/9, 8.1.1.0/24"),
        RiskLevel::L3,
        "a block within another is counted once"
    );
    assert_eq!(level("'2600::/16'"), RiskLevel::L3);
    assert_eq!(level("'2600::/16', '2601::/16'"), RiskLevel::L4);
}
