//! Images from registries: honest ones, those at whose door one has to show something, and those that lie.

use bailiwick_image::{Digest, Fault, Image, ImageError, Options};
use bailiwick_testkit::upstream::{Answer, Framing, Piece, Request, Upstream};
use bailiwick_types::ErrorCode;
use serde_json::json;

use crate::made::{HERE, Layer, Made, Place, get, named, put, run};
use crate::registry::{Blobs, Door, Registry, TOKEN};

pub(crate) fn made() -> Made {
    Made::of(vec![Layer::new().file("a", &"a".repeat(5000)), Layer::new().file("b", "b")])
}

pub(crate) fn pull(place: &Place, upstream: &Upstream, name: &str) -> Result<Image, ImageError> {
    let reference = named(&format!("127.0.0.1:{}/team/tool{name}", upstream.port()));
    run(place.store.pull(&reference, &bailiwick_image::Watcher::nobody()))
}

#[track_caller]
fn refused(registry: Registry, name: &str, why: &str) -> (ImageError, Upstream) {
    let place = Place::new();
    let upstream = registry.serve();
    let error = pull(&place, &upstream, name).expect_err(why);
    assert!(error.to_string().contains(why), "{error}");
    place.is_untouched();
    (error, upstream)
}

#[test]
fn an_image_is_pulled_by_its_tag_and_by_its_digest() {
    let place = Place::new();
    let registry = Registry::of(made());
    let digest = Digest::of(&registry.manifests["1"]);
    let mut registry = registry;
    registry.manifests.insert(digest.to_string(), registry.manifests["1"].clone());
    let upstream = registry.serve();
    let image = pull(&place, &upstream, ":1").expect("it is pulled");
    assert_eq!((image.digest, image.layers), (digest, 2));
    assert_eq!(get(&place.root(&image.name).join("b")), "b");
    let before = upstream.requests().len();
    pull(&place, &upstream, &format!("@{digest}")).expect("it is pulled");
    assert_eq!(upstream.requests().len(), before + 1, "what is here is not fetched again");
    for request in upstream.requests() {
        assert_eq!((request.header("authorization"), request.header("cookie")), (None, None));
    }
}

#[test]
fn of_several_platforms_this_one_is_pulled() {
    let place = Place::new();
    let registry = Registry::of(made()).index(|entry| {
        let (mut here, mut there) = (entry.clone(), entry);
        there["digest"] = json!(Digest::of(b"elsewhere"));
        there["platform"] = json!({"os": "linux", "architecture": "riscv64"});
        here["platform"] = json!({"os": "linux", "architecture": HERE});
        json!([there, here])
    });
    let upstream = registry.serve();
    pull(&place, &upstream, ":1").expect("it is pulled");
    let none = Registry::of(made()).index(|mut entry| {
        entry["platform"] = json!({"os": "linux", "architecture": "riscv64"});
        json!([entry])
    });
    refused(none, ":1", "linux/riscv64");
}

#[test]
fn what_is_not_there_is_told() {
    let (error, _) = refused(Registry::of(made()), ":2", "no such\u{fffd} tag");
    assert_eq!(error.code(), ErrorCode::NotFound);
    let mut registry = Registry::of(made());
    registry.blobs.clear();
    refused(registry, ":1", "404");
    let place = Place::new();
    let reference = named("127.0.0.1:1/team/tool");
    let error =
        run(place.store.pull(&reference, &bailiwick_image::Watcher::nobody())).expect_err("nobody is there");
    assert!(matches!(error, ImageError::Registry { fault: Fault::Unreachable, .. }), "{error}");
}

#[test]
fn another_manifest_than_was_asked_for_is_refused() {
    let mut registry = Registry::of(made());
    let wanted = Digest::of(b"another");
    registry.manifests.insert(wanted.to_string(), registry.manifests["1"].clone());
    refused(registry, &format!("@{wanted}"), "the digest");
    let lying = Registry::of(made()).index(|mut entry| {
        entry["platform"] = json!({"os": "linux", "architecture": HERE});
        entry["size"] = json!(1);
        json!([entry])
    });
    refused(lying, ":1", "1 were declared");
}

