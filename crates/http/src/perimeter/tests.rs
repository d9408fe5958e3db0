//! Rates by a clock that stands still, where a listener may stand, and what a client of an OAuth server is told.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bailiwick_config::{JwksPlace, Jwt};
use bailiwick_types::{KeyId, Scopes};
use governor::clock::FakeRelativeClock;

use super::host::Host;
use super::rates::{Allowed, Over, Rates, Who};
use super::resource::Published;
use super::slots::{OPERATORS_SLOTS, Slots};
use super::{NoAuth, may_listen};
use bailiwick_core::{NoRoom, Rank, Room as _};

fn address(number: u32) -> Who {
    Who::Address(IpAddr::V4(Ipv4Addr::from(number)))
}

const ALLOWED: Allowed = Allowed { per_second: 3, at_once: 2 };

#[test]
fn a_second_has_as_many_as_are_allowed() {
    let clock = FakeRelativeClock::default();
    let rates = Rates::new(clock.clone(), 10);
    for _ in 0..3 {
        assert!(rates.enter(address(1), ALLOWED).is_ok());
    }
    let Err(Over::Rate { wait }) = rates.enter(address(1), ALLOWED) else { panic!("a fourth came through") };
    assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1), "{wait:?}");
    assert!(rates.enter(address(2), ALLOWED).is_ok(), "somebody else was held up");
    clock.advance(wait);
    assert!(rates.enter(address(1), ALLOWED).is_ok());
    assert!(rates.enter(address(1), ALLOWED).is_err());
    clock.advance(Duration::from_secs(100));
    assert_eq!(
        (0..10).filter(|_| rates.enter(address(1), ALLOWED).is_ok()).count(),
        3,
        "a burst was saved up"
    );
}

#[test]
fn so_many_are_under_way_and_no_more() {
    let rates = Rates::new(FakeRelativeClock::default(), 10);
    let first = rates.enter(address(1), ALLOWED).unwrap();
    let second = rates.enter(address(1), ALLOWED).unwrap();
    for _ in 0..10 {
        assert_eq!(rates.enter(address(1), ALLOWED).err(), Some(Over::AtOnce));
    }
    // Those that found no place have used up nothing of the rate.
    drop(first);
    assert!(rates.enter(address(1), ALLOWED).is_ok());
    drop(second);
}

#[test]
fn whoever_is_told_apart_is_bounded_and_idle_ones_make_room() {
    let clock = FakeRelativeClock::default();
    let rates = Rates::new(clock.clone(), 4);
    let held = rates.enter(address(1), ALLOWED).unwrap();
    for number in 2..1000 {
        drop(rates.enter(address(number), ALLOWED));
    }
    assert!(rates.tracked() <= 5, "{}", rates.tracked());
    // All for whom there was no room are one.
    assert!(matches!(rates.enter(address(2000), ALLOWED), Err(Over::Rate { .. })));
    clock.advance(Duration::from_secs(3));
    assert!(rates.enter(address(2001), ALLOWED).is_ok());
    assert!(rates.tracked() <= 2, "{}", rates.tracked());
    drop(rates.enter(address(1), ALLOWED).unwrap());
    let second = rates.enter(address(1), ALLOWED);
    assert!(second.is_ok());
    // The one that was under way all the time was not forgotten.
    assert_eq!(rates.enter(address(1), ALLOWED).err(), Some(Over::AtOnce));
    drop(held);
}

#[test]
fn keys_and_addresses_are_not_taken_for_each_other() {
    let rates = Rates::new(FakeRelativeClock::default(), 10);
    let one = Allowed { per_second: 1, at_once: 1 };
    let key = KeyId::from_parts(1, &[1; 10]);
    let home = IpAddr::V4(Ipv4Addr::LOCALHOST);
    for who in [Who::Key(key), Who::Token(key.to_string()), Who::Address(home), Who::Failed(home)] {
        assert!(rates.enter(who.clone(), one).is_ok(), "{who:?}");
        assert!(rates.enter(who.clone(), one).is_err(), "{who:?}");
    }
}

