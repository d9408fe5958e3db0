//! Keys as texts and in memory.

use bailiwick_store::KeyRow;
use bailiwick_types::{KeyId, Scope, Scopes};

use super::NotAKey;
use super::ring::{Ring, words_of};
use super::text::{self, Fresh};

const NOW: u64 = 1_000_000_000;

fn row(fresh: &Fresh) -> KeyRow {
    KeyRow {
        id: fresh.id,
        name: "ci".to_owned(),
        scopes: words_of(Scopes::of([Scope::Call, Scope::Approve])),
        hash: fresh.hash,
        created_ms: NOW - 1,
        expires_ms: None,
        revoked_ms: None,
        used_ms: None,
        per_second: Some(7),
        at_once: None,
        dialogue: true,
        is_ours: true,
    }
}

/// What a ring with one key says to it.
#[track_caller]
fn check(change: impl FnOnce(&mut KeyRow), is_as_left: bool, expected: Result<&str, NotAKey>) {
    let fresh = Fresh::new(NOW).unwrap();
    let mut row = row(&fresh);
    change(&mut row);
    let ring = Ring::default();
    ring.fill(vec![(row, is_as_left)]);
    let (id, hash) = text::read(&fresh.text).unwrap();
    let said = ring.recognise(id, &hash, NOW).map(|recognised| recognised.shown.name);
    assert_eq!(said.as_deref().map_err(|error| *error), expected);
    assert_eq!(ring.foreign(), u64::from(!is_as_left || expected == Err(NotAKey::Unknown)));
}

#[test]
fn a_key_holds_until_it_is_revoked_or_expires() {
    check(|_| {}, true, Ok("ci"));
    check(|row| row.expires_ms = Some(NOW + 1), true, Ok("ci"));
    check(|row| row.expires_ms = Some(NOW), true, Err(NotAKey::Expired));
    check(|row| row.revoked_ms = Some(NOW + 5), true, Err(NotAKey::Revoked));
}

#[test]
fn a_row_that_is_not_as_we_left_it_opens_nothing() {
    check(|_| {}, false, Err(NotAKey::Unknown));
    check(|row| row.scopes = "call root".to_owned(), true, Err(NotAKey::Unknown));
    check(|row| row.scopes = String::new(), true, Err(NotAKey::Unknown));
}

#[test]
fn a_key_with_another_secret_is_unknown_as_is_another_id() {
    let (ours, other) = (Fresh::new(NOW).unwrap(), Fresh::new(NOW).unwrap());
    let ring = Ring::default();
    ring.fill(vec![(row(&ours), true)]);
    assert_eq!(ring.recognise(ours.id, &other.hash, NOW).err(), Some(NotAKey::Unknown));
    assert_eq!(ring.recognise(other.id, &ours.hash, NOW).err(), Some(NotAKey::Unknown));
    // What stands in for a key that is not there opens nothing either.
    assert_eq!(ring.recognise(other.id, &bailiwick_audit::Digest::ZERO, NOW).err(), Some(NotAKey::Unknown));
}

#[test]
fn a_use_is_kept_once_a_minute() {
    let fresh = Fresh::new(NOW).unwrap();
    let ring = Ring::default();
    ring.fill(vec![(row(&fresh), true)]);
    let keeps =
        |now: u64| ring.recognise(fresh.id, &fresh.hash, now).ok().and_then(|recognised| recognised.keep);
    assert_eq!(keeps(NOW), Some((fresh.id, NOW)));
    assert_eq!(keeps(NOW + 1), None);
    assert_eq!(keeps(NOW + 59_999), None);
    assert_eq!(ring.unkept(), vec![(fresh.id, NOW + 59_999)]);
    assert_eq!(keeps(NOW + 60_000), Some((fresh.id, NOW + 60_000)));
}

#[test]
fn an_expired_key_is_told_to_be_gone_once() {
    let fresh = Fresh::new(NOW).unwrap();
    let ring = Ring::default();
    ring.fill(vec![(KeyRow { expires_ms: Some(NOW + 10), ..row(&fresh) }, true)]);
    assert_eq!(ring.expired(NOW), (Vec::new(), Some(NOW + 10)));
    assert_eq!(ring.expired(NOW + 10).0.len(), 1);
    assert_eq!(ring.expired(NOW + 11), (Vec::new(), None));
}

#[test]
fn the_shape_of_a_key_is_exact() {
    let fresh = Fresh::new(NOW).unwrap();
    let text = fresh.text.as_str();
    assert_eq!(text.len(), 80);
    assert_eq!(text::read(text), Some((fresh.id, fresh.hash)));
    let (id, secret) = text.strip_prefix("bwk_").and_then(|rest| rest.split_once('_')).unwrap();
    let hyphenated = KeyId::parse(id).unwrap().to_string();
    for wrong in [
        String::new(),
        "bwk_".to_owned(),
        format!("{text}x"),
        format!(" {text}"),
        format!("{text}\n"),
        text.to_uppercase(),
        text.replace("bwk_", "bwx_"),
        format!("bwk_{}_{secret}", id.to_uppercase()),
        format!("bwk_{hyphenated}_{secret}"),
        format!("bwk_{id}_{}", &secret[1..]),
        format!("bwk_{id}_{}=", &secret[1..]),
        format!("bwk_{id}_{}+", &secret[1..]),
        format!("bwk_{id}_{}ä", &secret[2..]),
        format!("bwk_{id}{secret}"),
    ] {
        assert_eq!(text::read(&wrong), None, "{wrong}");
    }
}
