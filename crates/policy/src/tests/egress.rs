//! The connections of command sandboxes: what a spec names, what the operator never lets out, and where a name may lead.

use std::net::IpAddr;
use std::sync::Arc;

use proptest::prelude::*;
use url::Url;

use crate::{
    AddressClass, EgressPolicy, EgressScope, EgressTerms, HostName, HostRule, Method, MethodSet, PathGlob,
    Purpose, classify,
};

fn rules(texts: &[&str]) -> Vec<HostRule> {
    texts.iter().map(|text| HostRule::parse(text, Purpose::Grant).unwrap()).collect()
}

fn terms() -> EgressTerms {
    EgressTerms {
        never: vec![
            HostRule::parse("*.corp.example", Purpose::Refuse).unwrap(),
            HostRule::parse("odd.example:8443", Purpose::Refuse).unwrap(),
            HostRule::parse("9.9.9.0/24", Purpose::Refuse).unwrap(),
        ],
        narrowed: vec![
            HostRule::parse("narrow.example", Purpose::Grant)
                .unwrap()
                .with_methods(MethodSet::of([Method::Get]).unwrap())
                .with_paths(vec![PathGlob::parse("/v1/**").unwrap()]),
        ],
        private: rules(&["inside.example:8443"]),
        own_listeners: vec!["127.0.0.1:8282".parse().unwrap(), "0.0.0.0:7000".parse().unwrap()],
    }
}

fn listed(hosts: &[&str]) -> EgressPolicy {
    EgressPolicy::new(EgressScope::Listed(rules(hosts)), Arc::new(terms()))
}

fn full() -> EgressPolicy {
    EgressPolicy::new(EgressScope::AnyPublic, Arc::new(terms()))
}

