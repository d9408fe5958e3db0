//! Decisions, the proof they carry, and the fixes they propose.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{answer, baseline, layer, operated, policy, try_policy};
use crate::{
    AddressQuestion, Answers, Baseline, Decision, EffectivePolicy, FetchQuestion, FileOp, FileQuestion,
    Query, Root, explain,
};

#[track_caller]
fn check_fix(policy: &EffectivePolicy, query: &str, overrides: &Value, risk: &str) {
    let denial = explain(policy, &Query::parse(query).unwrap()).denial.expect("a denial");
    let fix = denial.fix.unwrap_or_else(|| panic!("{query}: no fix for {}", denial.reason));
    assert_eq!((&fix.overrides, fix.risk.name()), (overrides, risk), "{query}");
}

#[track_caller]
fn check_no_fix(policy: &EffectivePolicy, query: &str) {
    let denial = explain(policy, &Query::parse(query).unwrap()).denial.expect("a denial");
    assert_eq!(denial.fix, None, "{query}");
}

#[test]
fn the_denial_names_rule_layer_reason_and_fix() {
    let policy = policy("network: allowlist\nhosts: [api.github.com]");
    let denial = explain(&policy, &Query::parse("fetch https://evil.test/").unwrap()).denial.unwrap();
    assert_eq!(
        serde_json::to_value(&denial).unwrap(),
        json!({"code": "NET_DENIED", "capability": "net.fetch", "asked": "GET https://evil.test/",
            "rule": "hosts", "layer": "tool", "reason": "host-not-allowed",
            "fix": {"overrides": {"hosts": ["evil.test"]}, "risk": "L3"}})
    );
}

#[test]
fn a_fix_is_the_narrowest_override_that_works() {
    let shut = policy("");
    check_fix(&shut, "fetch https://a.test/", &json!({"network": "allowlist", "hosts": ["a.test"]}), "L3");
    check_fix(
        &shut,
        "fetch https://a.test:8443/",
        &json!({"network": "allowlist", "hosts": ["a.test:8443"]}),
        "L3",
    );
    check_fix(
        &shut,
        "fetch http://10.1.2.3/",
        &json!({"network": "allowlist", "hosts": [{"host": "10.1.2.3", "port": 80, "private": true}]}),
        "L3",
    );
    check_fix(&shut, "timers", &json!({"addAllow": ["timers"], "removeDeny": ["timers"]}), "L3");
    check_fix(&shut, "eval", &json!({"addAllow": ["eval"], "removeDeny": ["eval"]}), "L4");
    check_fix(
        &shut,
        "process.exec",
        &json!({"addAllow": ["process.exec"], "removeDeny": ["process.exec"]}),
        "L5",
    );
    check_fix(&shut, "read notes.txt", &json!({"fileRead": true}), "L3");
    check_fix(&shut, "write notes.txt", &json!({"fileWrite": true}), "L4");
    check_fix(&shut, "delete notes.txt", &json!({"destructive": true}), "L5");
    check_fix(&shut, "net.fetch", &json!({"network": "strict"}), "L3");
    let listed = policy("network: allowlist\nhosts: [{host: a.test, methods: [GET], paths: [/v1/**]}]");
    check_fix(
        &listed,
        "POST https://a.test/v1/x",
        &json!({"hosts": [{"host": "a.test", "methods": ["POST"], "paths": ["/v1/x"]}]}),
        "L3",
    );
    let private = policy(
        "network: allowlist\nhosts: [{host: api.internal, port: 8443, private: true, methods: [GET]}]",
    );
    check_fix(
        &private,
        "POST https://api.internal:8443/x",
        &json!({"hosts": [{"host": "api.internal", "port": 8443, "methods": ["POST"], "paths": ["/x"], "private": true}]}),
        "L3",
    );
    check_fix(&policy("network: strict"), "fetch http://10.1.2.3/", &json!({"network": "open"}), "L4");
    let confined = policy("fileRead: true\nbasePath: reports/2026");
    check_fix(&confined, "read reports/2025/x", &json!({"basePath": "reports"}), "L3");
    check_fix(&confined, "write reports/2026/x", &json!({"fileWrite": true}), "L4");
    check_fix(
        &policy("fileRead: true"),
        "fetch https://a.test/",
        &json!({"network": "allowlist", "hosts": ["a.test"]}),
        "L4",
    );
}

