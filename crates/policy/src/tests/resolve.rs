//! How layers come together, and every way in which they may not.

use std::sync::Arc;

use bailiwick_types::{DenialReason, LayerName, LimitKind, ProfileName};

use super::{answer, baseline, layer, operated, policy, try_policy, with_profile};
use crate::{Baseline, Capability, ConflictKind, NetworkMode, Query, explain, resolve};

#[track_caller]
fn check(base: &Arc<Baseline>, text: &str, kind: ConflictKind, message: &str, hint: &str) {
    let conflicts = try_policy(base, text).expect_err(text);
    let found =
        conflicts.list.iter().find(|conflict| conflict.kind == kind && conflict.message.contains(message));
    let conflict = found.unwrap_or_else(|| panic!("{text}: {conflicts:?}"));
    assert!(conflict.hint.as_deref().unwrap_or("").contains(hint), "{text}: {conflict:?}");
    let source = conflict.sources.first().expect("a conflict has a source");
    assert_eq!(source.layer, LayerName::Tool);
    assert!(source.place.is_some(), "{text}: {conflict:?}");
}

#[test]
fn no_overrides_and_empty_overrides_are_the_same() {
    let none = resolve(&baseline(), None, None).unwrap();
    assert_eq!(none.powers_json(), policy("").powers_json());
    assert_eq!(none.powers_json(), policy("{}").powers_json());
    assert_eq!(none.powers_json(), policy("hosts:\n").powers_json());
    assert_eq!(none.network(), NetworkMode::Blocked);
}

#[test]
fn contradictions_within_one_document_are_conflicts() {
    let base = baseline();
    let kind = ConflictKind::AllowedAndDenied;
    check(
        &base,
        "addAllow: [timers]\nremoveDeny: [timers]\naddDeny: [timers]",
        kind,
        "`timers` is allowed and denied",
        "",
    );
    check(
        &base,
        "addAllow: [crypto.*]\naddDeny: [crypto.hmac]",
        kind,
        "`crypto.hmac` is allowed and denied",
        "",
    );
    check(&base, "addAllow: [console]\nremoveAllow: [console]", kind, "`console` is added", "");
    check(&base, "addDeny: [eval]\nremoveDeny: [eval]", kind, "`eval` is added to the deny list", "");
    check(&base, "fileRead: true\naddDeny: [fs.read]", kind, "`fileRead` grants `fs.read`", "removeDeny");
    check(&base, "network: strict\naddDeny: [net.*]", kind, "`network` grants `net.fetch`", "");
    check(&base, "destructive: true\naddDeny: [fs.delete]", kind, "`destructive` grants", "");
}

#[test]
fn an_allow_over_a_deny_entry_needs_its_removal() {
    let base = baseline();
    let kind = ConflictKind::AllowedAndDenied;
    check(
        &base,
        "addAllow: [timers]",
        kind,
        "a deny entry of a lower layer names it",
        "removeDeny: [timers]",
    );
    check(&base, "addAllow: ['**']", kind, "timers, eval", "removeDeny");
    check(&base, "addAllow: [fs.delete]", kind, "fs.delete", "it follows `destructive`");
    assert_eq!(answer(&policy("addAllow: [timers]\nremoveDeny: [timers]"), "timers"), "yes");
    let kind = ConflictKind::NoEffect;
    check(&base, "removeDeny: [timers]", kind, "removing the deny entry `timers` has no effect", "addAllow");
    check(&base, "removeDeny: [fs.delete]", kind, "has no effect", "set `destructive: true`");
}

#[test]
fn removing_what_is_not_there_is_a_conflict() {
    let base = baseline();
    let kind = ConflictKind::NothingToRemove;
    check(
        &base,
        "removeDeny: [console]",
        kind,
        "`console` is removed from the deny list",
        "nothing denies it",
    );
    check(&base, "removeAllow: [net.fetch]", kind, "`net.fetch`", "it follows `network`");
}

