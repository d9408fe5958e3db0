//! Which addresses can be asked, and to which a key is sent.

use super::{Credential, Server};

#[track_caller]
fn check_key(address: &str, is_sent: bool) {
    let server = Server::parse(address).expect("an address");
    let key = Credential::new("bwk_0_x", "a test").expect("a key");
    assert_eq!(server.with_key(key).is_ok(), is_sent, "{address}");
}

#[test]
fn a_key_is_never_sent_in_the_clear_to_another_machine() {
    for (address, is_sent) in [
        ("http://127.0.0.1:8282", true),
        ("http://127.9.9.9", true),
        ("http://[::1]:8282", true),
        ("http://localhost:8282/", true),
        ("https://tools.example", true),
        ("http://tools.example", false),
        ("http://10.0.0.1:8282", false),
        ("http://localhost.example", false),
        ("http://0.0.0.0:8282", false),
        ("http://[::ffff:10.0.0.1]", false),
    ] {
        check_key(address, is_sent);
    }
}

#[test]
fn what_is_no_address_of_a_server_is_refused() {
    for address in [
        "",
        "127.0.0.1:8282",
        "ftp://a.example",
        "unix:/a",
        "http://u:p@a.example",
        "https://a.example/?key=x",
    ] {
        assert!(Server::parse(address).is_err(), "{address}");
    }
}

#[test]
fn paths_go_below_the_address() {
    let server = Server::parse("https://tools.example/bw/").expect("an address");
    assert_eq!(server.path("/v1/tools"), "/bw/v1/tools");
    assert_eq!((server.authority(), server.port()), ("tools.example".to_owned(), 443));
    let server = Server::parse("http://[::1]:9/").expect("an address");
    assert_eq!((server.authority(), server.host()), ("[::1]:9".to_owned(), "::1".to_owned()));
}

#[test]
fn a_key_is_in_no_debug_text_and_in_no_refusal() {
    let key = Credential::new(" bwk_0_secret\n", "a file").expect("a key");
    assert_eq!(key.header(), "Bearer bwk_0_secret");
    assert!(!format!("{key:?}").contains("secret"));
    let refused = Credential::new("two secret words", "a file").expect_err("no key");
    assert!(!refused.message.contains("secret") && refused.message.contains("a file"), "{refused}");
}