#[test]
fn a_slot_is_given_back_once() {
    let slots = Slots::new(1);
    let one = || slots.one(Rank::Keyed);
    let (waits, runs, late) = (one(), one(), one());
    assert!(!slots.are_taken(Rank::Keyless), "what is still on its way has none");
    assert_eq!((waits.take(), waits.take()), (Ok(()), Ok(())), "one, however often it is taken");
    assert_eq!(late.take(), Err(NoRoom));
    waits.release();
    assert_eq!(runs.take(), Ok(()));
    waits.release();
    drop(waits);
    assert_eq!(late.take(), Err(NoRoom), "somebody else's was given back");
    drop(runs);
    assert_eq!(late.take(), Ok(()));
}

#[test]
fn the_operator_has_slots_that_nobody_else_takes() {
    let slots = Slots::new(1);
    assert_eq!(slots.one(Rank::Keyless).take(), Ok(()), "and given back");
    let keyless = slots.one(Rank::Keyless);
    assert_eq!(keyless.take(), Ok(()));
    for rank in [Rank::Keyless, Rank::Keyed] {
        assert!(slots.are_taken(rank), "{rank:?}");
        assert_eq!(slots.one(rank).take(), Err(NoRoom), "{rank:?}");
    }
    let operators: Vec<_> = (0..OPERATORS_SLOTS).map(|_| slots.one(Rank::Operator)).collect();
    assert!(operators.iter().all(|slot| slot.take().is_ok()));
    assert!(slots.are_taken(Rank::Operator), "there are no more of them than that");
    drop(operators);
    assert!(!slots.are_taken(Rank::Operator));
}

#[test]
fn a_wide_listener_without_credentials_has_to_be_typed() {
    for (bound, has_credentials, no_auth, may) in [
        ("127.0.0.1:80", false, NoAuth::Refused, true),
        ("[::1]:80", false, NoAuth::Refused, true),
        ("[::ffff:127.0.0.1]:80", false, NoAuth::Refused, true),
        ("0.0.0.0:80", false, NoAuth::Refused, false),
        ("[::]:80", false, NoAuth::Refused, false),
        ("192.0.2.1:80", false, NoAuth::Refused, false),
        ("192.0.2.1:80", true, NoAuth::Refused, true),
        ("0.0.0.0:80", false, NoAuth::Insecure, true),
    ] {
        assert_eq!(
            may_listen(bound.parse().unwrap(), has_credentials, no_auth).is_ok(),
            may,
            "{bound} {no_auth:?}"
        );
    }
}

#[test]
fn a_resource_is_told_by_the_host_that_passed_and_by_the_words_of_the_operator() {
    for (audience, name, port, encrypted, identifier, origin) in [
        ("bailiwick", "a.example", 80, false, "http://a.example/mcp", "http://a.example"),
        ("bailiwick", "a.example", 443, true, "https://a.example/mcp", "https://a.example"),
        ("bailiwick", "a.example", 8443, true, "https://a.example:8443/mcp", "https://a.example:8443"),
        ("urn:tools", "[::1]", 8282, false, "http://[::1]:8282/mcp", "http://[::1]:8282"),
        ("https://u@a.example", "b.example", 80, false, "http://b.example/mcp", "http://b.example"),
        // A proxy speaks TLS for us, and passes the name on.
        ("https://a.example/mcp", "a.example", 80, false, "https://a.example/mcp", "https://a.example"),
        ("https://a.example/x", "a.example", 443, false, "https://a.example/x", "https://a.example"),
        ("https://A.example", "a.example", 80, false, "https://A.example", "https://A.example"),
        ("https://a.example:9/", "a.example", 80, false, "https://a.example:9/", "https://a.example:9"),
        // Reached by another way, it is told where it was reached.
        ("https://a.example/mcp", "a.example", 8282, false, "https://a.example/mcp", "http://a.example:8282"),
        ("https://a.example/mcp", "127.0.0.1", 8282, false, "https://a.example/mcp", "http://127.0.0.1:8282"),
    ] {
        let jwt = Jwt {
            issuer: "https://issuer.example".to_owned(),
            audience: audience.to_owned(),
            jwks: JwksPlace::File("/keys.json".into()),
            scopes: Scopes::ALL,
        };
        let resource = Published::of(&jwt).at(&Host { name: name.to_owned(), port }, encrypted);
        assert_eq!(resource.identifier(), identifier, "{audience} {name}:{port}");
        let pointed =
            format!("Bearer, resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\"");
        assert_eq!(resource.pointed("Bearer"), pointed, "{audience} {name}:{port}");
    }
}
