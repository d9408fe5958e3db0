//! How hosts are spelled, and what each hostile spelling comes to.

use std::net::IpAddr;

use super::{answer, layer, operated, policy, try_policy};
use crate::{AddressClass, HostName, HostRule, PathGlob, Purpose, classify};

#[track_caller]
fn check(written: &str, expected: &str) {
    assert_eq!(
        HostRule::parse(written, Purpose::Grant).map(|rule| rule.to_string()),
        Ok(expected.to_owned())
    );
}

#[track_caller]
fn check_refused(written: &str, message: &str) {
    let error = HostRule::parse(written, Purpose::Grant).expect_err(written);
    assert!(error.to_string().contains(message), "{written}: {error}");
}

#[test]
fn every_spelling_of_a_rule_has_one_form() {
    check("api.github.com", "api.github.com");
    check("API.GitHub.com", "api.github.com");
    check("api.github.com.", "api.github.com");
    check(" api.github.com ", "api.github.com");
    check("api.github.com:8443", "api.github.com:8443");
    check("api.github.com:*", "api.github.com:*");
    check("*.example.com", "*.example.com");
    check("*.EXAMPLE.com.", "*.example.com");
    check("*", "*");
    check("*:8080", "*:8080");
    check("bücher.example", "xn--bcher-kva.example");
    check("xn--bcher-kva.example", "xn--bcher-kva.example");
    check("my_host.example", "my_host.example");
    check("1.2.3.4", "1.2.3.4");
    check("0x7f.1", "127.0.0.1");
    check("017700000001", "127.0.0.1");
    check("2130706433", "127.0.0.1");
    check("１２７.０.０.１", "127.0.0.1");
    check("127.0.0.1.", "127.0.0.1");
    check("::1", "[::1]");
    check("[::1]", "[::1]");
    check("[::1]:8080", "[::1]:8080");
    check("[::ffff:10.0.0.1]", "10.0.0.1");
    check("::ffff:a00:1", "10.0.0.1");
    check("10.0.0.0/8", "10.0.0.0/8");
    check("0x0a.0.0.0/8", "10.0.0.0/8");
    check("2001:db8::/32", "2001:db8::/32");
    check("[2001:db8::]/32", "2001:db8::/32");
    check("::ffff:10.0.0.0/104", "10.0.0.0/8");
    check("1.2.3.4/32", "1.2.3.4");
}

#[test]
fn what_is_not_a_rule_is_refused_with_the_reason() {
    check_refused("", "is not a host");
    check_refused("https://api.github.com/x", "is a URL");
    check_refused("user@api.github.com", "user name");
    check_refused("api.github.com@evil.test", "user name");
    check_refused("api.github.com/v1", "holds a path");
    check_refused("api.github.com:0", "not a port");
    check_refused("api.github.com:65536", "not a port");
    check_refused("api.github.com:+80", "not a port");
    check_refused("api.github.com:", "not a port");
    check_refused("*.com", "public suffix");
    check_refused("*.github.io", "public suffix");
    check_refused("*.co.uk", "public suffix");
    check_refused("*.np", "public suffix");
    check_refused("*.ck", "public suffix");
    check_refused("*.kawasaki.jp", "public suffix");
    check_refused("*.compute.amazonaws.com", "public suffix");
    check_refused("api.*.com", "`*` where none can stand");
    check_refused("*example.com", "`*` where none can stand");
    check_refused("*.*.example.com", "`*` where none can stand");
    check_refused("*.1.2.3.4", "is not a host");
    check_refused("example..com", "is not a host");
    check_refused("exa mple.com", "is not a host");
    check_refused("a\0b.com", "is not a host");
    check_refused(&"a".repeat(64), "is not a host");
    check_refused("10.0.0.1/8", "not the start of its block");
    check_refused("10.0.0.0/33", "not a CIDR block");
    check_refused("10.0.0.0/+8", "holds a path");
    check_refused("example.com/8", "not a CIDR block");
    check_refused("256.0.0.1", "is not a host");
    check_refused("0x100000000", "is not a host");
    check_refused("[::1", "is not a host");
    check_refused("fe80::1%eth0", "is not a host");
}

#[test]
fn a_refusal_may_be_as_wide_as_it_likes() {
    assert!(HostRule::parse("*.com", Purpose::Refuse).is_ok());
}

