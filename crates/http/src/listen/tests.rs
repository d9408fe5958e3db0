//! Heads byte by byte, addresses of this machine, certificates that change, and connections that cannot be accepted.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use bailiwick_config::TlsFiles;
use bailiwick_config::files::{Readers, replace};
use bailiwick_core::Rank;
use futures_util::FutureExt as _;

use super::head::{Seen, Shape, Watch};
use super::places::{Place, Places};
use super::serving::{SHORT_OF_EVERYTHING, after_a_failed_accept};
use super::tls::Certificates;
use super::{Bounds, own_listeners};

/// What is seen is the same however the bytes come: at once, one by one, or in two pieces.
#[track_caller]
fn check(text: &str, expected: Option<Shape>) {
    let bytes = text.as_bytes();
    for size in [bytes.len(), 1, 2, 7] {
        let seen = Seen::default();
        let mut watch = Watch::new(seen.clone());
        bytes.chunks(size.max(1)).for_each(|piece| watch.take(piece));
        assert_eq!(seen.shape(), expected, "{text:?} by {size}");
    }
}

#[test]
fn connections_take_a_quarter_of_the_descriptors_at_most() {
    for (descriptors, connections, per_peer, from_here) in [
        (1 << 20, 1024, 256, 768),
        (4096, 1024, 256, 768),
        (1024, 256, 64, 192),
        (512, 128, 32, 96),
        (0, 1, 1, 1),
    ] {
        let bounds = Bounds::default().within(descriptors);
        let got = (bounds.connections, bounds.per_peer, bounds.from_here);
        assert_eq!(got, (connections, per_peer, from_here), "{descriptors}");
    }
}

#[test]
fn idle_connections_with_a_key_leave_room_for_those_that_are_not_heard_yet() {
    let bounds = Bounds { connections: 16, per_peer: 16, from_here: 16, ..Bounds::default() };
    let places = Places::new(&bounds);
    let here = "127.0.0.1".parse().unwrap();
    let keyed: Vec<Place> = (0..16).map(|_| places.take(here).unwrap()).collect();
    for place in &keyed {
        drop(place.seat.stay(Rank::Keyed).unwrap());
    }
    let fresh: Vec<Place> = (0..8).map(|_| places.take(here).unwrap()).collect();
    let goes = |place: &Place| place.has_to_go().now_or_never().is_some();
    // An eighth of the room stays with the newest of those: each had time for its first request.
    let gone: Vec<bool> = fresh.iter().map(goes).collect();
    assert_eq!(gone, [true, true, true, true, true, true, false, false]);
    assert_eq!(keyed.iter().filter(|place| goes(place)).count(), 2, "and all others with the key");
}

#[test]
fn shapes_are_seen_however_the_bytes_come() {
    let head = "POST / HTTP/1.1\r\nhost: a\r\n";
    check(&format!("{head}\r\n"), None);
    check(&format!("\r\n\r\n{head}\r\n"), None);
    check(&format!("{head}content-length: 3\r\n\r\n\n\n\n{head}\r\n"), None);
    check(&format!("{head}content-length: 3\r\n\r\n\n\n\n{head}bad\n"), Some(Shape::LineEnd));
    check(&format!("{head}transfer-encoding: chunked\r\n\r\nanything\nat all"), None);
    check(&format!("{head}content-length: 1\r\ntransfer-encoding: chunked\r\n"), Some(Shape::TwoLengths));
    check(&format!("{head}transfer-encoding: chunked\r\ncontent-length: 1\r\n"), Some(Shape::TwoLengths));
    check(&format!("{head}content-length: 1\r\ncontent-length: 1\r\n"), Some(Shape::RepeatedLength));
    check(&format!("{head}content-length: 1 1\r\n"), Some(Shape::BadLength));
    check(&format!("{head}content-length: 18446744073709551616\r\n"), Some(Shape::BadLength));
    check(&format!("{head}transfer-encoding: gzip\r\n"), Some(Shape::Encoding));
    check(&format!("{head} folded\r\n"), Some(Shape::Folded));
    check(&format!("{head}a b: c\r\n"), Some(Shape::Name));
    check(&format!("{head}: c\r\n"), Some(Shape::Name));
    check(&format!("{head}none\r\n"), Some(Shape::Name));
    check(&format!("{head}a: b\rc\r\n"), Some(Shape::LineEnd));
    check(&format!("{head}x: {}", "y".repeat(100_000)), None);
}

