//! Networks as they are typed, and the hosts in them.

use crate::Network;
use crate::network::FORGES;

/// What is shown and the rules, or a part of the error.
type Expected<'a> = Result<(&'a str, &'a [&'a str]), &'a str>;

#[track_caller]
fn check(text: &str, expected: Expected<'_>) {
    match (text.parse::<Network>(), expected) {
        (Ok(network), Ok((shown, rules))) => {
            assert_eq!(network.to_string(), shown, "{text}");
            assert_eq!(shown.parse(), Ok(network.clone()), "{text}: what is shown can be typed");
            let read: Vec<String> = network.rules().unwrap().iter().map(ToString::to_string).collect();
            assert_eq!(read, rules, "{text}");
            let json = serde_json::to_value(&network).unwrap();
            assert_eq!(serde_json::from_value::<Network>(json).unwrap(), network);
        }
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{text}: {error}"),
        (given, _) => panic!("{text}: {given:?} instead of {expected:?}"),
    }
}

#[test]
fn networks_are_read_as_they_are_typed() {
    let table: &[(&str, Expected<'_>)] = &[
        ("none", Ok(("none", &[]))),
        ("git", Ok(("git", &FORGES))),
        ("full", Ok(("full", &[]))),
        ("host", Ok(("host", &[]))),
        ("allow:pypi.org", Ok(("allow:pypi.org", &["pypi.org"]))),
        ("allow:PyPI.org.:8443, a.test", Ok(("allow:pypi.org:8443,a.test", &["pypi.org:8443", "a.test"]))),
        ("allow:*.example.com", Ok(("allow:*.example.com", &["*.example.com"]))),
        ("allow:1.1.1.1:853", Ok(("allow:1.1.1.1:853", &["1.1.1.1:853"]))),
        ("allow:a.test:*", Ok(("allow:a.test:*", &["a.test:*"]))),
        ("", Err("is not a network")),
        ("None", Err("is not a network")),
        ("internet", Err("is not a network")),
        ("allow", Err("is not a network")),
        ("allow:", Err("is not a host that can be allowed")),
        ("allow:a.test,,b.test", Err("is not a host that can be allowed")),
        ("allow:*", Err("any public host is `full`")),
        ("allow:*.com", Err("public suffix")),
        ("allow:https://a.test/", Err("is a URL")),
        ("allow:a.test:0", Err("is not a port")),
        ("allow:a.test:99999", Err("is not a port")),
        ("allow:a.test:25", Err("port 25 is never connected to: the URL standard refuses this port")),
        ("allow:1.1.1.1:53", Err("port 53 is never connected to")),
        ("allow:b.test,*.a.test:6000", Err("`*.a.test:6000` is not a host that can be allowed: port 6000")),
        ("allow:me@a.test", Err("user name")),
        ("allow:10.0.0.0/8", Err("not blocks of addresses")),
        ("allow:127.0.0.1:8080", Err("not public")),
        ("allow:0x7f.1", Err("not public")),
        ("allow:169.254.169.254", Err("not public")),
        ("allow:192.168.1.1", Err("not public")),
        ("allow:[::1]:80", Err("not public")),
        ("allow:[::ffff:127.0.0.1]", Err("not public")),
        ("allow:localhost", Err("not public")),
        ("allow:x.localhost:80", Err("not public")),
        ("allow:a b", Err("is not a host")),
    ];
    for (text, expected) in table {
        check(text, *expected);
    }
}

#[test]
fn a_list_of_hosts_is_neither_empty_nor_endless() {
    assert!(Network::Allow(Vec::new()).rules().is_err());
    let many = |n: usize| Network::Allow((0..n).map(|i| format!("h{i}.test")).collect()).rules();
    assert!(many(256).is_ok());
    assert!(many(257).unwrap_err().to_string().contains("257 hosts"));
}

#[test]
fn git_is_four_forges_on_443() {
    assert_eq!(FORGES, ["github.com:443", "gitlab.com:443", "bitbucket.org:443", "codeberg.org:443"]);
}