#[test]
fn a_wildcard_means_subdomains_and_not_the_apex() {
    let policy = policy("network: allowlist\nhosts: ['*.example.com']");
    for (url, expected) in [
        ("https://a.example.com/", "yes"),
        ("https://a.b.example.com/", "yes"),
        ("https://example.com/", "host-not-allowed"),
        ("https://badexample.com/", "host-not-allowed"),
        ("https://example.com.evil.test/", "host-not-allowed"),
    ] {
        assert_eq!(answer(&policy, &format!("fetch {url}")), expected, "{url}");
    }
}

#[test]
fn a_rule_without_a_port_means_the_default_port_of_the_scheme() {
    let listed = policy("network: allowlist\nhosts: [a.test, 'b.test:8443', 'c.test:*']");
    for (url, expected) in [
        ("https://a.test/", "yes"),
        ("http://a.test/", "yes"),
        ("https://a.test:443/", "yes"),
        ("http://a.test:443/", "host-not-allowed"),
        ("https://a.test:8443/", "host-not-allowed"),
        ("https://b.test:8443/", "yes"),
        ("https://b.test/", "host-not-allowed"),
        ("http://c.test:9999/", "yes"),
        ("http://c.test:22/", "bad-port"),
    ] {
        assert_eq!(answer(&listed, &format!("fetch {url}")), expected, "{url}");
    }
}