#[test]
fn ceilings_hold() {
    let mut base = Baseline::shipped();
    base.ceilings.networks = vec![NetworkMode::Blocked, NetworkMode::Allowlist];
    let base = Arc::new(base);
    let kind = ConflictKind::ForbiddenMode;
    check(
        &base,
        "network: open",
        kind,
        "does not allow the network mode `open`",
        "offers blocked, allowlist",
    );

    let mut greedy = crate::Layer::empty(LayerName::Tool, "t");
    greedy.limits.push(crate::Sourced::built_in(
        crate::LimitRequest::new(LimitKind::Wall, 31_000).unwrap(),
        "limits.wall",
    ));
    let conflicts = resolve(&base, None, Some(&Arc::new(greedy))).unwrap_err();
    assert_eq!(conflicts.list[0].message, "limit `wall` of 31s is above the operator's ceiling of 30s");
}

#[test]
fn rules_that_can_never_take_effect_are_conflicts() {
    let base = operated();
    let kind = ConflictKind::NoEffect;
    check(&base, "hosts: [a.test]", kind, "the network mode is `blocked`", "add `network: allowlist`");
    check(&base, "network: strict\nhosts: [a.test]", kind, "the network mode is `strict`", "drop the entry");
    check(&base, "network: open\nhosts: [a.test]", kind, "the network mode is `open`", "drop the entry");
    check(&base, "network: allowlist\nhosts: [10.0.0.1]", kind, "not a public one", "private: true");
    check(&base, "network: allowlist\nhosts: ['10.0.0.0/8']", kind, "not a public one", "private: true");
    check(&base, "network: allowlist\nhosts: [localhost]", kind, "this machine", "private: true");
    check(&base, "network: allowlist\nhosts: [0.0.0.0]", kind, "never be reached", "drop");
    check(
        &base,
        "network: allowlist\nhosts: [{host: 169.254.169.254, private: true}]",
        kind,
        "credentials",
        "operator",
    );
    check(&base, "network: allowlist\nhosts: [metadata.google.internal]", kind, "credentials", "operator");
    check(
        &base,
        "network: allowlist\nhosts: [{host: 127.0.0.1, port: 8282, private: true}]",
        kind,
        "own listeners",
        "operator",
    );
    check(
        &base,
        "network: allowlist\nhosts: [{host: 1.1.1.1, private: true}]",
        kind,
        "is a public one",
        "drop `private`",
    );
    check(&base, "network: allowlist\nhosts: ['a.test:25']", kind, "refuses port 25", "another port");
    check(&base, "addAllow: [net.fetch]", kind, "follows `network`", "network: allowlist");
    check(&base, "addAllow: [fs.read]", kind, "follows `fileRead`", "fileRead: true");
    check(&base, "ask: {net: first}", kind, "no request is possible", "");
    check(&base, "network: allowlist\nask: {net: first}", kind, "no request is possible", "");
    check(&base, "ask: {fs: always}", kind, "`ask.fs` has no effect", "");
    check(&base, "basePath: reports", kind, "basePath `reports` has no effect", "");
    check(&base, "fileWrite: true\nbasePath: /srv/data/x", kind, "under a read root", "workspace");
}

#[test]
fn a_path_outside_every_root_is_a_conflict() {
    let kind = ConflictKind::OutsideRoots;
    check(&operated(), "fileRead: true\nbasePath: /etc", kind, "outside every folder", "/srv/data");
    check(
        &baseline(),
        "fileRead: true\nbasePath: /etc",
        kind,
        "outside every folder",
        "opened no read roots",
    );
    assert!(try_policy(&operated(), "fileRead: true\nbasePath: /srv/data/sub").is_ok());
    assert!(layer("basePath: ../up").is_err(), "climbing is refused when the document is read");
}