#[test]
fn blobs_that_are_something_else_are_refused() {
    for bytes in [b"wrong".to_vec(), vec![b'x'; 100_000], Vec::new()] {
        refused(Registry { lies: Blobs::Instead(bytes), ..Registry::of(made()) }, ":1", "bytes, and");
    }
    let endless = Registry { lies: Blobs::Endless, ..Registry::of(made()) };
    refused(endless, ":1", "were declared");
    // As long as it should be, and another.
    let mut registry = Registry::of(made());
    for blob in registry.blobs.values_mut() {
        blob.reverse();
    }
    refused(registry, ":1", "the digest");
}

#[test]
fn a_blob_that_breaks_off_is_asked_for_from_there_on() {
    let place = Place::new();
    let lies = Blobs::Cut { after: 200, heeds_ranges: true };
    let upstream = Registry { lies, ..Registry::of(made()) }.serve();
    let image = pull(&place, &upstream, ":1").expect("it is pulled");
    assert_eq!(get(&place.root(&image.name).join("a")).len(), 5000);
    assert!(upstream.requests().iter().any(|request| request.header("range") == Some("bytes=200-")));
    let stubborn = Blobs::Cut { after: 20, heeds_ranges: false };
    let (error, upstream) = refused(Registry { lies: stubborn, ..Registry::of(made()) }, ":1", "broke off");
    assert_eq!(error.code(), ErrorCode::NetFailed);
    assert_eq!(upstream.requests().len(), 1 + 4, "it is asked four times and then left");
}

#[test]
fn answers_that_never_end_are_left() {
    for status in [200, 404] {
        let endless = Answer::new(status).framing(Framing::Chunked).piece(Piece::Endless(vec![b' '; 8192]));
        let registry = Registry { manifest_says: Some(endless), ..Registry::of(made()) };
        refused(registry, ":1", if status == 200 { "more than" } else { "404" });
    }
    let garbage = Answer::new(200).body("not json");
    refused(Registry { manifest_says: Some(garbage), ..Registry::of(made()) }, ":1", "cannot be read");
}

/// A store with a docker config for these hosts.
fn with_password(hosts: &[String]) -> Place {
    let place = Place::new();
    let auths: serde_json::Map<_, _> =
        hosts.iter().map(|host| (host.clone(), json!({"auth": "dXNlcjpwYXNz"}))).collect();
    let config = place.path("config.json");
    put(&config, json!({"auths": auths, "credsStore": "desktop"}).to_string().as_bytes());
    let mut options = Options::new(place.path("images"));
    options.docker_config = Some(config);
    Place { store: bailiwick_image::Store::open(options).expect("a store"), ..place }
}

const PASSWORD: &str = "Basic dXNlcjpwYXNz";

#[test]
fn a_token_is_got_with_the_password_of_the_docker_config() {
    let upstream =
        Registry { door: Door::OwnToken(Some(PASSWORD.to_owned())), ..Registry::of(made()) }.serve();
    let place = with_password(&[format!("http://127.0.0.1:{}/v2/", upstream.port())]);
    pull(&place, &upstream, ":1").expect("it is pulled");
    let asked = upstream.requests();
    let with =
        |value: &str| asked.iter().filter(|request| request.header("authorization") == Some(value)).count();
    assert_eq!(with(PASSWORD), 1, "the password is shown once, for the token");
    assert_eq!(with(&format!("Bearer {TOKEN}")), 4);
    let stranger = Registry { door: Door::OwnToken(Some(PASSWORD.to_owned())), ..Registry::of(made()) };
    let (error, _) = refused(stranger, ":1", "who are you");
    assert_eq!(error.code(), ErrorCode::Unauthorized);
}