/// The table of hostile spellings: each with its verdict in `strict` (any public host), in `open` (any host), and
/// on an allow-list that holds only the public host `example.com`.
#[test]
fn hostile_spellings_get_the_verdict_of_what_they_mean() {
    let strict = policy("network: strict");
    let open = policy("network: open");
    let list = policy("network: allowlist\nhosts: [example.com, xn--bcher-kva.example]");
    let table = [
        // loopback in every spelling
        ("http://127.0.0.1/", "private-address", "yes", "host-not-allowed"),
        ("http://0x7f.1/", "private-address", "yes", "host-not-allowed"),
        ("http://017700000001/", "private-address", "yes", "host-not-allowed"),
        ("http://2130706433/", "private-address", "yes", "host-not-allowed"),
        ("http://127.1/", "private-address", "yes", "host-not-allowed"),
        ("http://１２７.０.０.１/", "private-address", "yes", "host-not-allowed"),
        ("http://%31%32%37.0.0.1/", "private-address", "yes", "host-not-allowed"),
        ("http://127.0.0.1./", "private-address", "yes", "host-not-allowed"),
        ("http://①②⑦.0.0.1/", "private-address", "yes", "host-not-allowed"),
        ("http://[::1]/", "private-address", "yes", "host-not-allowed"),
        ("http://localhost/", "private-address", "yes", "host-not-allowed"),
        ("http://foo.LOCALHOST./", "private-address", "yes", "host-not-allowed"),
        // private addresses inside others
        ("http://[::ffff:10.0.0.1]/", "private-address", "yes", "host-not-allowed"),
        ("http://[::ffff:a00:1]/", "private-address", "yes", "host-not-allowed"),
        ("http://[::10.0.0.1]/", "unusable-address", "unusable-address", "host-not-allowed"),
        ("http://[64:ff9b::10.0.0.1]/", "private-address", "yes", "host-not-allowed"),
        ("http://[2002:a00:1::]/", "private-address", "yes", "host-not-allowed"),
        ("http://[2001:0:a00:1::f7f7:f7f7]/", "private-address", "yes", "host-not-allowed"),
        ("http://[2001:0:a00:1::]/", "unusable-address", "unusable-address", "host-not-allowed"),
        ("http://[2001:0:808:808::f5ff:fffe]/", "private-address", "yes", "host-not-allowed"),
        ("http://[2001:4860::5efe:a00:1]/", "private-address", "yes", "host-not-allowed"),
        // the ones that hand out credentials, also inside others
        ("http://169.254.169.254/", "metadata-address", "metadata-address", "host-not-allowed"),
        ("http://0xa9fea9fe/", "metadata-address", "metadata-address", "host-not-allowed"),
        ("http://[64:ff9b::a9fe:a9fe]/", "metadata-address", "metadata-address", "host-not-allowed"),
        ("http://[::ffff:169.254.169.254]/", "metadata-address", "metadata-address", "host-not-allowed"),
        ("http://[2002:a9fe:a9fe::]/", "metadata-address", "metadata-address", "host-not-allowed"),
        ("http://[fd00:ec2::254]/", "metadata-address", "metadata-address", "host-not-allowed"),
        ("http://100.100.100.200/", "metadata-address", "metadata-address", "host-not-allowed"),
        ("http://Metadata.Google.Internal./", "metadata-address", "metadata-address", "metadata-address"),
        (
            "http://[64:ff9b:1:a9fe:a9:fe00:808:808]/",
            "unusable-address",
            "unusable-address",
            "host-not-allowed",
        ),
        ("http://169.254.169.250/", "metadata-address", "metadata-address", "host-not-allowed"),
        // addresses nobody is at
        ("http://0.0.0.0/", "unusable-address", "unusable-address", "host-not-allowed"),
        ("http://0/", "unusable-address", "unusable-address", "host-not-allowed"),
        ("http://[::]/", "unusable-address", "unusable-address", "host-not-allowed"),
        ("http://224.0.0.1/", "unusable-address", "unusable-address", "host-not-allowed"),
        ("http://255.255.255.255/", "unusable-address", "unusable-address", "host-not-allowed"),
        // public ones, in any spelling
        ("http://8.8.8.8/", "yes", "yes", "host-not-allowed"),
        ("http://[64:ff9b::808:808]/", "yes", "yes", "host-not-allowed"),
        ("http://[2606:4700::1111]/", "yes", "yes", "host-not-allowed"),
        ("https://example.com./", "yes", "yes", "yes"),
        ("https://EXAMPLE.com/", "yes", "yes", "yes"),
        ("https://exa%6Dple.com/", "yes", "yes", "yes"),
        ("https://ｅｘａｍｐｌｅ。com/", "yes", "yes", "yes"),
        ("https://BÜCHER.example/", "yes", "yes", "yes"),
        ("https://exаmple.com/", "yes", "yes", "host-not-allowed"), // a Cyrillic а is another host
        // userinfo tricks
        ("https://example.com@evil.test/", "userinfo", "userinfo", "userinfo"),
        ("https://example.com:443@evil.test/", "userinfo", "userinfo", "userinfo"),
        ("https://u:p@example.com/", "userinfo", "userinfo", "userinfo"),
        ("https://@example.com/", "yes", "yes", "yes"), // an empty user name is none
        ("https://evil.test#@example.com/", "yes", "yes", "host-not-allowed"),
        ("https://evil.test\\@example.com/", "yes", "yes", "host-not-allowed"),
        ("https://example.com.evil.test/", "yes", "yes", "host-not-allowed"),
        // not requests at all
        ("ftp://example.com/", "scheme", "scheme", "scheme"),
        ("file:///etc/passwd", "scheme", "scheme", "scheme"),
        ("javascript:alert(1)", "scheme", "scheme", "scheme"),
        ("https://", "bad-url", "bad-url", "bad-url"),
        ("https://example.com:99999/", "bad-url", "bad-url", "bad-url"),
        ("https://exa mple.com/", "bad-url", "bad-url", "bad-url"),
        ("https://example..com/", "bad-url", "bad-url", "bad-url"),
        ("http://example.com:25/", "bad-port", "bad-port", "bad-port"),
        ("http://256.256.256.256/", "bad-url", "bad-url", "bad-url"),
    ];
    for (url, in_strict, in_open, on_list) in table {
        let query = format!("fetch {url}");
        assert_eq!(
            [answer(&strict, &query), answer(&open, &query), answer(&list, &query)],
            [in_strict, in_open, on_list],
            "{url}"
        );
    }
}

