//! Credential helpers: programs that the docker config names, asked once a registry wants to know who we are.

use std::os::unix::fs::PermissionsExt as _;

use bailiwick_image::{Image, ImageError, Options, Store};
use bailiwick_testkit::upstream::Upstream;
use bailiwick_types::ErrorCode;
use serde_json::{Value, json};

use crate::made::{Place, get, put};
use crate::pulls::{made, pull};
use crate::registry::{Door, Registry};

/// What `user:pass` is when it is shown.
const PASSWORD: &str = "Basic dXNlcjpwYXNz";
/// A helper that notes what it was asked and with what, and then does what a test wants.
const NOTES: &str = "#!/bin/sh\nread -r server || true\n{ echo \"$0 $* $server\"; /usr/bin/env; } >> NOTES\n";
const KNOWS: &str = r#"echo '{"ServerURL": "x", "Username": "user", "Secret": "pass"}'"#;

/// A store with a docker config, and with helpers by their names.
fn with(config: &Value, helpers: &[(&str, &str)]) -> Place {
    let place = Place::new();
    let notes = place.path("notes").display().to_string();
    for (name, does) in helpers {
        let program = place.path("bin").join(format!("docker-credential-{name}"));
        std::fs::create_dir_all(place.path("bin")).expect("a folder");
        put(&program, format!("{}{does}\n", NOTES.replace("NOTES", &notes)).as_bytes());
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    put(&place.path("config.json"), config.to_string().as_bytes());
    let mut options = Options::new(place.path("images"));
    options.docker_config = Some(place.path("config.json"));
    let path = format!("relative:{}", place.path("bin").display());
    options.helpers = vec![("PATH".to_owned(), path.into()), ("HOME".to_owned(), "/home/x".into())];
    Place { store: Store::open(options).expect("a store"), ..place }
}

fn closed() -> Upstream {
    Registry { door: Door::Basic(PASSWORD.to_owned()), ..Registry::of(made()) }.serve()
}

fn host(upstream: &Upstream) -> String {
    format!("127.0.0.1:{}", upstream.port())
}

/// What comes of a pull with helpers that the config names for all registries.
fn for_all(does: &str) -> (Place, Result<Image, ImageError>) {
    let upstream = closed();
    let place = with(&json!({"credsStore": "own"}), &[("own", does)]);
    let pulled = pull(&place, &upstream, ":1");
    (place, pulled)
}

#[test]
fn a_helper_is_asked_about_the_registry_and_has_little_of_ours() {
    let upstream = closed();
    let place = with(&json!({"credHelpers": {host(&upstream): "own"}}), &[("own", KNOWS)]);
    pull(&place, &upstream, ":1").expect("it is pulled");
    let notes = get(&place.path("notes"));
    let program = place.path("bin").join("docker-credential-own");
    assert_eq!(
        notes.lines().next(),
        Some(&*format!("{} get {}", program.display(), host(&upstream))),
        "{notes}"
    );
    assert!(notes.contains("HOME=/home/x") && !notes.contains("CARGO"), "{notes}");
    assert_eq!(notes.matches("docker-credential-own get").count(), 1, "it is asked once: {notes}");
}

#[test]
fn a_helper_is_not_asked_by_who_needs_no_password() {
    let upstream = Registry::of(made()).serve();
    let place = with(&json!({"credsStore": "own"}), &[("own", KNOWS)]);
    pull(&place, &upstream, ":1").expect("it is pulled");
    assert!(!place.path("notes").exists());
}

#[test]
fn the_helper_of_a_registry_goes_before_what_is_written_and_that_before_the_helper_for_all() {
    let upstream = closed();
    let wrong = json!({"auth": "d3Jvbmc6d3Jvbmc="});
    let right = json!({"auth": "dXNlcjpwYXNz"});
    let rows = [
        (json!({"credHelpers": {host(&upstream): "own"}, "auths": {host(&upstream): wrong}}), true),
        (json!({"credsStore": "own", "auths": {host(&upstream): right}}), false),
        (json!({"credsStore": "own", "auths": {host(&upstream): {}}}), true),
        (
            json!({"credsStore": "none", "credHelpers": {"registry.example": "none", host(&upstream): "own"}}),
            true,
        ),
    ];
    for (config, is_asked) in rows {
        let place = with(&config, &[("own", KNOWS), ("none", "exit 1")]);
        pull(&place, &upstream, ":1").unwrap_or_else(|error| panic!("{config}: {error}"));
        assert_eq!(place.path("notes").exists(), is_asked, "{config}");
    }
}

#[test]
fn a_helper_that_knows_nothing_leaves_us_nobody() {
    let (_, pulled) = for_all("echo 'credentials not found in native keychain'; exit 1");
    let error = pulled.expect_err("nobody is not let in");
    assert!(error.to_string().contains("401"), "{error}");
    assert_eq!(error.code(), ErrorCode::Unauthorized);
}

#[test]
fn a_helper_that_fails_ends_the_pull_and_what_it_said_is_not_shown() {
    let rows = [
        ("echo hunter2; exit 3", "exit status: 3"),
        ("echo '{\"Username\": \"hunter2\"}'", "nothing that is known"),
        ("/usr/bin/head -c 100000 /dev/zero; echo hunter2", "too much"),
        ("kill -9 $$", "signal: 9"),
    ];
    for (does, why) in rows {
        let (place, pulled) = for_all(does);
        let error = pulled.expect_err(does);
        let said = error.to_string();
        assert!(said.contains("docker-credential-own") && said.contains(why), "{does}: {said}");
        assert!(!said.contains("hunter2"), "{said}");
        assert_eq!(error.code(), ErrorCode::Unauthorized);
        assert!(error.hint().is_some());
        place.is_untouched();
    }
}

#[test]
fn a_name_that_is_a_path_runs_nothing() {
    let upstream = closed();
    for name in ["../evil", "a/../../evil", "/bin/sh", "x y", "x;y", &"x".repeat(65)] {
        let place = with(&json!({"credHelpers": {host(&upstream): name}}), &[("evil", KNOWS)]);
        put(&place.path("evil"), b"#!/bin/sh\n");
        let error = pull(&place, &upstream, ":1").expect_err(name);
        assert!(error.to_string().contains("no name of a credential helper"), "{error}");
        assert!(!place.path("notes").exists());
    }
}

#[test]
fn a_helper_that_is_not_here_is_missed_only_where_it_was_named_for_this_registry() {
    let upstream = closed();
    let place = with(&json!({"credHelpers": {host(&upstream): "gone"}}), &[]);
    let error = pull(&place, &upstream, ":1").expect_err("it is not there");
    assert!(error.to_string().contains("docker-credential-gone is not on the path"), "{error}");
    let place = with(&json!({"credsStore": "desktop"}), &[]);
    let error = pull(&place, &upstream, ":1").expect_err("nobody is not let in");
    assert!(error.to_string().contains("401"), "{error}");
    // A file that nobody may run is no program.
    let place = with(&json!({"credHelpers": {host(&upstream): "own"}}), &[("own", KNOWS)]);
    let program = place.path("bin").join("docker-credential-own");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    let error = pull(&place, &upstream, ":1").expect_err("it cannot be run");
    assert!(error.to_string().contains("not on the path"), "{error}");
}

#[test]
fn an_identity_is_exchanged_for_a_token_wherever_it_is_kept() {
    let closed = || Registry { door: Door::Exchange("who-i-am".to_owned()), ..Registry::of(made()) }.serve();
    let upstream = closed();
    let place = with(&json!({"auths": {host(&upstream): {"identitytoken": "who-i-am"}}}), &[]);
    pull(&place, &upstream, ":1").expect("it is pulled");
    let posted: Vec<_> = upstream.requests().into_iter().filter(|request| request.method == "POST").collect();
    assert_eq!(posted.len(), 1);
    assert!(posted.iter().all(|request| !request.target.contains("who-i-am")), "{posted:?}");
    let upstream = closed();
    let says = r#"echo '{"Username": "<token>", "Secret": "who-i-am"}'"#;
    let place = with(&json!({"credsStore": "own"}), &[("own", says)]);
    pull(&place, &upstream, ":1").expect("it is pulled");
    let upstream = closed();
    let place = with(&json!({"auths": {host(&upstream): {"identitytoken": "somebody-else"}}}), &[]);
    let error = pull(&place, &upstream, ":1").expect_err("that is not who was meant");
    assert!(error.to_string().contains("who are you") && !error.to_string().contains("somebody"), "{error}");
}

#[test]
fn an_identity_is_sent_on_to_nobody() {
    let thief =
        Upstream::http(|_: &_| bailiwick_testkit::upstream::Answer::new(200).body(r#"{"token": "x"}"#));
    let to = format!("http://127.0.0.1:{}/token", thief.port());
    let sends = Upstream::http(move |_: &_| {
        bailiwick_testkit::upstream::Answer::new(307).header("location", to.clone())
    });
    let realm = format!("http://127.0.0.1:{}/token", sends.port());
    let upstream = Registry { door: Door::Token(realm), ..Registry::of(made()) }.serve();
    let place = with(&json!({"auths": {host(&upstream): {"identitytoken": "who-i-am"}}}), &[]);
    let error = pull(&place, &upstream, ":1").expect_err("it is sent elsewhere");
    assert!(error.to_string().contains("in confidence"), "{error}");
    assert_eq!(thief.connections(), 0);
}