#[test]
fn who_needs_no_password_shows_none() {
    let upstream = Registry { door: Door::OwnToken(None), ..Registry::of(made()) }.serve();
    let place = with_password(&["registry.example".to_owned()]);
    pull(&place, &upstream, ":1").expect("it is pulled");
    assert!(upstream.requests().iter().all(|request| request.header("authorization") != Some(PASSWORD)));
    let upstream = Registry { door: Door::Basic(PASSWORD.to_owned()), ..Registry::of(made()) }.serve();
    let place = with_password(&[format!("127.0.0.1:{}", upstream.port())]);
    pull(&place, &upstream, ":1").expect("it is pulled");
    let (error, _) =
        refused(Registry { door: Door::Basic(PASSWORD.to_owned()), ..Registry::of(made()) }, ":1", "401");
    assert_eq!(error.code(), ErrorCode::Unauthorized);
}

#[test]
fn a_password_is_shown_to_nobody_else() {
    let thief = Upstream::listen(
        ([127, 0, 0, 2], 0).into(),
        bailiwick_testkit::upstream::Protocol::Http,
        |_: &Request| Answer::new(200).body(json!({"token": TOKEN}).to_string()),
    );
    let realm = format!("http://127.0.0.2:{}/token", thief.port());
    let upstream = Registry { door: Door::Token(realm.clone()), ..Registry::of(made()) }.serve();
    let place = with_password(&[format!("127.0.0.1:{}", upstream.port())]);
    let error = pull(&place, &upstream, ":1").expect_err("it wants our password elsewhere");
    assert!(error.to_string().contains("somebody else"), "{error}");
    assert_eq!(thief.connections(), 0);
    // Without a password there is nothing to lose.
    let place = Place::new();
    pull(&place, &upstream, ":1").expect("it is pulled");
    assert_eq!(thief.requests().len(), 1);
    for realm in ["https://user:secret@127.0.0.1/", "ftp://127.0.0.1/", "nonsense"] {
        refused(Registry { door: Door::Token(realm.to_owned()), ..Registry::of(made()) }, ":1", "token");
    }
}

#[test]
fn where_blobs_are_elsewhere_nothing_is_shown_there() {
    let blobs = Registry::of(made()).serve();
    let lies = Blobs::Elsewhere(format!("http://127.0.0.1:{}", blobs.port()));
    let door = Door::OwnToken(None);
    let upstream = Registry { lies, door, ..Registry::of(made()) }.serve();
    let place = Place::new();
    pull(&place, &upstream, ":1").expect("it is pulled");
    let there = blobs.requests();
    assert_eq!(there.len(), 3);
    assert!(there.iter().all(|request| request.header("authorization").is_none()));
    let away = Blobs::Elsewhere("http://169.254.169.254/latest".to_owned());
    refused(Registry { lies: away, ..Registry::of(made()) }, ":1", "nobody asks");
    let away = Blobs::Elsewhere("file:///etc/passwd".to_owned());
    refused(Registry { lies: away, ..Registry::of(made()) }, ":1", "nowhere");
}

#[test]
fn addresses_in_a_manifest_are_not_asked() {
    let trap = Upstream::http(|_: &Request| Answer::new(200));
    let mut image = made();
    image.manifest["layers"][0]["urls"] = json!([format!("http://127.0.0.1:{}/layer", trap.port())]);
    let mut registry = Registry::of(image);
    let layer = Digest::of(&registry.manifests["1"]);
    registry.blobs.retain(|digest, blob| *digest != layer && blob.len() < 60);
    refused(registry, ":1", "404");
    assert_eq!(trap.connections(), 0);
}

#[test]
fn a_docker_config_that_cannot_be_used_says_so_without_what_is_in_it() {
    let upstream = Registry::of(made()).serve();
    let host = format!("127.0.0.1:{}", upstream.port());
    let rows = [
        ("{\"auths\": hunter2".to_owned(), "no docker config"),
        (json!({"auths": {&host: {"auth": "hunter2!"}}}).to_string(), "not base64"),
    ];
    for (text, why) in rows {
        let place = with_password(&[]);
        put(&place.path("config.json"), text.as_bytes());
        let error = pull(&place, &upstream, ":1").expect_err(why);
        assert!(error.to_string().contains(why) && !error.to_string().contains("hunter2"), "{error}");
    }
    let place = Place::with(|options| options.docker_config = Some("/nowhere/config.json".into()));
    pull(&place, &upstream, ":1").expect("without a config nobody is somebody");
}
