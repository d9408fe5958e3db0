//! The shapes other programs rely on.

use std::sync::Arc;

use serde_json::json;

use super::{layer, policy};
use crate::{Baseline, GuestPath, Query, explain, resolve, surface};

/// The example of an overrides block that the product's shapes promise to accept.
const EXAMPLE: &str = r#"
network: allowlist
hosts: ["api.github.com", "*.example.com", {host: "api.internal", port: 8443, private: true, methods: [GET], paths: ["/v1/**"]}]
fileRead: true
basePath: reports
addAllow: [timers]
removeDeny: [timers]
ask: {net: first}
"#;

#[test]
fn the_example_overrides_resolve_to_their_golden_policy() {
    let policy = policy(EXAMPLE);
    let json = policy.to_json();
    assert_eq!(
        json["network"],
        json!({"mode": "allowlist", "from": "tool", "ask": "first", "never": [], "reserved": [],
            "hosts": ["*.example.com", "api.github.com",
                {"host": "api.internal", "port": 8443, "methods": ["GET"], "paths": ["/v1/**"], "private": true}]})
    );
    assert_eq!(
        json["files"],
        json!({"read": true, "write": false, "delete": false, "basePath": "reports", "roots": ["workspace"], "ask": null})
    );
    assert_eq!(json["limits"]["wallMs"], 5000);
    assert_eq!(crate::risk(&policy, &Baseline::shipped()).level.name(), "L4");
}

#[test]
fn the_surface_lists_what_the_policy_gives_and_what_it_does_not() {
    let shut = surface(&policy("")).to_json();
    let globals = |json: &serde_json::Value| -> Vec<String> {
        json["globals"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    assert!(globals(&shut).contains(&"console".to_owned()));
    assert!(!globals(&shut).contains(&"fetch".to_owned()));
    let blocked: Vec<&str> =
        shut["blocked"].as_array().unwrap().iter().map(|b| b["name"].as_str().unwrap()).collect();
    for name in ["fetch", "setTimeout", "eval", "require", "process", "SharedArrayBuffer"] {
        assert!(blocked.contains(&name), "{name}");
    }
    for entry in shut["blocked"].as_array().unwrap() {
        assert!(
            !entry["why"].as_str().unwrap().is_empty() && !entry["instead"].as_str().unwrap().is_empty(),
            "{entry}"
        );
    }
    assert_eq!(shut["limits"]["wallMs"], 5000);
    assert_eq!(shut["limits"]["wallMsMax"], 30000);
    assert_eq!(shut["fetch"]["available"], false);

    let open = surface(&policy("network: strict\nremoveAllow: [clock]")).to_json();
    assert!(globals(&open).contains(&"fetch".to_owned()));
    assert!(!globals(&open).contains(&"Date".to_owned()));
    assert_eq!(open["fetch"]["available"], true);
}

#[test]
fn no_name_is_both_there_and_not_there() {
    for text in ["", "network: strict\nfileRead: true\nfileWrite: true", "removeAllow: ['**']"] {
        let surface = surface(&policy(text));
        for blocked in &surface.blocked {
            assert!(!surface.globals.contains(&blocked.name), "{} with {text:?}", blocked.name);
        }
    }
}

#[test]
fn an_explanation_of_a_no_is_the_denial_itself() {
    let policy = policy("network: allowlist\nhosts: [api.github.com]");
    let json = explain(&policy, &Query::parse("fetch https://evil.test/").unwrap()).to_json();
    assert_eq!(json["answer"], "no");
    assert_eq!(json["code"], "NET_DENIED");
    assert_eq!(json["fix"]["risk"], "L3");
    let json = explain(&policy, &Query::parse("fetch https://api.github.com/x").unwrap()).to_json();
    assert_eq!(json["answer"], "yes");
    assert_eq!(json["rule"], "hosts: api.github.com");
    assert_eq!(json["layer"], "tool");
    assert!(json.get("code").is_none());
}

#[test]
fn the_powers_look_the_same_however_they_were_written() {
    let mut base = Baseline::shipped();
    base.read_roots.push(GuestPath::parse("/srv/data").unwrap());
    let base = Arc::new(base);
    let of = |text: &str| resolve(&base, None, Some(&Arc::new(layer(text).unwrap()))).unwrap().powers_json();
    assert_eq!(
        of("network: allowlist\nhosts: [B.test, a.test., b.test]\naddAllow: [timers]\nremoveDeny: [timers]"),
        of("removeDeny: [timers]\naddAllow: [timers, timers]\nhosts: [a.test, b.test]\nnetwork: allowlist"),
    );
}
