//! SOCKS5: names are resolved here, and what goes on is judged as over any other way.

use super::*;

const AGREED: [u8; 2] = [5, 0];

/// A request for a connection by name.
fn by_name(host: &str, port: u16) -> Vec<u8> {
    let mut words = vec![5, 1, 0, 5, 1, 0, 3, u8::try_from(host.len()).unwrap()];
    words.extend(host.as_bytes());
    words.extend(port.to_be_bytes());
    words
}

fn by_v4(address: [u8; 4], port: u16) -> Vec<u8> {
    let mut words = vec![5, 1, 0, 5, 1, 0, 1];
    words.extend(address);
    words.extend(port.to_be_bytes());
    words
}

/// What is replied to a request for a connection, and the reasons of refusals.
#[track_caller]
fn check(network: &str, words: &[u8], reply: u8, refused: &[&str]) {
    let (world, _upstream) = usual();
    let outlet = world.outlet(network);
    let said = run(async {
        let mut stream = proxied(&outlet);
        stream.write_all(words).await.unwrap();
        let mut said = [0; 12];
        let count = stream.read_exact(&mut said).await.unwrap_or_default();
        said[..count].to_vec()
    });
    assert_eq!((&said[..2], said.get(2..4)), (&AGREED[..], Some(&[5, reply][..])), "{network} {words:?}");
    assert_eq!(reasons(&outlet), refused, "{network} {words:?}");
    if !refused.is_empty() {
        assert!(world.routes.dialled().is_empty());
    }
}

#[test]
fn a_connection_gets_the_reply_that_says_what_became_of_it() {
    check("allow:a.test", &by_name("a.test", 80), 0, &[]);
    check("allow:a.test", &by_name("A.Test.", 80), 0, &[]);
    check("allow:a.test", &by_name("b.test", 80), 2, &["host-not-allowed"]);
    check("allow:a.test", &by_name("a.test", 8080), 2, &["host-not-allowed"]);
    check("allow:a.test", &by_name("a.test\0.b.test", 80), 1, &["bad-request"]);
    check("allow:a.test", &by_name("%61.test", 80), 1, &["bad-request"]);
    check("allow:a.test", &by_name("", 80), 1, &["bad-request"]);
    check("full", &by_name("127.0.0.1", 80), 2, &["private-address"]);
    check("full", &by_name("nowhere.test", 80), 4, &[]);
    check("full", &by_name("b.test", 8080), 5, &[]);
    check("full", &by_v4([1, 1, 1, 1], 80), 0, &[]);
    check("full", &by_v4([169, 254, 169, 254], 80), 2, &["metadata-address"]);
    check("full", &by_v4([127, 64, 0, 1], 80), 2, &["private-address"]);
    check("allow:a.test", &by_v4([93, 184, 215, 14], 80), 2, &["host-not-allowed"]);
    let v6 = |address: [u8; 16]| [&[5, 1, 0, 5, 1, 0, 4][..], &address, &[0, 80]].concat();
    check("full", &v6([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), 2, &["private-address"]);
    check("full", &v6([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1]), 2, &["private-address"]);
    // BIND, UDP ASSOCIATE, and an address of no kind.
    check("full", &[5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80], 7, &["bad-protocol"]);
    check("full", &[5, 1, 0, 5, 3, 0, 1, 1, 1, 1, 1, 0, 80], 7, &["bad-protocol"]);
    check("full", &[5, 1, 0, 5, 1, 0, 9, 1, 1, 1, 1, 0, 80], 8, &[]);
}

#[test]
fn a_password_is_not_asked_for_and_none_is_taken() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    run(async {
        assert_eq!(say(&mut proxied(&outlet), &[5, 1, 2]).await.as_bytes(), "\u{5}\u{fffd}".as_bytes());
        assert_eq!(say(&mut proxied(&outlet), &[4, 1, 0, 80, 1, 1, 1, 1, 0]).await.as_bytes()[1], 0x5b);
    });
}

#[test]
fn what_is_said_after_the_reply_must_be_for_the_host() {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test,b.test");
    let after = |words: &str| {
        run(async {
            let mut stream = proxied(&outlet);
            stream.write_all(&by_name("a.test", 80)).await.unwrap();
            let mut reply = [0; 12];
            stream.read_exact(&mut reply).await.unwrap();
            say(&mut stream, words.as_bytes()).await
        })
    };
    assert!(after("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n").contains("hello from /x"));
    assert!(after("GET /x HTTP/1.1\r\nHost: b.test\r\n\r\n").starts_with("HTTP/1.1 403 "));
    assert!(after("GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n").starts_with("HTTP/1.1 403 "));
    assert!(after("CONNECT b.test:80 HTTP/1.1\r\nHost: b.test:80\r\n\r\n").starts_with("HTTP/1.1 403 "));
    for words in ["SSH-2.0-x\r\n", "EHLO me\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        assert!(after(words).starts_with("HTTP/1.1 400 "), "{words:?}");
    }
    assert_eq!(after("\u{1}\u{2}"), "");
    assert_eq!(upstream.requests().len(), 1);
    assert!(reasons(&outlet).contains(&"host-mismatch") && reasons(&outlet).contains(&"bad-protocol"));
}
