//! Programs that know no proxy: they go to the address that stands for a name.

use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use super::names::address;
use super::tunnels::{greeting, names};
use super::*;

fn at(outlet: &Arc<dyn Outlet>, name: &str, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(address(outlet, &format!("{name}.")).unwrap(), port)
}

#[test]
fn a_plain_request_goes_to_the_host_whose_address_was_given_out() {
    let (world, upstream) = usual();
    let outlet = world.outlet("allow:a.test,b.test");
    let to = at(&outlet, "a.test", 80);
    let go = |words: &str| run(async { say(&mut directed(&outlet, to), words.as_bytes()).await });
    assert!(go("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n").contains("hello from /x"));
    assert!(go("GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n").contains("hello from /x"));
    for (words, status) in [
        ("GET /x HTTP/1.1\r\nHost: b.test\r\n\r\n", 403),
        ("GET /x HTTP/1.1\r\nHost: a.test:8080\r\n\r\n", 403),
        ("GET /x HTTP/1.1\r\n\r\n", 400),
        ("GET /x HTTP/1.0\r\n\r\n", 400),
        ("GET http://b.test/x HTTP/1.1\r\nHost: b.test\r\n\r\n", 403),
        ("GET //b.test/x HTTP/1.1\r\nHost: b.test\r\n\r\n", 403),
        ("CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n", 403),
        ("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n", 400),
    ] {
        let said = go(words);
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{words:?}: {said}");
    }
    assert_eq!(go("\u{0}\u{1}binary"), "");
    assert_eq!(upstream.requests().len(), 2);
}

#[test]
fn an_address_that_stands_for_nothing_leads_nowhere() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("full");
    at(&outlet, "a.test", 80);
    for to in
        ["127.0.0.1:80", "127.64.0.0:80", "127.64.0.2:80", "127.127.255.255:443", "10.0.0.1:80", "0.0.0.0:80"]
    {
        let words = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
        let said = run(async { say(&mut directed(&outlet, to.parse().unwrap()), words).await });
        assert!(said.starts_with("HTTP/1.1 403 ") && said.contains(to), "{to}: {said}");
        let said = run(async { say(&mut directed(&outlet, to.parse().unwrap()), b"\x16\x03\x01").await });
        assert!(said.starts_with('\u{15}'), "{to}: {said:?}");
    }
    assert!(world.routes.dialled().is_empty());
}

#[test]
fn a_port_that_is_not_named_is_refused() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test:443");
    let to = at(&outlet, "a.test", 80);
    let said =
        run(async { say(&mut directed(&outlet, to), b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").await });
    assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("a.test:80"), "{said}");
    assert!(world.routes.dialled().is_empty());
}

#[test]
fn tls_must_name_the_host_and_nothing_else_is_spoken_at_443() {
    let world = World::new().names(&[("a.test", &[PUBLIC])]);
    let upstream = Upstream::https(|_: &_| Answer::ok("direct"), &world.authority.issue(&["a.test"]));
    let world = world.route(&format!("{PUBLIC}:443"), &upstream);
    let outlet = world.outlet("allow:a.test,b.test");
    let to = at(&outlet, "a.test", 443);
    let config = Arc::new(world.authority.client());
    let said = run(async {
        let name = ServerName::try_from("a.test").unwrap();
        let mut tls = TlsConnector::from(config).connect(name, directed(&outlet, to)).await.unwrap();
        tls.write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n").await.unwrap();
        rest(&mut tls).await
    });
    assert!(said.ends_with("direct"), "{said}");
    let dialled = world.routes.dialled().len();
    let go = |words: Vec<u8>| run(async { say(&mut directed(&outlet, to), &words).await });
    assert!(go(greeting(&[names(&["b.test"])])).starts_with('\u{15}'));
    assert!(go(greeting(&[])).starts_with('\u{15}'));
    assert!(go(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".to_vec()).starts_with("HTTP/1.1 400 "));
    assert_eq!(reasons(&outlet), ["server-name", "server-name", "bad-protocol"]);
    assert_eq!(world.routes.dialled().len(), dialled, "nothing was dialled for those");
}

#[test]
fn programs_arrive_at_the_ports_that_rules_name() {
    let (world, _upstream) = usual();
    assert_eq!(world.outlet("allow:a.test").ports(), [80, 443]);
    assert_eq!(world.outlet("allow:a.test:8443,b.test:80,c.test:3128,d.test:*").ports(), [80, 443, 8443]);
    assert_eq!(world.outlet("git").ports(), [80, 443]);
    assert_eq!(world.outlet("full").ports(), [80, 443]);
}

#[test]
fn variables_and_files_lead_programs_here() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    let variables = outlet.variables();
    let of = |name: &str| variables.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str());
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        assert_eq!(of(name), Some("http://127.0.0.1:3128"), "{name}");
    }
    assert_eq!((of("ALL_PROXY"), of("all_proxy")), (Some("socks5h://127.0.0.1:3128"), of("ALL_PROXY")));
    assert_eq!((of("no_proxy"), of("SSL_CERT_FILE")), (Some("localhost,127.0.0.1,::1"), None));
    let files: Vec<_> = outlet.files().into_iter().map(|(path, text)| (path.to_string(), text)).collect();
    assert_eq!(files, [("/etc/resolv.conf".to_owned(), "nameserver 127.0.0.53\n".to_owned())]);
    let walls = outlet.walls();
    assert_eq!((&*walls[0].demand, walls.len()), ("network", 2));
    assert!(walls[1].mechanism.contains("server name of TLS"));
}