#[test]
fn an_allowed_host_that_the_operator_never_allows_is_a_conflict_by_overlap() {
    let base = operated();
    let kind = ConflictKind::AllowedAndDenied;
    for host in [
        "wiki.corp.example",
        "'*.corp.example'",
        "'*.a.corp.example'",
        "{host: 10.9.3.4, private: true}",
        "{host: 10.0.0.0/8, private: true}",
    ] {
        check(
            &base,
            &format!("network: allowlist\nhosts: [{host}]"),
            kind,
            "the operator never allows",
            "outside",
        );
    }
    assert!(try_policy(&base, "network: allowlist\nhosts: [corp.example, '*']").is_ok());
}

#[test]
fn all_conflicts_come_at_once_in_a_fixed_order() {
    let text = "hosts: [a.test]\naddAllow: [timers, fs.read]\nremoveDeny: [console]\nask: {fs: first}";
    let first = try_policy(&baseline(), text).unwrap_err();
    assert_eq!(first.list.len(), 5, "{first}");
    let turned = "ask: {fs: first}\nremoveDeny: [console]\naddAllow: [fs.read, timers]\nhosts: [a.test]";
    let second = try_policy(&baseline(), turned).unwrap_err();
    let messages =
        |conflicts: &crate::Conflicts| conflicts.list.iter().map(|c| c.message.clone()).collect::<Vec<_>>();
    assert_eq!(messages(&first), messages(&second));
}

#[test]
fn profiles_apply_root_first_and_the_tool_last() {
    let base = with_profile(&Baseline::shipped(), "base", None, "network: strict\nfileRead: true");
    let base =
        with_profile(&base, "web", Some("base"), "fileRead: false\naddAllow: [timers]\nremoveDeny: [timers]");
    let base = Arc::new(base);
    let web = ProfileName::parse("web").unwrap();
    let plain = resolve(&base, Some(&web), None).unwrap();
    assert_eq!(plain.network(), NetworkMode::Strict);
    assert_eq!(answer(&plain, "read x"), "not-granted");
    assert_eq!(answer(&plain, "timers"), "yes");
    let names: Vec<String> = plain.layers().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["baseline", "profile:base", "profile:web"]);

    let narrowed =
        resolve(&base, Some(&web), Some(&Arc::new(layer("network: blocked\naddDeny: [timers]").unwrap())));
    let narrowed = narrowed.unwrap();
    assert_eq!(answer(&narrowed, "fetch https://a.test/"), "network-blocked");
    assert_eq!(answer(&narrowed, "timers"), "deny-entry");
}

#[test]
fn blocked_clears_the_hosts_of_the_layers_below() {
    let base = with_profile(&Baseline::shipped(), "a", None, "network: allowlist\nhosts: [a.test]");
    let base = with_profile(&base, "b", Some("a"), "network: blocked");
    let base = Arc::new(base);
    let profile = |name: &str| ProfileName::parse(name).unwrap();
    let tool = |text: &str| Arc::new(layer(text).unwrap());
    let again =
        resolve(&base, Some(&profile("b")), Some(&tool("network: allowlist\nhosts: [b.test]"))).unwrap();
    assert_eq!(answer(&again, "fetch https://a.test/"), "host-not-allowed");
    assert_eq!(answer(&again, "fetch https://b.test/"), "yes");
    let union = resolve(&base, Some(&profile("a")), Some(&tool("hosts: [b.test]"))).unwrap();
    assert_eq!(answer(&union, "fetch https://a.test/"), "yes");
    assert_eq!(answer(&union, "fetch https://b.test/"), "yes");
}

#[test]
fn what_a_higher_layer_narrows_away_is_no_conflict() {
    let base = with_profile(
        &Baseline::shipped(),
        "p",
        None,
        "network: allowlist\nhosts: [a.test]\nfileRead: true\nbasePath: x\nask: {net: first, fs: first}",
    );
    let tool = Arc::new(layer("network: blocked\nfileRead: false").unwrap());
    let policy = resolve(&Arc::new(base), Some(&ProfileName::parse("p").unwrap()), Some(&tool)).unwrap();
    assert_eq!(policy.allowed(), resolve(&baseline(), None, None).unwrap().allowed());
}