#[test]
fn a_fix_reaches_through_profiles() {
    let with = |profile: &str| {
        let base = Arc::new(super::with_profile(&Baseline::shipped(), "p", None, profile));
        crate::resolve(&base, Some(&bailiwick_types::ProfileName::parse("p").unwrap()), None).unwrap()
    };
    let denied = with("addDeny: [fs.delete]");
    check_fix(&denied, "delete a", &json!({"destructive": true, "removeDeny": ["fs.delete"]}), "L5");
    check_fix(&with("basePath: data"), "read x.txt", &json!({"fileRead": true, "basePath": "."}), "L3");
    check_fix(&with("basePath: data"), "read data/x.txt", &json!({"fileRead": true}), "L3");
}

#[test]
fn there_is_no_fix_where_nothing_a_tool_declares_would_help() {
    let open = try_policy(&operated(), "network: open\nfileRead: true\nfileWrite: true").unwrap();
    for query in [
        "fetch http://169.254.169.254/latest",
        "fetch https://wiki.corp.example/",
        "fetch http://127.0.0.1:8282/",
        "fetch ftp://a.test/",
        "fetch https://u:p@a.test/",
        "fetch http://a.test:25/",
        "fetch not-a-url",
        "read /etc/passwd",
        "read ../x",
        "write /srv/data/x",
    ] {
        check_no_fix(&open, query);
    }
    // A path that no pattern can name exactly is not widened to one that names more.
    let narrow = policy("network: allowlist\nhosts: [{host: a.test, methods: [GET], paths: [/v1/x]}]");
    for path in ["/**", "/v1/a*b", "/v2/[x]", "/v1/%2e%2e%2fx"] {
        check_no_fix(&narrow, &format!("fetch https://a.test{path}"));
        check_no_fix(&narrow, &format!("POST https://a.test{path}"));
    }
    // The author's own deny stands against the author's own allow.
    check_no_fix(&policy("addDeny: [console]"), "console");
    // The operator's ceiling is above every tool.
    let mut capped = Baseline::shipped();
    capped.ceilings.networks = vec![crate::NetworkMode::Blocked];
    check_no_fix(&try_policy(&Arc::new(capped), "").unwrap(), "fetch https://a.test/");
}

#[test]
fn every_fix_turns_its_denial_into_a_yes() {
    let queries = [
        "fetch https://a.test/",
        "POST https://b.test:8443/x",
        "fetch http://10.1.2.3:9000/",
        "fetch http://[::1]:9000/",
        "fetch http://localhost:3000/",
        "timers",
        "eval",
        "process.exec",
        "read x",
        "write x/y",
        "delete x",
        "fs.read",
        "fs.delete",
        "net.fetch",
        "read a/b",
    ];
    let starts = [
        "",
        "network: allowlist\nhosts: [c.test]",
        "network: strict",
        "network: open",
        "fileRead: true\nbasePath: a",
        "removeAllow: [console]",
        "network: allowlist\nhosts: [{host: a.test, paths: [/v1/*]}]",
    ];
    for start in starts {
        let before = policy(start);
        for query in queries {
            let Some(denial) = explain(&before, &Query::parse(query).unwrap()).denial else { continue };
            let fix = denial.fix.unwrap_or_else(|| panic!("{start} / {query}: {}", denial.reason));
            // Through the document form, as a person would apply it.
            let addition = layer(&fix.overrides.to_string()).unwrap();
            let merged = layer(start).unwrap().merged_with(&addition);
            let after = crate::resolve(&baseline(), None, Some(&Arc::new(merged))).unwrap();
            assert_eq!(answer(&after, query), "yes", "{start} / {query}");
            assert_eq!(crate::risk(&after, &baseline()).level, fix.risk, "{start} / {query}");
        }
    }
}