#[test]
fn the_special_purpose_registries_are_followed() {
    use AddressClass::{Metadata, Private, Public, Unusable};
    let table = [
        ("1.1.1.1", Public),
        ("9.255.255.255", Public),
        ("10.0.0.0", Private),
        ("11.0.0.0", Public),
        ("100.63.255.255", Public),
        ("100.64.0.0", Private),
        ("100.128.0.0", Public),
        ("169.254.1.1", Private),
        ("172.15.255.255", Public),
        ("172.16.0.0", Private),
        ("172.31.255.255", Private),
        ("172.32.0.0", Public),
        ("192.0.0.9", Public),
        ("192.0.0.8", Private),
        ("192.0.2.1", Private),
        ("192.168.255.255", Private),
        ("198.17.255.255", Public),
        ("198.19.255.255", Private),
        ("203.0.113.9", Private),
        ("223.255.255.255", Public),
        ("239.1.2.3", Unusable),
        ("240.0.0.1", Unusable),
        ("168.63.129.16", Metadata),
        ("2000::1", Public),
        ("2001:db8::1", Private),
        ("2001:1::1", Public),
        ("2001:1::4", Private),
        ("3fff::1", Private),
        ("4000::1", Unusable),
        ("5f00::1", Private),
        ("100::1", Unusable),
        ("fc00::1", Private),
        ("fdff::1", Private),
        ("fe80::1", Private),
        ("ff02::1", Unusable),
        ("::2", Unusable),
    ];
    for (text, expected) in table {
        assert_eq!(classify(text.parse::<IpAddr>().unwrap()), expected, "{text}");
    }
}

#[test]
fn every_row_of_the_address_tables_parses() {
    for (block, ..) in crate::host::SPECIAL {
        assert!(block.parse::<ipnet::IpNet>().is_ok(), "{block}");
    }
    for (address, _) in crate::host::METADATA {
        assert_eq!(classify(address.parse().unwrap()), AddressClass::Metadata, "{address}");
    }
    for name in crate::host::METADATA_NAMES {
        assert_eq!(HostName::parse(name).unwrap().to_string(), *name);
    }
}

#[test]
fn the_operators_never_list_holds_in_every_mode_and_spelling() {
    let base = operated();
    for mode in ["network: strict", "network: open", "network: allowlist\nhosts: ['*']"] {
        let policy = try_policy(&base, mode).unwrap();
        for url in [
            "https://wiki.corp.example/",
            "https://WIKI.corp.EXAMPLE./",
            "http://10.9.1.1/",
            "http://[64:ff9b::a09:101]/",
        ] {
            assert_eq!(answer(&policy, &format!("fetch {url}")), "host-never", "{mode} {url}");
        }
    }
}

#[test]
fn our_own_listeners_are_refused_even_in_open() {
    let policy = try_policy(&operated(), "network: open").unwrap();
    for (url, expected) in [
        ("http://127.0.0.1:8282/", "own-listener"),
        ("http://[::ffff:127.0.0.1]:8282/", "own-listener"),
        ("http://0x7f.1:8282/", "own-listener"),
        ("http://127.0.0.1:8283/", "yes"),
    ] {
        assert_eq!(answer(&policy, &format!("fetch {url}")), expected, "{url}");
    }
}

#[test]
fn methods_and_paths_narrow_a_host() {
    let policy = policy(
        "network: allowlist\nhosts: [{host: api.test, methods: [get, HEAD], paths: [/v1/**, '/repos/*/issues']}]",
    );
    for (query, expected) in [
        ("GET https://api.test/v1/x", "yes"),
        ("GET https://api.test/v1/x/y?q=1", "yes"),
        ("HEAD https://api.test/repos/a/issues", "yes"),
        ("POST https://api.test/v1/x", "method-not-allowed"),
        ("GET https://api.test/v2/x", "path-not-allowed"),
        ("GET https://api.test/v1", "path-not-allowed"),
        ("GET https://api.test/repos/a/b/issues", "path-not-allowed"),
        ("GET https://api.test/v1/../v2/x", "path-not-allowed"),
        ("GET https://api.test/v1/%2e%2e/v2", "path-not-allowed"),
        ("GET https://api.test/v1/..%2fv2", "ambiguous-path"),
        ("GET https://api.test/v1/..%5cv2", "ambiguous-path"),
        ("GET https://api.test/v1/%252e%252e/v2", "ambiguous-path"),
        ("GET https://api.test/v1/..;/admin", "ambiguous-path"),
        ("GET https://api.test/v1/..%3b/admin", "ambiguous-path"),
        ("GET https://api.test/v1\\x", "yes"),
        ("GET https://api.test/%76%31/x", "yes"),
        ("TRACE https://api.test/v1/x", "?"),
    ] {
        if expected == "?" {
            assert!(crate::Query::parse(query).is_err());
        } else {
            assert_eq!(answer(&policy, query), expected, "{query}");
        }
    }
}