fn host(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

#[track_caller]
fn check(policy: &EgressPolicy, to: (&str, u16), wanted: &str) {
    let said = policy.connect(&host(to.0), to.1);
    let said = said.map_or_else(|denial| denial.reason.word().to_owned(), |target| target.get().to_string());
    assert_eq!(said, wanted, "{to:?}");
}

#[test]
fn a_connection_is_judged_by_host_and_port() {
    let policy = listed(&["a.example", "b.example:8443", "*.c.example:*", "x.corp.example", "odd.example:*"]);
    check(&policy, ("a.example", 80), "a.example:80");
    check(&policy, ("A.Example.", 443), "a.example:443");
    check(&policy, ("a.example", 8443), "host-not-allowed");
    check(&policy, ("b.example", 8443), "b.example:8443");
    check(&policy, ("b.example", 443), "host-not-allowed");
    check(&policy, ("x.c.example", 9999), "x.c.example:9999");
    check(&policy, ("c.example", 9999), "host-not-allowed");
    check(&policy, ("x.c.example", 22), "bad-port");
    check(&policy, ("x.corp.example", 443), "host-never");
    check(&policy, ("odd.example", 8443), "host-never");
    check(&policy, ("odd.example", 8444), "odd.example:8444");
    check(&full(), ("anything.example", 1234), "anything.example:1234");
    check(&full(), ("9.9.9.9", 443), "host-never");
    check(&full(), ("10.0.0.1", 443), "private-address");
    check(&full(), ("169.254.169.254", 80), "metadata-address");
    check(&full(), ("metadata.google.internal", 80), "metadata-address");
    check(&full(), ("localhost", 80), "private-address");
    check(&full(), ("127.0.0.1", 8282), "own-listener");
    check(&full(), ("10.1.2.3", 7000), "own-listener");
}

#[test]
fn a_name_is_resolved_only_where_it_can_be_reached() {
    let policy = listed(&["a.example:8443", "*.c.example"]);
    for (name, may) in [
        ("a.example", true),
        ("x.c.example", true),
        ("c.example", false),
        ("b.example", false),
        ("x.corp.example", false),
        ("localhost", false),
    ] {
        assert_eq!(policy.resolve(&host(name)).is_ok(), may, "{name}");
    }
    assert!(full().resolve(&host("odd.example")).is_ok(), "only one port of it is refused");
    assert!(full().resolve(&host("x.corp.example")).is_err());
    assert!(full().resolve(&host("metadata.goog")).is_err());
}

#[test]
fn an_address_is_private_only_for_the_host_and_port_that_may_be() {
    let policy = full();
    let at = |name: &str, port: u16, address: &str| {
        let target = policy.connect(&host(name), port).unwrap();
        policy
            .address(&target, address.parse().unwrap())
            .map(|address| address.into_inner().to_string())
            .map_err(|denial| denial.reason.word())
    };
    assert_eq!(at("a.example", 443, "1.1.1.1"), Ok("1.1.1.1:443".to_owned()));
    assert_eq!(at("a.example", 443, "::ffff:1.1.1.1"), Ok("1.1.1.1:443".to_owned()));
    assert_eq!(at("inside.example", 8443, "10.0.0.1"), Ok("10.0.0.1:8443".to_owned()));
    assert_eq!(at("inside.example", 443, "10.0.0.1"), Err("private-address"));
    assert_eq!(at("a.example", 8443, "10.0.0.1"), Err("private-address"));
    assert_eq!(at("inside.example", 8443, "169.254.169.254"), Err("metadata-address"));
    assert_eq!(at("inside.example", 8443, "0.0.0.0"), Err("unusable-address"));
    assert_eq!(at("a.example", 443, "9.9.9.9"), Err("host-never"));
    assert_eq!(at("a.example", 443, "64:ff9b::909:909"), Err("host-never"));
    assert_eq!(at("a.example", 7000, "192.168.0.1"), Err("own-listener"));
    assert_eq!(at("1.1.1.1", 443, "8.8.8.8"), Err("host-mismatch"), "a literal is its own only address");
}

#[test]
fn a_narrowed_host_takes_only_what_fits_and_nothing_that_cannot_be_seen() {
    let policy = listed(&["narrow.example", "wide.example"]);
    let target = |name: &str| policy.connect(&host(name), 443).unwrap();
    let ask = |name: &str, method: &str, path: &str| {
        let url = Url::parse(&format!("https://{name}{path}")).unwrap();
        policy.request(&target(name), method, url).map(drop).map_err(|denial| denial.reason.word())
    };
    assert_eq!(ask("narrow.example", "GET", "/v1/x"), Ok(()));
    assert_eq!(ask("narrow.example", "POST", "/v1/x"), Err("method-not-allowed"));
    assert_eq!(ask("narrow.example", "PROPFIND", "/v1/x"), Err("method-not-allowed"));
    assert_eq!(ask("narrow.example", "GET", "/v2/x"), Err("path-not-allowed"));
    assert_eq!(ask("narrow.example", "GET", "/v1/%2fx"), Err("ambiguous-path"));
    assert_eq!(ask("wide.example", "PROPFIND", "/anything"), Ok(()));
    assert_eq!(policy.tunnel(&target("narrow.example")).unwrap_err().reason.word(), "hidden-request");
    assert!(policy.tunnel(&target("wide.example")).is_ok());
}

#[test]
fn a_refusal_proposes_the_network_that_would_do() {
    let denial = listed(&["a.example", "*.c.example:443"]).connect(&host("b.example"), 8443).unwrap_err();
    let fix = denial.fix.clone().unwrap().overrides;
    assert_eq!(fix, serde_json::json!({"network": "allow:a.example,*.c.example:443,b.example:8443"}));
    assert_eq!((denial.layer.to_string(), denial.capability.as_str()), ("sandbox".to_owned(), "net.connect"));
    assert_eq!(listed(&["a.example"]).connect(&host("10.0.0.1"), 80).unwrap_err().fix, None);
    assert_eq!(full().connect(&host("x.corp.example"), 80).unwrap_err().fix, None);
}

proptest! {
    #[test]
    fn an_address_that_is_granted_without_a_private_rule_is_public(bits: u128, small: bool, port in 1_u16..) {
        let address: IpAddr = if small {
            IpAddr::V4(u32::try_from(bits & 0xffff_ffff).unwrap().into())
        } else {
            IpAddr::V6(bits.into())
        };
        let policy = full();
        if let Ok(target) = policy.connect(&host("a.example"), port)
            && let Ok(granted) = policy.address(&target, address)
        {
            prop_assert_eq!(classify(address), AddressClass::Public);
            prop_assert_eq!(granted.get().ip(), address.to_canonical());
            prop_assert_eq!(granted.get().port(), port);
        }
    }
}