#[test]
fn a_granted_request_is_the_one_that_was_checked() {
    let policy = policy("network: allowlist\nhosts: [{host: a.test, private: true, port: 8080}]");
    let Decision::Allow(target) = policy
        .decide(&FetchQuestion { method: "post", url: "http://A.TEST.:8080/x/../y?q" }, Answers::default())
    else {
        panic!("must be allowed")
    };
    assert_eq!(target.get().host().to_string(), "a.test");
    assert_eq!(target.get().url().path(), "/y");
    assert_eq!(target.get().method().word(), "POST");
    let end = |address: &str| {
        let question = AddressQuestion { target: &target, address: address.parse::<IpAddr>().unwrap() };
        match policy.decide(&question, Answers::default()) {
            Decision::Allow(socket) => socket.get().to_string(),
            Decision::Deny(denial) => denial.reason.to_string(),
            Decision::Ask(_) => "ask".to_owned(),
        }
    };
    assert_eq!(end("10.0.0.5"), "10.0.0.5:8080");
    assert_eq!(end("::ffff:10.0.0.5"), "10.0.0.5:8080");
    assert_eq!(end("8.8.8.8"), "8.8.8.8:8080");
    assert_eq!(end("169.254.169.254"), "metadata-address");
    assert_eq!(end("0.0.0.0"), "unusable-address");
}

#[test]
fn a_public_grant_does_not_end_at_a_private_address() {
    let base = operated();
    let policy = try_policy(&base, "network: allowlist\nhosts: [rebind.test, '*:8282']").unwrap();
    let check = |url: &str, address: &str, expected: &str| {
        let Decision::Allow(target) = policy.decide(&FetchQuestion::get(url), Answers::default()) else {
            panic!("{url}")
        };
        let question = AddressQuestion { target: &target, address: address.parse().unwrap() };
        let decision = policy.decide(&question, Answers::default());
        assert_eq!(decision.denial().map(|denial| denial.reason.word()), Some(expected), "{url} {address}");
    };
    check("https://rebind.test/", "192.168.1.1", "private-address");
    check("https://rebind.test/", "64:ff9b::a00:1", "private-address");
    check("https://rebind.test/", "fd00:ec2::254", "metadata-address");
    check("https://rebind.test/", "10.9.1.1", "host-never");
    check("http://any.test:8282/", "127.0.0.1", "own-listener");
}

#[test]
fn a_name_that_turns_out_private_gets_a_fix_too() {
    let fix = |text: &str| {
        let policy = policy(text);
        let Decision::Allow(target) =
            policy.decide(&FetchQuestion::get("https://db.test/"), Answers::default())
        else {
            panic!("{text}")
        };
        let question = AddressQuestion { target: &target, address: "10.0.0.5".parse().unwrap() };
        let decision = policy.decide(&question, Answers::default());
        decision.denial().and_then(|denial| denial.fix.clone()).map(|fix| (fix.overrides, fix.risk.name()))
    };
    let narrow = json!({"hosts": [{"host": "db.test", "port": 443, "methods": ["GET"], "private": true}]});
    assert_eq!(fix("network: allowlist\nhosts: [{host: db.test, methods: [GET]}]"), Some((narrow, "L3")));
    let listed = json!({"hosts": [{"host": "db.test", "port": 443, "private": true}]});
    assert_eq!(fix("network: allowlist\nhosts: [db.test]"), Some((listed, "L3")));
    assert_eq!(fix("network: strict"), Some((json!({"network": "open"}), "L4")));
}

#[test]
fn a_grant_of_another_policy_does_not_outlive_it() {
    let (wide, narrow) = (policy("network: open"), policy("network: strict"));
    let Decision::Allow(target) = wide.decide(&FetchQuestion::get("https://db.test/"), Answers::default())
    else {
        panic!()
    };
    let question = AddressQuestion { target: &target, address: "10.0.0.5".parse().unwrap() };
    assert!(wide.decide(&question, Answers::default()).is_allowed());
    let denied = narrow.decide(&question, Answers::default());
    assert_eq!(denied.denial().map(|denial| denial.reason.word()), Some("private-address"));
}

