//! What clients are told that a tool may do, against what policy would let it do.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::properties::peaceful;
use super::{baseline, operated, policy, try_policy};
use crate::{Answers, Decision, EffectivePolicy, FetchQuestion, Hints, Query, Remembered, explain, hints};

/// The words that hold, in their order.
fn words(hints: Hints) -> String {
    let Hints { read_only, destructive, idempotent, open_world } = hints;
    let all = [
        ("readOnly", read_only),
        ("destructive", destructive),
        ("idempotent", idempotent),
        ("openWorld", open_world),
    ];
    all.iter().filter(|(_, holds)| *holds).map(|(word, _)| *word).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(overrides: &str, expected: &str) {
    assert_eq!(words(hints(&policy(overrides))), expected, "{overrides}");
}

const READS: &str = "readOnly idempotent";
const READS_OTHERS: &str = "readOnly idempotent openWorld";
const CHANGES: &str = "destructive";
const CHANGES_OTHERS: &str = "destructive openWorld";

#[test]
fn hints_follow_from_what_the_policy_grants() {
    check("{}", READS);
    check("{addAllow: [timers], removeDeny: [timers]}", READS);
    check("{addAllow: [eval], removeDeny: [eval]}", READS);
    check("{fileRead: true}", READS);
    check("{fileRead: true, basePath: reports}", READS);
    check("{fileWrite: true}", CHANGES);
    check("{fileWrite: true, ask: {fs: always}}", CHANGES);
    check("{destructive: true}", CHANGES);
    check("{network: blocked}", READS);
    check("{network: strict}", CHANGES_OTHERS);
    check("{network: open}", CHANGES_OTHERS);
    check("{network: open, ask: {net: always}}", CHANGES_OTHERS);
    check("{addAllow: [process.exec], removeDeny: [process.exec]}", CHANGES_OTHERS);
}

#[test]
fn a_list_of_hosts_only_reads_where_every_rule_allows_get_and_head_alone() {
    check("{network: allowlist, hosts: [a.test]}", CHANGES_OTHERS);
    check("{network: allowlist, hosts: [{host: a.test, methods: [GET]}]}", READS_OTHERS);
    check("{network: allowlist, hosts: [{host: a.test, methods: [HEAD, GET]}]}", READS_OTHERS);
    check("{network: allowlist, hosts: [{host: a.test, methods: [GET, OPTIONS]}]}", CHANGES_OTHERS);
    check("{network: allowlist, hosts: [{host: a.test, methods: [DELETE]}]}", CHANGES_OTHERS);
    check("{network: allowlist, hosts: [{host: a.test, methods: [GET]}, b.test]}", CHANGES_OTHERS);
    check("{network: allowlist, hosts: [{host: a.test, paths: [/v1/**]}]}", CHANGES_OTHERS);
    check("{network: allowlist, hosts: [{host: a.test, methods: [GET]}], fileWrite: true}", CHANGES_OTHERS);
    check("{network: allowlist, hosts: [{host: '*', methods: [GET]}]}", READS_OTHERS);
}

/// Whether the first is as harmless as the second, or more so, in every word.
fn is_no_worse(first: Hints, second: Hints) -> bool {
    (first.read_only || !second.read_only)
        && (!first.destructive || second.destructive)
        && (first.idempotent || !second.idempotent)
        && (!first.open_world || second.open_world)
}

const METHODS: &[&[&str]] = &[&["GET"], &["GET", "HEAD"], &["POST"], &["GET", "PUT"]];

/// Overrides whose hosts allow some methods only, as often as not.
fn with_methods() -> impl Strategy<Value = Value> {
    let methods = select(METHODS);
    (peaceful(), proptest::option::of(methods)).prop_map(|(mut value, methods)| {
        let Some(methods) = methods else { return value };
        for entry in value.get_mut("hosts").and_then(Value::as_array_mut).into_iter().flatten() {
            let host = entry.get("host").cloned().unwrap_or_else(|| entry.clone());
            let private = entry.get("private").cloned().unwrap_or(json!(false));
            let (host, port) = match host.as_str().and_then(|text| text.split_once(':')) {
                Some((host, port)) => (json!(host), Some(port.parse::<u16>().unwrap())),
                None => (host.clone(), None),
            };
            *entry = json!({"host": host, "private": private, "methods": methods});
            if let Some(port) = port {
                entry["port"] = json!(port);
            }
        }
        value
    })
}

fn is_granted(policy: &EffectivePolicy, method: &str, url: &str) -> bool {
    !matches!(policy.decide(&FetchQuestion { method, url }, Answers::default()), Decision::Deny(_))
}

fn is_explained_as_granted(policy: &EffectivePolicy, query: &str) -> bool {
    explain(policy, &Query::parse(query).unwrap()).denial.is_none()
}

const URLS: &[&str] = &["https://a.test/", "https://c.a.test/x", "http://10.0.0.1/", "https://b.test:8443/"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_to_be_harmless_is_refused_by_policy(value in with_methods()) {
        let Ok(policy) = try_policy(&operated(), &value.to_string()) else { return Ok(()) };
        let said = hints(&policy);
        for url in URLS {
            for method in ["GET", "HEAD"] {
                prop_assert!(said.open_world || !is_granted(&policy, method, url), "{method} {url}: {value}");
            }
            for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
                prop_assert!(!said.read_only || !is_granted(&policy, method, url), "{method} {url}: {value}");
                prop_assert!(said.destructive || !is_granted(&policy, method, url), "{method} {url}: {value}");
            }
        }
        for query in ["write x/1", "write x/y/2", "delete x/1", "delete x/y/2", "process.exec"] {
            prop_assert!(!said.read_only || !is_explained_as_granted(&policy, query), "{query}: {value}");
        }
        prop_assert_eq!(said.idempotent, said.read_only);
        prop_assert!(!(said.read_only && said.destructive));
    }

    #[test]
    fn a_wider_policy_never_looks_more_harmless(first in with_methods(), second in with_methods(), which in 0..7usize) {
        let Ok(before) = try_policy(&baseline(), &first.to_string()) else { return Ok(()) };
        // One thing more ...
        let mut more = first.clone();
        let map = more.as_object_mut().unwrap();
        match which {
            0 => drop(map.insert("fileRead".into(), json!(true))),
            1 => drop(map.insert("fileWrite".into(), json!(true))),
            2 => drop(map.insert("destructive".into(), json!(true))),
            3 | 4 => {
                let entry = if which == 3 { json!("d.test") } else { json!({"host": "d.test", "methods": ["GET"]}) };
                map.entry("hosts").or_insert_with(|| json!([])).as_array_mut().unwrap().push(entry);
                map.insert("network".into(), json!("allowlist"));
            }
            5 => {
                map.remove("hosts");
                map.insert("network".into(), json!("open"));
            }
            _ => {
                map.insert("addAllow".into(), json!(["process.exec"]));
                map.insert("removeDeny".into(), json!(["process.exec"]));
            }
        }
        // ... or another policy altogether.
        for after in [&more, &second] {
            let Ok(after) = try_policy(&baseline(), &after.to_string()) else { continue };
            let is_wider = Remembered::from_policy(&after).widened_in(&before).is_empty();
            if is_wider {
                prop_assert!(is_no_worse(hints(&before), hints(&after)), "{first} → {:?}", hints(&after));
            }
        }
    }
}
