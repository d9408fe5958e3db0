//! Tunnels: only TLS goes through one, and only to the host that it was asked for.

use rustls::pki_types::ServerName;
use tokio::net::TcpListener;
use tokio_rustls::TlsConnector;

use super::*;

/// A client's greeting with these extensions.
pub(super) fn greeting(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let short = |length: usize| u16::try_from(length).unwrap().to_be_bytes();
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    let extensions: Vec<u8> = extensions
        .iter()
        .flat_map(|(kind, content)| [&kind.to_be_bytes()[..], &short(content.len()), content].concat())
        .collect();
    body.extend(short(extensions.len()));
    body.extend(extensions);
    let mut message = vec![1, 0];
    message.extend(short(body.len()));
    message.extend(body);
    let mut record = vec![22, 3, 1];
    record.extend(short(message.len()));
    record.extend(message);
    record
}

/// The extension that names servers.
pub(super) fn names(names: &[&str]) -> (u16, Vec<u8>) {
    let short = |length: usize| u16::try_from(length).unwrap().to_be_bytes();
    let list: Vec<u8> =
        names.iter().flat_map(|name| [&[0][..], &short(name.len()), name.as_bytes()].concat()).collect();
    (0, [&short(list.len())[..], &list].concat())
}

/// What a host gets of what is said in a tunnel to `a.test`, what is said back, and the reasons of refusals.
fn tunnelled(words: &[u8]) -> (Vec<u8>, String, Vec<&'static str>) {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut world = World::new().names(&[("a.test", &[PUBLIC])]);
        world.routes =
            world.routes.route(format!("{PUBLIC}:443").parse().unwrap(), listener.local_addr().unwrap());
        let outlet = world.outlet("allow:a.test");
        let host = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut got = Vec::new();
            let _ = stream.read_to_end(&mut got).await;
            got
        });
        let mut stream = proxied(&outlet);
        stream.write_all(b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").await.unwrap();
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 200 "));
        let said = say(&mut stream, words).await;
        (host.await.unwrap(), said, reasons(&outlet))
    })
}

#[test]
fn the_greeting_must_name_the_host_and_goes_on_as_it_is() {
    let padding = (21, vec![0; 600]);
    for sound in [
        greeting(&[names(&["a.test"])]),
        greeting(&[names(&["A.TeSt"])]),
        greeting(&[names(&["a.test."])]),
        greeting(&[padding.clone(), names(&["a.test"]), (0xfe0d, vec![1, 2, 3])]),
    ] {
        let (got, _, refused) = tunnelled(&[&sound[..], b"and more"].concat());
        assert_eq!(got, [&sound[..], b"and more"].concat());
        assert!(refused.is_empty());
    }
    // In two records, which some look at only the first of.
    let whole = greeting(&[padding, names(&["a.test"])]);
    let (first, second) = whole[5..].split_at(40);
    let record =
        |part: &[u8]| [&[22, 3, 1][..], &u16::try_from(part.len()).unwrap().to_be_bytes(), part].concat();
    let split = [record(first), record(second)].concat();
    assert_eq!(tunnelled(&split).0, split);
}

#[test]
fn any_other_greeting_is_refused_before_a_byte_of_it_went_on() {
    for (what, words, reason) in [
        ("another host", greeting(&[names(&["b.test"])]), "server-name"),
        ("a host below", greeting(&[names(&["x.a.test"])]), "server-name"),
        ("no name", greeting(&[]), "server-name"),
        ("no name among others", greeting(&[(10, vec![0, 2, 0, 29])]), "server-name"),
        ("an address", greeting(&[names(&["93.184.215.14"])]), "server-name"),
        (
            "encrypted, outer another",
            greeting(&[names(&["front.test"]), (0xfe0d, vec![0; 40])]),
            "server-name",
        ),
        ("two names", greeting(&[names(&["a.test", "b.test"])]), "bad-protocol"),
        ("named twice", greeting(&[names(&["a.test"]), names(&["b.test"])]), "bad-protocol"),
        ("an empty name", greeting(&[names(&[""])]), "bad-protocol"),
        ("a NUL", greeting(&[names(&["a.test\0.b.test"])]), "bad-protocol"),
        ("a percent sign", greeting(&[names(&["%61.test"])]), "bad-protocol"),
        ("plain HTTP", b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".to_vec(), "bad-protocol"),
        ("a relayed tunnel", b"CONNECT b.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n".to_vec(), "bad-protocol"),
        ("SSH", b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), "bad-protocol"),
        ("SSLv2", vec![0x80, 46, 1, 0, 2], "bad-protocol"),
        ("a server's greeting", [&[22, 3, 3, 0, 4, 2, 0, 0, 0][..]].concat(), "bad-protocol"),
        ("an alert", vec![21, 3, 3, 0, 2, 1, 0], "bad-protocol"),
        ("an empty record", vec![22, 3, 1, 0, 0], "bad-protocol"),
        ("a cut greeting", greeting(&[names(&["a.test"])])[..30].to_vec(), "bad-protocol"),
        ("a huge greeting", vec![22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff], "bad-protocol"),
    ] {
        let (got, said, refused) = tunnelled(&words);
        assert_eq!((got, refused), (Vec::new(), vec![reason]), "{what}");
        assert!(said.starts_with("\u{15}\u{3}\u{3}\0\u{2}\u{2}"), "{what}: an alert, not {said:?}");
    }
}