#[test]
fn an_unspecified_listener_is_every_local_address() {
    let mut base = Baseline::shipped();
    base.own_listeners = vec!["0.0.0.0:8282".parse().unwrap()];
    let mut mapped = base.clone();
    mapped.own_listeners = vec!["[::ffff:0.0.0.0]:8282".parse().unwrap()];
    let mapped = try_policy(&Arc::new(mapped), "network: open").unwrap();
    assert_eq!(answer(&mapped, "fetch http://127.0.0.1:8282/"), "own-listener");
    let policy = try_policy(&Arc::new(base), "network: open").unwrap();
    assert_eq!(answer(&policy, "fetch http://127.0.0.1:8282/"), "own-listener");
    assert_eq!(answer(&policy, "fetch http://192.168.1.7:8282/"), "own-listener");
    assert_eq!(answer(&policy, "fetch http://[::1]:8282/"), "own-listener");
    assert_eq!(answer(&policy, "fetch http://localhost:8282/"), "own-listener");
    assert_eq!(answer(&policy, "fetch http://localhost:8283/"), "yes");
    assert_eq!(answer(&policy, "fetch http://8.8.8.8:8282/"), "yes");
}

#[test]
fn the_operator_can_open_a_reserved_address_and_nobody_else() {
    let mut base = Baseline::shipped();
    let rule = crate::HostRule::parse("169.254.169.254:80", crate::Purpose::Refuse).unwrap();
    base.reserved = vec![crate::Sourced::built_in(Arc::new(rule), "policy.hosts.reserved")];
    let base = Arc::new(base);
    let open = try_policy(&base, "network: open").unwrap();
    assert_eq!(answer(&open, "fetch http://169.254.169.254/"), "yes");
    assert_eq!(answer(&open, "fetch http://169.254.169.254:8080/"), "metadata-address");
    let strict = try_policy(&base, "network: strict").unwrap();
    assert_eq!(answer(&strict, "fetch http://169.254.169.254/"), "private-address", "opened is not public");
    assert_eq!(answer(&open, "fetch http://[64:ff9b::a9fe:a9fe]/"), "metadata-address");
    let listed =
        try_policy(&base, "network: allowlist\nhosts: [{host: 169.254.169.254, private: true}]").unwrap();
    assert_eq!(answer(&listed, "fetch http://169.254.169.254/"), "yes");
}

#[test]
fn paths_are_judged_by_what_they_come_to() {
    let policy = try_policy(&operated(), "fileRead: true\nfileWrite: true\ndestructive: true").unwrap();
    for (query, expected) in [
        ("read a/b", "yes"),
        ("read ./a//b/../c", "yes"),
        ("write a", "yes"),
        ("delete a", "yes"),
        ("read /srv/data", "yes"),
        ("read /srv/data/x/../y", "yes"),
        ("read /srv/data/../secrets", "outside-roots"),
        ("read /srv/database", "outside-roots"),
        ("read ..", "outside-roots"),
        ("read a/../../b", "outside-roots"),
        ("read /etc/passwd", "outside-roots"),
        ("write /srv/data/x", "read-only-root"),
        ("delete /srv/data/x", "read-only-root"),
        ("read a\0b", "bad-path"),
    ] {
        assert_eq!(answer(&policy, query), expected, "{query}");
    }
    let long = "a/".repeat(3000);
    assert_eq!(answer(&policy, &format!("read {long}")), "bad-path");
    let question = FileQuestion { op: FileOp::Read, path: "/srv/data/x/../y" };
    let Decision::Allow(access) = policy.decide(&question, Answers::default()) else { panic!() };
    assert!(matches!(access.get().root(), Root::ReadRoot(_)));
    assert_eq!(access.get().below().to_string(), "y");
}

#[test]
fn a_base_path_confines_reads_and_writes() {
    let policy = policy("fileRead: true\nfileWrite: true\nbasePath: reports");
    assert_eq!(answer(&policy, "read reports/x"), "yes");
    assert_eq!(answer(&policy, "write reports"), "yes");
    assert_eq!(answer(&policy, "read notes"), "outside-base-path");
    assert_eq!(answer(&policy, "write reports/../notes"), "outside-base-path");
    assert_eq!(answer(&policy, "read reportsX"), "outside-base-path");
}

