//! Documents of overrides: what is read, and one clear message for each mistake.

use super::{layer, policy};
use crate::NetworkMode;

#[track_caller]
fn check(text: &str, place: (u32, u32), path: &str, message: &str, hint: &str) {
    let problems = layer(text).expect_err(text);
    let problem = &problems.list[0];
    assert!(problem.message.contains(message), "{text}: {problem:?}");
    assert_eq!(problem.place.map(|p| (p.line, p.column)), Some(place), "{text}: {problem:?}");
    assert_eq!(problem.path.as_str(), path, "{text}");
    assert!(problem.hint.as_deref().unwrap_or("").contains(hint), "{text}: {problem:?}");
}

#[test]
fn mistakes_are_told_with_place_path_and_hint() {
    check("netwrok: open", (1, 1), "netwrok", "unknown field `netwrok`", "did you mean `network`?");
    check("network: opne", (1, 10), "network", "cannot be `opne`", "did you mean `open`?");
    check("network: [open]", (1, 10), "network", "must be a text, but is a list", "");
    check("hosts: a.test", (1, 8), "hosts", "must be a list, but is a text", "[\"a.test\"]");
    check("hosts:\n  - a.test\n  - 'https://b.test/x'", (3, 5), "hosts[1]", "is a URL", "write \"b.test\"");
    check("fileRead: 'yes'", (1, 11), "fileRead", "must be true or false", "");
    check(
        "addAllow: [timer]",
        (1, 12),
        "addAllow[0]",
        "`timer` names no capability",
        "did you mean `timers`?",
    );
    check("ask: {network: first}", (1, 7), "ask.network", "unknown field `network`", "known here: net, fs");
    check("ask: {net: sometimes}", (1, 12), "ask.net", "cannot be `sometimes`", "first, always");
    check("basePath: ../x", (1, 11), "basePath", "climbs above its start", "");
    check("- a", (1, 1), "", "the document must be a map of fields, but is a list", "");
    check("just text", (1, 1), "", "the document must be a map of fields, but is a text", "");
    check("network: open\nnetworkMode: open", (2, 14), "networkMode", "both are given", "");
}

#[test]
fn names_of_the_past_are_understood() {
    let policy = policy("networkMode: allowlist\nhostsAllow: [a.test]\nfileRead: true\nfsBasePath: x");
    assert_eq!(policy.network(), NetworkMode::Allowlist);
    assert_eq!(policy.to_json()["files"]["basePath"], "x");
}

#[test]
fn endless_lists_are_refused_at_once() {
    let hosts = vec!["a.test"; 501].join(",");
    check(&format!("hosts: [{hosts}]"), (1, 8), "hosts", "has 501 entries; at most 500", "");
    let paths = vec!["/x"; 51].join(",");
    let text = format!("hosts: [{{host: a.test, paths: [{paths}]}}]");
    check(&text, (1, 31), "hosts[0].paths", "has 51 entries; at most 50", "");
    let rule = format!("{{host: a.test, paths: [{}]}}", vec!["/x"; 50].join(","));
    let many = [rule.as_str(); 11].join(",");
    let problems = layer(&format!("hosts: [{many}]")).unwrap_err();
    assert!(problems.to_string().contains("more than 500 paths in all"), "{problems}");
    let names = vec!["eval"; 201].join(",");
    check(&format!("addDeny: [{names}]"), (1, 10), "addDeny", "has 201 entries; at most 200", "");
}

#[test]
fn a_layer_writes_what_it_read() {
    let text = "network: allowlist\nhosts: [a.test, '*.b.test:8443', {host: 10.0.0.0/8, port: '*', private: true, methods: [GET], paths: [/v1/**]}]\nfileRead: true\nfileWrite: false\nbasePath: x/y\naddAllow: [timers]\nremoveDeny: [timers]\nask: {net: first, fs: always}";
    let first = layer(text).unwrap();
    let again = layer(&first.to_overrides().to_string()).unwrap();
    assert_eq!(first.to_overrides(), again.to_overrides());
}