#[test]
fn a_tunnel_carries_tls_from_end_to_end() {
    let world = World::new().names(&[("a.test", &[PUBLIC]), ("b.test", &[PUBLIC])]);
    let upstream =
        Upstream::https(|_: &_| Answer::ok("sealed hello"), &world.authority.issue(&["a.test", "b.test"]));
    let world = world.route(&format!("{PUBLIC}:443"), &upstream);
    let outlet = world.outlet("allow:a.test:443");
    let through = |asked: &'static str, named: &'static str| {
        let (outlet, config) = (outlet.clone(), Arc::new(world.authority.client()));
        run(async move {
            let mut stream = proxied(&outlet);
            let connect = format!("CONNECT {asked} HTTP/1.1\r\nHost: {asked}\r\n\r\n");
            stream.write_all(connect.as_bytes()).await.unwrap();
            let yes = head(&mut stream).await;
            if !yes.starts_with("HTTP/1.1 200 ") {
                return Err(yes);
            }
            let name = ServerName::try_from(named).unwrap();
            let tls = TlsConnector::from(config).connect(name, stream).await;
            let mut tls = tls.map_err(|error| error.to_string())?;
            tls.write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n").await.unwrap();
            Ok(rest(&mut tls).await)
        })
    };
    assert!(through("a.test:443", "a.test").unwrap().ends_with("sealed hello"));
    assert!(through("A.Test.:443", "a.test").unwrap().ends_with("sealed hello"));
    assert_eq!(upstream.requests()[0].tls.as_ref().unwrap().sni.as_deref(), Some("a.test"));
    assert!(
        through("a.test:443", "b.test").unwrap_err().contains("UnrecognisedName"),
        "fronting by the server name"
    );
    for (asked, status) in [
        ("b.test:443", 403),
        ("a.test:80", 403),
        ("93.184.215.14:443", 403),
        ("[::1]:443", 403),
        ("localhost:443", 403),
        ("127.0.0.1:443", 403),
    ] {
        let said = through(asked, "a.test").unwrap_err();
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{asked}: {said}");
    }
    assert_eq!(upstream.requests().len(), 2);
}

#[test]
fn a_tunnel_to_an_address_is_refused_even_where_the_address_may_be_reached() {
    let (world, _upstream) = usual();
    for network in ["full", "allow:1.1.1.1"] {
        let outlet = world.outlet(network);
        let said = ask(&outlet, b"CONNECT 1.1.1.1:443 HTTP/1.1\r\nHost: 1.1.1.1:443\r\n\r\n");
        assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
        assert_eq!(reasons(&outlet), ["server-name"]);
    }
    assert!(world.routes.dialled().is_empty());
}

#[test]
fn a_tunnel_goes_through_the_operators_proxy() {
    use bailiwick_testkit::proxy::{Proxy, Setup};
    let mut world = World::new();
    let upstream = Upstream::https(|_: &_| Answer::ok("far"), &world.authority.issue(&["a.test"]));
    let proxy = Proxy::start(Setup::new(Routes::new()).authority("a.test:443", upstream.address()));
    world.proxy = Some("http://9.9.9.9:3128".to_owned());
    world.routes = world.routes.route("9.9.9.9:3128".parse().unwrap(), proxy.address());
    let outlet = world.outlet("allow:a.test");
    let config = Arc::new(world.authority.client());
    let said = run(async {
        let mut stream = proxied(&outlet);
        stream.write_all(b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n").await.unwrap();
        head(&mut stream).await;
        let name = ServerName::try_from("a.test").unwrap();
        let mut tls = TlsConnector::from(config).connect(name, stream).await.unwrap();
        tls.write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n").await.unwrap();
        rest(&mut tls).await
    });
    assert!(said.ends_with("far"), "{said}");
    assert_eq!(proxy.authorities(), ["a.test:443"]);
}