#[test]
fn a_lower_layer_may_offer_hosts_and_leave_the_mode_to_the_tool() {
    let mut base =
        with_profile(&Baseline::shipped(), "p", None, "hosts: [b.test]\nask: {net: first}\nbasePath: x");
    let mut layer = (*base.layer).clone();
    layer.hosts = super::layer("hosts: [a.test]").unwrap().hosts;
    base.layer = Arc::new(layer);
    let base = Arc::new(base);
    let p = ProfileName::parse("p").unwrap();
    let shut = resolve(&base, Some(&p), None).unwrap();
    assert_eq!(answer(&shut, "fetch https://a.test/"), "network-blocked");
    let listed =
        resolve(&base, Some(&p), Some(&Arc::new(super::layer("network: allowlist").unwrap()))).unwrap();
    for url in ["https://a.test/", "https://b.test/"] {
        assert_eq!(answer(&listed, &format!("fetch {url}")), "ask", "{url}");
    }
    // A profile that closes the network itself contradicts itself.
    let base = with_profile(&Baseline::shipped(), "q", None, "network: strict\nhosts: [b.test]");
    let conflicts = resolve(&Arc::new(base), Some(&ProfileName::parse("q").unwrap()), None).unwrap_err();
    assert_eq!(conflicts.list[0].kind, ConflictKind::NoEffect);
}

#[test]
fn an_explicit_false_takes_destructive_back_whole() {
    let base = with_profile(&Baseline::shipped(), "p", None, "destructive: true\nfileWrite: true");
    let base = Arc::new(base);
    let p = ProfileName::parse("p").unwrap();
    assert_eq!(answer(&resolve(&base, Some(&p), None).unwrap(), "delete x"), "yes");
    let tool = Arc::new(layer("destructive: false\nfileWrite: false").unwrap());
    let back = resolve(&base, Some(&p), Some(&tool)).unwrap();
    assert_eq!(back.powers_json(), policy("").powers_json());
    assert_eq!(crate::risk(&back, &base).level.name(), "L0");
}

#[test]
fn destructive_lifts_the_baselines_entry_and_no_other() {
    let base = Arc::new(with_profile(&Baseline::shipped(), "p", None, "addDeny: [fs.delete]"));
    let p = ProfileName::parse("p").unwrap();
    let with = |text: &str| resolve(&base, Some(&p), Some(&Arc::new(layer(text).unwrap())));
    assert_eq!(with("destructive: true").unwrap_err().list[0].kind, ConflictKind::AllowedAndDenied);
    assert_eq!(answer(&with("destructive: true\nremoveDeny: [fs.delete]").unwrap(), "delete x"), "yes");
}

#[test]
fn rules_under_a_deny_of_a_lower_layer_have_no_effect() {
    let below =
        with_profile(&Baseline::shipped(), "p", None, "network: allowlist\nhosts: [a.test]\nfileRead: true");
    let base = Arc::new(with_profile(&below, "q", Some("p"), "addDeny: [net.fetch, fs.read]"));
    let q = ProfileName::parse("q").unwrap();
    for text in ["hosts: [b.test]", "ask: {net: first}", "ask: {fs: first}", "basePath: x"] {
        let conflicts = resolve(&base, Some(&q), Some(&Arc::new(layer(text).unwrap()))).expect_err(text);
        assert_eq!(conflicts.list[0].kind, ConflictKind::NoEffect, "{text}");
    }
    assert!(resolve(&base, Some(&q), None).is_ok());
}

#[test]
fn a_base_path_may_narrow_what_a_profile_may_write() {
    let base = with_profile(&operated(), "p", None, "fileRead: true\nfileWrite: true");
    let tool = Arc::new(layer("basePath: /srv/data/x").unwrap());
    let policy = resolve(&Arc::new(base), Some(&ProfileName::parse("p").unwrap()), Some(&tool)).unwrap();
    assert_eq!(answer(&policy, "read /srv/data/x/y"), "yes");
    assert_eq!(answer(&policy, "write y"), "not-granted");
    let flat = Arc::new(policy.to_overrides().unwrap());
    assert!(resolve(&operated(), None, Some(&flat)).is_ok(), "what was resolved can be resolved again");
}