#[test]
fn path_patterns_cover_each_other_only_when_that_is_sure() {
    let glob = |text: &str| PathGlob::parse(text).unwrap();
    assert!(glob("/v1/**").covers(&glob("/v1/a")));
    assert!(glob("/v1/**").covers(&glob("/v1/a/**")));
    assert!(glob("/**").covers(&glob("/x")));
    assert!(glob("/a/*").covers(&glob("/a/b")));
    assert!(!glob("/v1/**").covers(&glob("/v1")));
    assert!(!glob("/v1/**").covers(&glob("/v10/a")));
    assert!(!glob("/a/*").covers(&glob("/a/**")));
    assert!(glob("/é/ b").matches("/%C3%A9/%20b"));
    assert!(glob("/a\"b").matches("/a%22b"));
    for bad in ["/v1/%2e%2e/x", "/..;/x", "v1", "/a/../b", "/a[b]", "/a**", "/{a,b}", "/a%2fb"] {
        assert!(PathGlob::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn rules_of_every_form_read_back_what_they_write() {
    for text in [
        "hosts: ['8.8.8.0/24', {host: 8.8.8.0/24, port: 8443}, {host: '2001:db8::/32', port: '*', private: true}]",
        "hosts: [{host: '::1', port: 9, private: true}, 'a.test:*', '*:80', {host: a.test, methods: [GET, PUT]}]",
    ] {
        let first = layer(text).unwrap();
        let again = layer(&first.to_overrides().to_string()).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(first.to_overrides(), again.to_overrides());
    }
}

#[test]
fn a_block_is_private_only_as_a_whole() {
    // 192.0.0.9 and .10 are public in a block that is not.
    for host in ["192.0.0.8/30", "0.0.0.0/0", "128.0.0.0/1"] {
        let text = format!("network: allowlist\nhosts: ['{host}']");
        assert!(try_policy(&super::baseline(), &text).is_ok(), "{host}");
    }
    assert!(try_policy(&super::baseline(), "network: allowlist\nhosts: ['192.0.0.16/28']").is_err());
    assert!(try_policy(&super::baseline(), "network: allowlist\nhosts: ['64:ff9b::a00:0/104']").is_err());
    assert!(try_policy(&super::baseline(), "network: allowlist\nhosts: ['64:ff9b::800:0/104']").is_ok());
}

#[test]
fn a_list_of_whole_hosts_takes_no_narrowing() {
    use bailiwick_document::{Bounds, DocPath, Entry, Format, Reader, parse};
    for field in ["methods: [GET]", "paths: [/x]", "private: true"] {
        let text = format!("[{{host: a.test, {field}}}]");
        let tree = parse("d", &text, Format::Yaml, Bounds::WRITTEN_BY_HAND).unwrap();
        let mut reader = Reader::new("d");
        let entry = Entry { node: &tree, path: DocPath::root().field("never") };
        let rules = crate::read::hosts(&mut reader, &entry, Purpose::Refuse);
        let problems = reader.finish(rules).expect_err(field);
        assert!(problems.to_string().contains("has no meaning here"), "{problems}");
    }
}

#[test]
fn an_empty_narrowing_is_a_mistake() {
    for (text, message) in [
        ("hosts: [{host: a.test, methods: []}]", "lists no method"),
        ("hosts: [{host: a.test, paths: []}]", "is empty"),
        ("hosts: [{host: a.test, methods: [FETCH]}]", "cannot be `FETCH`"),
        ("hosts: [{port: 80}]", "names no `host`"),
        ("hosts: [{host: 'a.test:80', port: 81}]", "given twice"),
        ("hosts: [{host: a.test, prot: 81}]", "unknown field `prot`"),
        ("hosts: [17700000001]", "must be a text"),
    ] {
        let problems = layer(text).expect_err(text);
        assert!(problems.to_string().contains(message), "{text}: {problems}");
    }
}

#[test]
fn a_path_that_servers_read_differently_fits_no_pattern() {
    let glob = PathGlob::parse("/v1/**").unwrap();
    assert!(glob.fits("/v1/x") && glob.fits("/%761/x"));
    assert!(!glob.fits("/v2/x") && !glob.fits("/v1/%2e%2e%2fv2") && !glob.fits("/v1/..;/v2"));
}