#[test]
fn asking_stops_at_the_first_or_at_every_effect() {
    let asks = policy("network: strict\nfileRead: true\nask: {net: first, fs: always}");
    let net = FetchQuestion::get("https://a.test/");
    let file = FileQuestion { op: FileOp::Read, path: "x" };
    let fresh = Answers::default();
    let answered = Answers { net: true, fs: true };
    assert!(matches!(asks.decide(&net, fresh), Decision::Ask(_)));
    assert!(matches!(asks.decide(&net, answered), Decision::Allow(_)));
    assert!(matches!(asks.decide(&file, fresh), Decision::Ask(_)));
    assert!(matches!(asks.decide(&file, answered), Decision::Ask(_)));
    let Decision::Ask(pending) = asks.decide(&net, fresh) else { panic!() };
    assert_eq!(pending.waiting().host().to_string(), "a.test");
    assert_eq!(pending.grant_because_a_person_said_yes().get().port(), 443);
    assert_eq!(answer(&asks, "fetch http://10.0.0.1/"), "private-address", "a no needs no person");
}

#[test]
fn what_stands_before_an_at_sign_is_not_repeated() {
    let strict = policy("network: strict");
    for url in [
        "https://u:hunter2@a.test/",
        "https://hunter2@a.test/x@y",
        "https://u:hunter2@a.test:99999/",
        "https://u:hunter2@[bad/",
        "u:hunter2@a.test/x",
        "https://u:hunter2@a@a.test/",
        "https:/u:hunter2@ho st/",
        "https:///u:hunter2@ho st/",
        "https:\\\\u:hunter2@ho st/",
        "https:/\t/u:hunter2@ho st/",
        "https:u:hunter2@ho st/?n=http://x",
        "//u:hunter2@host/x",
        "https://u:hun/hunter2@host/",
        "https://u:x#hunter2@host/",
    ] {
        let told = explain(&strict, &Query::parse(&format!("fetch {url}")).unwrap()).to_json().to_string();
        assert!(!told.contains("hunter2"), "{url}: {told}");
    }
    for host in [
        "https://u:hunter2@h.test/",
        "u:hunter2@h.test",
        "hunter2@h.test/x",
        "https:/u:hunter2@host",
        "u:x/hunter2@host",
        "/u:hunter2@host",
        "https://u:x/hunter2@host",
        "https://u:x#hunter2@host",
    ] {
        let error = crate::HostRule::parse(host, crate::Purpose::Grant).unwrap_err();
        assert!(!format!("{error} {:?}", error.hint()).contains("hunter2"), "{host}: {error}");
    }
}

#[test]
fn an_endless_url_is_no_url() {
    let policy = policy("network: strict");
    let long = format!("fetch https://a.test/{}", "a".repeat(9_000));
    assert_eq!(answer(&policy, &long), "bad-url");
    let told = explain(&policy, &Query::parse(&long).unwrap()).to_json().to_string();
    assert!(told.len() < 1_000, "{}", told.len());
}

#[test]
fn a_literal_address_ends_at_itself() {
    let policy = policy("network: strict");
    let Decision::Allow(target) = policy.decide(&FetchQuestion::get("http://1.1.1.1/"), Answers::default())
    else {
        panic!()
    };
    let end = |policy: &EffectivePolicy, address: &str| {
        let question = AddressQuestion { target: &target, address: address.parse().unwrap() };
        policy.decide(&question, Answers::default()).is_allowed()
    };
    assert!(end(&policy, "1.1.1.1") && end(&policy, "::ffff:1.1.1.1"));
    assert!(!end(&policy, "8.8.8.8"));
    assert!(!end(&super::policy(""), "1.1.1.1"), "a target of another policy is no grant of this one");
}

#[test]
fn what_is_malformed_or_nowhere_is_told_before_any_switch() {
    let shut = policy("");
    assert_eq!(answer(&shut, "fetch not-a-url"), "bad-url");
    assert_eq!(answer(&shut, "fetch ftp://a.test/"), "scheme");
    assert_eq!(answer(&shut, "delete ../x"), "outside-roots");
    assert_eq!(answer(&shut, "read /etc/passwd"), "outside-roots");
    assert_eq!(answer(&shut, "read x"), "not-granted");
}

#[test]
fn questions_are_read_as_people_type_them() {
    for good in [
        "fetch https://a.test/",
        "GET https://a.test/",
        "post https://a.test/",
        "fetch PUT https://a.test/",
        "read x y",
        "use timers",
        " eval ",
    ] {
        assert!(Query::parse(good).is_ok(), "{good}");
    }
    for bad in ["", "flap", "open sesame", "use", "exec ls"] {
        assert!(Query::parse(bad).is_err(), "{bad}");
    }
}