#[test]
fn a_tool_may_remove_an_allow_that_the_operator_removed_before() {
    assert!(try_policy(&baseline(), "removeAllow: [timers]").is_ok());
}

#[test]
fn a_lifted_entry_that_nothing_uses_is_back() {
    let base = Arc::new(with_profile(&Baseline::shipped(), "p", None, "removeDeny: ['**']"));
    let policy = resolve(&base, Some(&ProfileName::parse("p").unwrap()), None).unwrap();
    assert_eq!(policy.powers_json(), resolve(&baseline(), None, None).unwrap().powers_json());
    assert_eq!(answer(&policy, "eval"), "deny-entry");
}

#[test]
fn a_flood_of_conflicts_is_told_in_a_few() {
    let mut base = Baseline::shipped();
    base.never = (0..500)
        .map(|n| crate::HostRule::parse(&format!("a{n}.corp.example"), crate::Purpose::Refuse).unwrap())
        .map(|rule| crate::Sourced::built_in(Arc::new(rule), "policy.hosts.never"))
        .collect();
    let hosts = (1..=400).map(|n| format!("'*.corp.example:{}'", 9000 + n)).collect::<Vec<_>>().join(",");
    let conflicts =
        try_policy(&Arc::new(base), &format!("network: allowlist\nhosts: [{hosts}]")).unwrap_err();
    assert_eq!((conflicts.list.len(), conflicts.untold), (20, 380));
}

#[test]
fn flattening_never_brings_back_what_a_layer_took_away() {
    let mut base = with_profile(&Baseline::shipped(), "p", None, "network: blocked");
    let mut lowest = (*base.layer).clone();
    let listed = layer("network: allowlist\nhosts: [x.test]").unwrap();
    (lowest.network, lowest.hosts) = (listed.network, listed.hosts);
    base.layer = Arc::new(lowest);
    let tool = Arc::new(layer("network: allowlist\nhosts: [a.test]").unwrap());
    let policy = resolve(&Arc::new(base), Some(&ProfileName::parse("p").unwrap()), Some(&tool)).unwrap();
    assert_eq!(answer(&policy, "fetch https://x.test/"), "host-not-allowed");
    assert!(policy.to_overrides().is_none());
}

#[test]
fn the_same_mistake_in_two_layers_is_told_with_both_places() {
    let base = with_profile(&Baseline::shipped(), "p", None, "network: allowlist\nhosts: [10.0.0.1]");
    let tool = Arc::new(layer("hosts: [10.0.0.1]").unwrap());
    let conflicts =
        resolve(&Arc::new(base), Some(&ProfileName::parse("p").unwrap()), Some(&tool)).unwrap_err();
    assert_eq!(conflicts.list.len(), 1);
    let layers: Vec<String> =
        conflicts.list[0].sources.iter().map(|source| source.layer.to_string()).collect();
    assert_eq!(layers, ["profile:p", "tool"]);
}

#[test]
fn asking_can_only_become_stricter() {
    let base = with_profile(&Baseline::shipped(), "p", None, "network: strict\nask: {net: always}");
    let tool = Arc::new(layer("ask: {net: first}").unwrap());
    let policy = resolve(&Arc::new(base), Some(&ProfileName::parse("p").unwrap()), Some(&tool)).unwrap();
    assert_eq!(policy.to_json()["network"]["ask"], "always");
}

