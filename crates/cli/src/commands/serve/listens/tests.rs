//! Addresses, and what is said about each.

use bailiwick_http::perimeter::NoAuth;

use super::Listens;

#[track_caller]
fn check(bound: &str, tls: bool, no_auth: NoAuth, reached: &str, risks: &[&str]) {
    let listens = Listens { bound: bound.parse().expect("an address"), tls, no_auth };
    assert_eq!(listens.reached(), reached);
    let said = listens.risks();
    assert_eq!(said.len(), risks.len(), "{said:?}");
    for (said, expected) in said.iter().zip(risks) {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn every_address_is_reached_at_that_of_this_machine() {
    let clear = "keys travel in clear: set server.tls";
    check("0.0.0.0:8282", false, NoAuth::Refused, "http://127.0.0.1:8282", &[clear]);
    check("[::]:8282", true, NoAuth::Refused, "https://[::1]:8282", &[]);
    check("192.0.2.7:80", false, NoAuth::Refused, "http://192.0.2.7:80", &[clear]);
    check("127.0.0.1:8282", false, NoAuth::Refused, "http://127.0.0.1:8282", &[]);
    check("[::ffff:127.0.0.1]:1", false, NoAuth::Refused, "http://[::ffff:127.0.0.1]:1", &[]);
}

#[test]
fn calls_without_a_key_are_warned_of_wherever_it_listens() {
    let open = "everybody who reaches 127.0.0.1:1 may call published tools without a key";
    check("127.0.0.1:1", false, NoAuth::Insecure, "http://127.0.0.1:1", &[open]);
    check("0.0.0.0:1", false, NoAuth::Insecure, "http://127.0.0.1:1", &["reaches 0.0.0.0:1", "in clear"]);
}