#[test]
fn a_listener_is_reached_by_every_address_it_has() {
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    assert_eq!(own_listeners(address("127.0.0.1:8282")).unwrap(), [address("127.0.0.1:8282")]);
    let mapped = own_listeners(address("[::ffff:192.0.2.1]:1")).unwrap();
    assert!(mapped.contains(&address("192.0.2.1:1")) && mapped.len() == 2, "{mapped:?}");
    let all = own_listeners(address("0.0.0.0:8282")).unwrap();
    assert!(all.contains(&address("0.0.0.0:8282")) && all.contains(&address("127.0.0.1:8282")), "{all:?}");
    assert!(all.iter().all(SocketAddr::is_ipv4));
    let wide = own_listeners(address("[::]:8282")).unwrap();
    assert!(wide.contains(&address("127.0.0.1:8282")) && wide.contains(&address("[::1]:8282")), "{wide:?}");
    assert!(wide.len() > all.len() && wide.iter().all(|one| one.port() == 8282));
}

/// Writes a new certificate, and gives its bytes.
fn write(files: &TlsFiles) -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    replace(&files.key, &made.signing_key.serialize_pem(), Readers::Owner).unwrap();
    replace(&files.certificates, &made.cert.pem(), Readers::Owner).unwrap();
    made.cert.der().to_vec()
}

fn files_in(folder: &Path) -> TlsFiles {
    TlsFiles { certificates: folder.join("cert.pem"), key: folder.join("key.pem") }
}

#[test]
fn certificates_are_read_again_when_they_change_and_kept_when_they_are_broken() {
    let folder = tempfile::tempdir().unwrap();
    let files = files_in(folder.path());
    assert!(Certificates::load(files.clone()).is_err(), "there is nothing yet");
    let first = write(&files);
    let mut certificates = Certificates::load(files.clone()).unwrap();
    assert_eq!(certificates.first().as_deref(), Some(first.as_slice()));
    let second = write(&files);
    assert_ne!(first, second);
    certificates.look();
    assert_eq!(certificates.first().as_deref(), Some(second.as_slice()));
    let other = rcgen::generate_simple_self_signed(["other".to_owned()]).unwrap();
    let wrong_key = other.signing_key.serialize_pem();
    let whole = bailiwick_config::files::read_document(&files.certificates).unwrap();
    for (path, text) in [
        (&files.certificates, "not a certificate"),
        (&files.certificates, ""),
        (&files.certificates, &whole[..whole.len() / 2]),
        (&files.certificates, whole.as_str()),
        (&files.key, wrong_key.as_str()),
        (&files.key, "-----BEGIN PRIVATE KEY-----\n"),
    ] {
        replace(path, text, Readers::Owner).unwrap();
        certificates.look();
        assert_eq!(certificates.first().as_deref(), Some(second.as_slice()), "{}: {text}", path.display());
    }
    assert!(Certificates::load(files.clone()).is_err_and(|error| !error.to_string().contains("PRIVATE")));
    let third = write(&files);
    certificates.look();
    assert_eq!(certificates.first().as_deref(), Some(third.as_slice()));
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_has_nothing_left_is_given_a_moment_and_a_broken_connection_costs_none() {
    for (errno, pause) in [
        (rustix::io::Errno::MFILE, SHORT_OF_EVERYTHING),
        (rustix::io::Errno::NFILE, SHORT_OF_EVERYTHING),
        (rustix::io::Errno::NOMEM, SHORT_OF_EVERYTHING),
        (rustix::io::Errno::CONNABORTED, Duration::ZERO),
        (rustix::io::Errno::CONNRESET, Duration::ZERO),
        (rustix::io::Errno::INTR, Duration::ZERO),
    ] {
        let began = tokio::time::Instant::now();
        after_a_failed_accept(&errno.into()).await;
        // The clock stands still but for whoever waits. It is no finer than a millisecond.
        let waited = began.elapsed();
        assert!(waited >= pause && waited < pause + Duration::from_millis(2), "{errno}: {waited:?}");
    }
}