#[test]
fn chains_of_profiles_have_eight_links_and_no_circle() {
    let mut base = Baseline::shipped();
    for link in 1..=9 {
        let parent = (link > 1).then(|| format!("p{}", link - 1));
        base = with_profile(&base, &format!("p{link}"), parent.as_deref(), "addDeny: [console]");
    }
    base = with_profile(&base, "x", Some("y"), "{}");
    base = with_profile(&base, "y", Some("x"), "{}");
    base = with_profile(&base, "orphan", Some("pp1"), "{}");
    let base = Arc::new(base);
    let kind = |name: &str| {
        resolve(&base, Some(&ProfileName::parse(name).unwrap()), None).map_err(|conflicts| {
            assert_eq!(conflicts.list.len(), 1, "{conflicts}");
            (conflicts.list[0].kind, conflicts.list[0].hint.clone().unwrap())
        })
    };
    assert!(kind("p8").is_ok());
    assert_eq!(kind("p9").unwrap_err().0, ConflictKind::ProfileChain);
    assert_eq!(kind("x").unwrap_err().0, ConflictKind::ProfileCycle);
    assert_eq!(kind("orphan").unwrap_err(), (ConflictKind::UnknownProfile, "did you mean `p1`?".into()));
    assert_eq!(kind("nope").unwrap_err().0, ConflictKind::UnknownProfile);
}

#[test]
fn patterns_match_children_and_what_is_below() {
    let removed = |text: &str| policy(text).allowed();
    let crypto = removed("removeAllow: [crypto.*]");
    assert!(!crypto.contains(Capability::CryptoHmac));
    assert!(crypto.contains(Capability::Console));
    assert_eq!(crypto, removed("removeAllow: [crypto.**]"));
    let top = removed("removeAllow: ['*']");
    assert!(top.contains(Capability::CryptoHmac) && !top.contains(Capability::Console));
    assert!(removed("removeAllow: ['**']").is_empty());
    assert!(layer("addAllow: [crypto]").is_err(), "a parent is not its children");
    assert!(layer("addAllow: [crypt.*]").is_err());
}

#[test]
fn what_this_build_does_not_have_is_not_granted_proposed_or_rated() {
    let missing: Vec<Capability> =
        Capability::ALL.iter().copied().filter(|one| !one.is_available()).collect();
    assert_eq!(missing, [Capability::ToolsCall, Capability::EnvRead]);
    for capability in missing {
        let grant = format!("addAllow: [{capability}]\nremoveDeny: [{capability}]");
        for document in [&grant, &format!("addAllow: [{capability}]"), &format!("removeDeny: [{capability}]")]
        {
            let conflicts = try_policy(&baseline(), document).expect_err(document);
            let [conflict] = conflicts.list.as_slice() else { panic!("{conflicts}") };
            let told = format!("`{capability}` cannot be granted: this build does not have it");
            assert_eq!(
                (conflict.kind, &conflict.message),
                (ConflictKind::NotInThisBuild, &told),
                "{document}"
            );
            assert!(conflict.sources[0].place.is_some(), "{conflict:?}");
        }
        // No denial proposes it, and `limits` does not either.
        let plain = policy("");
        let denial = explain(&plain, &Query::parse(capability.name()).unwrap()).denial.unwrap();
        assert_eq!((denial.reason, &denial.fix), (DenialReason::NotInThisBuild, &None));
        let blocked = crate::surface(&plain).blocked;
        let blocked = blocked.iter().find(|blocked| blocked.capability == Some(capability)).unwrap();
        assert!(!blocked.instead.contains("overrides") && blocked.why.contains("this build"), "{blocked:?}");
    }
    // A wider pattern means what there is.
    let wide = policy(
        "addAllow: ['**']\nremoveDeny: ['**']\nfileRead: true\nfileWrite: true\ndestructive: true\nnetwork: open",
    );
    assert!(wide.allowed().iter().all(Capability::is_available), "{}", wide.allowed().names());
    let told: Vec<String> =
        crate::risk(&wide, &baseline()).reasons.iter().map(|one| one.detail.clone()).collect();
    assert!(
        !told.iter().any(|detail| detail.contains("tools.call") || detail.contains("env.read")),
        "{told:?}"
    );
    // Denying it stays possible: the shipped deny list does.
    assert!(try_policy(&baseline(), "addDeny: [tools.call]").is_ok());
}
