//! `specs/egress`: requests of cells, in a network that is only pretended. All cases run inside of one namespace that has nothing
//! but loopback with addresses of the world on it, so that a guard that lets everything through sends nothing anywhere.
//!
//! Whatever must never be reached answers `REACHED`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use bailiwick_testkit::authority::{Authority, Certificate};
use bailiwick_testkit::dns::{FakeDns, Reply, Script};
use bailiwick_testkit::netns::{Netns, is_possible};
use bailiwick_testkit::proxy::{Proxy, Setup};
use bailiwick_testkit::routes::Routes;
use bailiwick_testkit::upstream::{Answer, Answers, Coding, Protocol, Request, Upstream};
use bailiwick_testkit::{Group, Prepared, Specs, has};

use crate::cells;

pub(super) const PUBLIC: &str = "93.184.216.34";
const OTHER: &str = "93.184.216.35";
/// Where the forges of git are, and nobody else.
const FORGES: &str = "93.184.216.36";
const PUBLIC_V6: &str = "2606:2800:220:1::1";
pub(super) const NAME_SERVER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 53);

/// The value that cases with a sealed secret set.
const SEALED: &str = "ghp_16C7e42F292c6912E7";

/// The answer of a server that speaks something else from now on, and its first words.
const SWITCHED: &str =
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nnow we talk";

/// Names whose server has something wrong with its TLS, and where that is.
const FAULTY: [(&str, &str); 8] = [
    ("expired.test", "93.184.216.40"),
    ("early.test", "93.184.216.41"),
    ("wrong-name.test", "93.184.216.42"),
    ("other-authority.test", "93.184.216.43"),
    ("self-signed.test", "93.184.216.44"),
    ("mute.test", "93.184.216.45"),
    ("plain-text.test", "93.184.216.46"),
    ("closes.test", "93.184.216.47"),
];

/// Where nothing of a cell may ever get.
const FORBIDDEN: [&str; 9] = [
    "127.0.0.1:80",
    "127.0.0.1:8282",
    "127.0.0.2:80",
    "[::1]:80",
    "10.0.0.5:80",
    "169.254.169.254:80",
    "100.64.0.1:80",
    "[fd00:ec2::254]:80",
    "[64:ff9b::a00:5]:80",
];

/// What the names of the pretended world answer. A name with a sequence belongs to one case.
pub(super) fn names() -> Script {
    let public = Reply::addresses(&[PUBLIC]);
    let honest = ["public.test", "sub.public.test", "a.b.public.test", "xn--bcher-kva.test", "proxied.test"];
    let script = honest
        .into_iter()
        .fold(Script::new(), |script, name| script.name(name, std::slice::from_ref(&public)));
    let script = FAULTY
        .into_iter()
        .fold(script, |script, (name, address)| script.name(name, &[Reply::addresses(&[address])]));
    script
        .name("other.test", &[Reply::addresses(&[OTHER])])
        .name("github.com", &[Reply::addresses(&[FORGES])])
        .name("v6.test", &[Reply::addresses(&[PUBLIC_V6])])
        .name("dual.test", &[Reply::addresses(&[PUBLIC, PUBLIC_V6])])
        .name("private.test", &[Reply::addresses(&["10.0.0.5"])])
        .name("mixed.test", &[Reply::addresses(&[PUBLIC, "10.0.0.5"])])
        .name("mixed-v6.test", &[Reply::addresses(&[PUBLIC, "fd00:ec2::254"])])
        .name("metadata.test", &[Reply::addresses(&["169.254.169.254"])])
        .name("loopback.test", &[Reply::addresses(&["127.0.0.1"])])
        .name("loopback-v6.test", &[Reply::addresses(&["::1"])])
        .name("any.test", &[Reply::addresses(&["0.0.0.0"])])
        .name("mapped.test", &[Reply::addresses(&["::ffff:10.0.0.5"])])
        .name("nat64.test", &[Reply::addresses(&["64:ff9b::a00:5"])])
        .name("many.test", &[Reply::many(20)])
        .name("alias.test", &[Reply::Alias("private.test".to_owned())])
        .name("bare-alias.test", &[Reply::BareAlias("private.test".to_owned())])
        .name("fine-alias.test", &[Reply::Alias("public.test".to_owned())])
        .name("failing.test", &[Reply::ServerFailed])
        .name("empty.test", &[Reply::Empty])
        .name("silent.test", &[Reply::Silent])
        .name("garbage.test", &[Reply::Garbage])
        .name("rebinding.test", &[public.clone(), Reply::addresses(&["127.0.0.1"])])
        .name("rebinding-back.test", &[Reply::addresses(&["10.0.0.5"]), public.clone()])
        .name("rebinding-between.test", &[public, Reply::addresses(&["127.0.0.1"])])
}

