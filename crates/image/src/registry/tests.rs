//! The client's own rules, with addresses that no registry of a test could have.

use bailiwick_testkit::authority::Authority;
use bailiwick_testkit::upstream::{Answer as Said, Request, Upstream};
use url::Url;

use super::challenge::Challenge;
use super::client::{Asking, Client};
use super::standing::Standing;
use crate::{ImageError, Options};

fn client(roots: &[&Authority]) -> Client {
    let mut options = Options::new("/nowhere");
    options.roots = roots.iter().map(|authority| authority.pem().to_owned()).collect();
    Client::new(&options).expect("a client")
}

fn get(client: &Client, url: &str, nearest: Option<Standing>) -> Result<Vec<u8>, ImageError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        client.get(Url::parse(url).expect(url), &Asking::default(), nearest).await?.small(100).await
    })
}

#[track_caller]
fn refused(outcome: Result<Vec<u8>, ImageError>, why: &str) {
    let said = outcome.expect_err(why).to_string();
    assert!(said.contains(why), "{said}");
}

#[test]
fn tls_is_checked_and_never_left_for_the_clear() {
    let authority = Authority::new();
    let clear = Upstream::http(|_: &_| Said::new(200).body("clear"));
    let to = format!("http://127.0.0.1:{}/", clear.port());
    let answers = move |request: &Request| match request.path() {
        "/away" => Said::new(302).header("location", &to),
        _ => Said::new(200).body("sound"),
    };
    let secret = Upstream::https(answers, &authority.issue(&["127.0.0.1"]));
    let at = format!("https://127.0.0.1:{}", secret.port());
    assert_eq!(get(&client(&[&authority]), &at, None).expect("it answers"), b"sound");
    refused(get(&client(&[]), &at, None), "TLS failed");
    refused(get(&client(&[&authority]), &format!("{at}/away"), None), "from https to http");
    assert_eq!(clear.connections(), 0);
}

#[test]
fn a_registry_sends_nobody_to_a_nearer_network_than_its_own() {
    let near = Upstream::http(|_: &_| Said::new(200).body("near"));
    let at = format!("http://127.0.0.1:{}/", near.port());
    for far in [Standing::Public, Standing::Private] {
        refused(get(&client(&[]), &at, Some(far)), "a nearer network");
    }
    assert_eq!(near.connections(), 0);
    assert_eq!(get(&client(&[]), &at, Some(Standing::Loopback)).expect("it answers"), b"near");
}

#[test]
fn addresses_that_hand_out_credentials_are_asked_by_nobody() {
    for address in [
        "http://169.254.169.254/",
        "http://0.0.0.0:1/",
        "https://[ff02::1]/",
        "http://[::ffff:169.254.169.254]/",
    ] {
        refused(get(&client(&[]), address, None), "nobody asks");
    }
}

#[test]
fn nothing_is_said_in_the_clear_that_the_operator_did_not_list() {
    refused(get(&client(&[]), "http://10.1.2.3:5000/", None), "images.insecure");
    let base = |registry: &str| client(&[]).base(registry).expect(registry).to_string();
    assert_eq!(base("registry.example"), "https://registry.example/");
    assert_eq!(base("10.1.2.3:5000"), "https://10.1.2.3:5000/");
    assert_eq!(base("localhost:5000"), "http://localhost:5000/");
    assert_eq!(base("127.9.9.9"), "http://127.9.9.9/");
    assert_eq!(base("[::1]:5000"), "http://[::1]:5000/");
    assert_eq!(base("localhost.example"), "https://localhost.example/");
    assert_eq!(base("127.0.0.1.example"), "https://127.0.0.1.example/");
    let mut options = Options::new("/nowhere");
    options.insecure = vec!["Registry.example:5000".to_owned()];
    let listed = Client::new(&options).expect("a client");
    assert_eq!(listed.base("registry.example:5000").expect("a base").scheme(), "http");
    assert_eq!(listed.base("registry.example").expect("a base").scheme(), "https");
}

#[test]
fn being_sent_in_circles_ends() {
    let circle = Upstream::http(|_: &_| Said::new(307).header("location", "/again"));
    refused(get(&client(&[]), &format!("http://127.0.0.1:{}/", circle.port()), None), "from place to place");
    assert_eq!(circle.requests().len(), 6);
    let nowhere = Upstream::http(|_: &_| Said::new(302).header("location", "file:///etc/passwd"));
    refused(get(&client(&[]), &format!("http://127.0.0.1:{}/", nowhere.port()), None), "nowhere");
}

#[test]
fn a_credential_helper_is_not_waited_for_longer_than_it_may_take() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    // One that says nothing, and one that has ended and left somebody who holds on to its output.
    for does in ["exec /bin/sleep 30", "/bin/sleep 3 & exit 0"] {
        let program = folder.path().join("docker-credential-slow");
        #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
        std::fs::write(&program, format!("#!/bin/sh\n{does}\n")).expect("a file");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let variables = [("PATH".to_owned(), folder.path().as_os_str().to_owned())];
        let begun = std::time::Instant::now();
        let patience = std::time::Duration::from_millis(300);
        let asked = super::keychain::ask("slow", "registry.example", &variables, patience);
        let why = asked.map(|told| told.is_some()).expect_err(does).to_string();
        assert!(why.contains("in time"), "{why}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{does}");
    }
}

#[test]
fn what_a_registry_wants_is_read_strictly() {
    let bearer = |realm: &str, service: Option<&str>| {
        Some(Challenge::Bearer { realm: realm.to_owned(), service: service.map(str::to_owned) })
    };
    let rows = [
        (
            r#"Bearer realm="https://a.example/t",service="s",scope="x:y""#,
            bearer("https://a.example/t", Some("s")),
        ),
        (r#"bearer  scope="a,b", realm="r\"q" "#, bearer("r\"q", None)),
        ("Bearer realm=plain", bearer("plain", None)),
        ("Basic realm=\"x\"", Some(Challenge::Basic)),
        ("basic", Some(Challenge::Basic)),
        ("Bearer service=\"s\"", None),
        ("Bearer realm=\"open", None),
        ("Bearer nothing", None),
        ("Negotiate", None),
        ("", None),
    ];
    for (text, expected) in rows {
        assert_eq!(Challenge::read(text), expected, "{text}");
    }
}