/// The servers of the honest names.
pub(super) fn answer(request: &Request) -> Answer {
    let (_, query) = request.target.split_once('?').unwrap_or_default();
    let number = |prefix: &str| request.path().strip_prefix(prefix).and_then(|rest| rest.parse().ok());
    if let Some(rungs) = number("/ladder/") {
        return match rungs {
            0_u16 => Answer::ok("the end of the ladder"),
            _ => Answer::redirect(302, &format!("/ladder/{}", rungs - 1)),
        };
    }
    if let Some(status) = number("/to/") {
        return Answer::redirect(status, query);
    }
    if let Some(status) = number("/status/") {
        return Answer::new(status).body("so be it");
    }
    if let Some(size) = number("/size/") {
        return Answer::ok("x".repeat(usize::from(size) * 1000));
    }
    match request.path() {
        "/" => Answer::ok("hello"),
        "/echo" => echo(request),
        "/escaped" => escaped(request),
        "/knows" => knows(request),
        "/bounce" => {
            let came = request.header("authorization").unwrap_or_default();
            Answer::redirect(302, &format!("https://other.test/knows?key={came}"))
        }
        "/closing" => Answer::ok("closed").header("connection", "close"),
        "/leave" => Answer::redirect(302, query).header("connection", "close"),
        "/loop" => Answer::redirect(302, "/loop"),
        "/nowhere" => Answer::redirect_nowhere(302),
        "/json" => Answer::json(r#"{"a": [1, 2]}"#),
        "/cookies" => Answer::set_cookies(&["a=1", "b=2"]),
        "/gzip" => Answer::packed(Coding::Gzip, b"packed and unpacked"),
        "/gzip-bomb" => Answer::bomb(Coding::Gzip, 8 << 20),
        "/br-bomb" => Answer::bomb(Coding::Brotli, 8 << 20),
        "/zstd-bomb" => Answer::bomb(Coding::Zstd, 8 << 20),
        "/nested-bomb" => Answer::nested_bomb(Coding::Gzip, Coding::Gzip, 8 << 20),
        "/mislabelled" => Answer::mislabelled(Coding::Gzip, b"this is not packed"),
        "/torn" => Answer::packed_torn(Coding::Gzip, &b"torn ".repeat(100)),
        "/endless" => Answer::endless(),
        "/endless-chunks" => Answer::endless_chunks(),
        "/endless-headers" => Answer::endless_headers(),
        "/endless-interim" => Answer::endless_interim(),
        "/truncated" => Answer::truncated("half", 8),
        "/overlong" => Answer::overlong("twice as long", 5),
        "/two-lengths" => Answer::two_lengths("which", 3),
        "/length-and-chunks" => Answer::length_and_chunks("smuggled", 3),
        "/chunked-garbage" => Answer::chunked_garbage(),
        "/chunked-truncated" => Answer::chunked_truncated(),
        "/reset" => Answer::reset("part"),
        "/huge-header" => Answer::huge_header(70_000),
        "/many-headers" => Answer::many_headers(5000),
        "/gibberish" => Answer::gibberish(),
        "/silent" => Answer::silent(),
        "/hang-up" => Answer::hang_up(),
        "/socket" => Answer::raw(SWITCHED),
        "/drip" => Answer::drip(Duration::from_millis(50)),
        _ => Answer::new(404).body("no such path"),
    }
}

/// Whether the sealed value of the cases came, which the echo cannot tell: all that comes back is redacted.
fn knows(request: &Request) -> Answer {
    Answer::ok(match request.header("authorization") {
        Some(SEALED) => "the value came",
        Some(_) => "another value came",
        None if request.target.contains(SEALED) => "the value came in the query",
        None => "no value came",
    })
}

/// Says what came in `Authorization` as JSON, and in HTML for `?html`; whatever is no letter or digit in escapes.
fn escaped(request: &Request) -> Answer {
    let came = request.header("authorization").unwrap_or_default();
    let is_html = request.target.ends_with("?html");
    let escape = |byte: u8| match byte {
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ if is_html => format!("&#x{byte:X};"),
        _ => format!("\\u{byte:04x}"),
    };
    let text: String = came.bytes().map(escape).collect::<Vec<_>>().concat();
    Answer::ok(if is_html { format!("<p>{text}</p>") } else { format!("{{\"came\": \"{text}\"}}") })
}

/// What came, in the body.
fn echo(request: &Request) -> Answer {
    let headers: Vec<String> = request
        .headers
        .iter()
        .map(|(name, value)| format!("{}={}", name.to_ascii_lowercase(), value))
        .collect();
    Answer::ok(format!("{} {} [{}] {}", request.method, request.target, headers.join("; "), request.text()))
}

#[expect(clippy::unwrap_used, reason = "a test fixture that cannot be made ends its test")]
pub(super) fn at(address: &str, port: u16) -> SocketAddr {
    SocketAddr::new(address.parse().unwrap(), port)
}

/// Every server of the pretended world.
#[expect(clippy::unwrap_used, reason = "a test fixture that cannot be made ends its test")]
pub(super) fn servers(authority: &Authority, answers: &(impl Answers + Clone)) -> Vec<Upstream> {
    let names = [
        "github.com",
        "public.test",
        "*.public.test",
        "a.b.public.test",
        "other.test",
        "v6.test",
        "dual.test",
        "xn--bcher-kva.test",
        "mixed.test",
        "rebinding.test",
        "rebinding-between.test",
        PUBLIC,
    ];
    let certificate = authority.issue(&names);
    let mut servers = Vec::new();
    for address in [PUBLIC, OTHER, FORGES, PUBLIC_V6] {
        servers.push(Upstream::listen(at(address, 80), Protocol::Http, answers.clone()));
        servers.push(Upstream::listen(
            at(address, 443),
            Protocol::Https(certificate.clone()),
            answers.clone(),
        ));
        servers.push(Upstream::listen(
            at(address, 8443),
            Protocol::Http2(certificate.clone()),
            answers.clone(),
        ));
    }
    for address in FORBIDDEN {
        let reached = |_: &Request| Answer::ok("REACHED");
        servers.push(Upstream::listen(address.parse().unwrap(), Protocol::Http, reached));
    }
    for (name, address) in FAULTY {
        let protocol = fault(authority, name);
        servers.push(Upstream::listen(at(address, 443), protocol, |_: &Request| Answer::ok("REACHED")));
    }
    servers
}

fn fault(authority: &Authority, name: &str) -> Protocol {
    let certificate: Certificate = match name {
        "expired.test" => authority.issue_expired(&[name]),
        "early.test" => authority.issue_not_yet_valid(&[name]),
        "wrong-name.test" => authority.issue_wrong_name(),
        "other-authority.test" => Authority::issue_by_another(&[name]),
        "self-signed.test" => Authority::self_signed(&[name]),
        "mute.test" => return Protocol::Mute,
        "plain-text.test" => return Protocol::PlainTextInstead,
        _ => return Protocol::ClosesAtHandshake,
    };
    Protocol::Https(certificate)
}

pub(super) fn world() -> Netns {
    let addresses = [PUBLIC, OTHER, FORGES, "10.0.0.5", "169.254.169.254", "100.64.0.1"].into_iter();
    let network = addresses
        .chain(FAULTY.into_iter().map(|(_, address)| address))
        .fold(Netns::new(), |network, address| network.address(&format!("{address}/32")));
    let network = [PUBLIC_V6, "fd00:ec2::254", "64:ff9b::a00:5"]
        .into_iter()
        .fold(network, |network, address| network.address(&format!("{address}/128")));
    network.name_server(IpAddr::V4(NAME_SERVER))
}

/// The servers of the cases, and the cases.
struct Stage {
    cases: Specs,
    proxy: Proxy,
    _names: FakeDns,
    _servers: Vec<Upstream>,
    _folder: tempfile::TempDir,
}

impl Stage {
    #[expect(clippy::disallowed_methods, reason = "a file of a test's own")]
    #[expect(clippy::unwrap_used, reason = "a test fixture that cannot be made ends its test")]
    fn new() -> Self {
        let authority = Authority::new();
        let name_server = FakeDns::listen(SocketAddr::new(IpAddr::V4(NAME_SERVER), 53), names());
        let served = servers(&authority, &answer);
        let proxied = Setup::new(Routes::new()).authority("proxied.test:80", at(PUBLIC, 80));
        let proxy = Proxy::listen(at("127.0.0.1", 3128), proxied);
        let folder = tempfile::tempdir().unwrap();
        let roots = folder.path().join("authority.pem");
        std::fs::write(&roots, authority.pem()).unwrap();
        let settings = format!("[fetch]\nroots = [\"{}\"]\n", roots.display());
        let cases = cells::area("egress").home_file(".config/bailiwick/bailiwick.toml", &settings);
        Self { cases, proxy, _names: name_server, _servers: served, _folder: folder }
    }
}

impl Prepared for Stage {
    fn check(&self, case: &str) -> Result<(), String> {
        self.cases.run_case(case)
    }

    /// The case of the proxy really used it, and no other did.
    fn finish(&self, is_whole: bool) -> Result<(), String> {
        let used = self.proxy.authorities();
        if !is_whole || used == ["proxied.test:80"] {
            Ok(())
        } else {
            Err(format!("the proxy was asked for {used:?}"))
        }
    }
}

pub(super) fn group() -> Group {
    let cases = cells::area("egress").cases();
    Group::new("cells::egress", cases, || has("netns", is_possible()).then(Stage::new))
        .within(world())
        .finished()
}
