//! The forms: of a record, of a time, of hexadecimal, and what a key says yes to.

use serde_json::{Value, json};

use super::stage::{entry, foreign_keys, keys};
use crate::{
    Actor, ChainError, Digest, Entry, HeadError, Kind, Link, MOST_BODY_BYTES, Record, hash_of, rfc3339,
};

#[test]
fn a_record_has_every_key_of_its_shape_in_order() {
    let actor = Actor { key: None, client: "cli".to_owned() };
    let sealed = Link::START.next(&Entry::new(Kind::Change, actor, "tool.publish"), 0).unwrap();
    let line = crate::record_line(&sealed.body, &sealed.hash);
    let record: Value = serde_json::from_str(&line).unwrap();
    let keys: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    let shape = [
        "seq",
        "time",
        "kind",
        "callId",
        "correlationId",
        "actor",
        "action",
        "tool",
        "policyHash",
        "risk",
        "arguments",
        "outcome",
        "usage",
        "approval",
        "backend",
        "prev",
        "hash",
    ];
    assert_eq!(keys, shape);
    assert_eq!(record["time"], "1970-01-01T00:00:00.000Z");
    assert_eq!(record["actor"], json!({"key": null, "client": "cli"}));
    assert_eq!(record["prev"], "0".repeat(64));
    assert_eq!(record["hash"], hash_of(sealed.body.as_bytes()).to_string());
}

#[test]
fn a_record_comes_back_as_it_was_put() {
    let first = Link::START.next(&entry(1), 1).unwrap();
    let second = first.link().next(&entry(2), 2).unwrap();
    let record = Record::parse(&second.body, second.hash).unwrap();
    assert_eq!((record.seq, record.prev, &record.entry), (2, first.hash, &entry(2)));
    let shown = serde_json::to_string(&record).unwrap();
    assert_eq!(shown, crate::record_line(&second.body, &second.hash));
}

#[test]
fn a_chain_ends_at_the_last_number_of_a_row() {
    let last = Link { seq: i64::MAX.unsigned_abs(), hash: Digest::ZERO };
    assert_eq!(last.next(&entry(1), 1), Err(ChainError::Full));
    let past = Link { seq: u64::MAX, hash: Digest::ZERO };
    assert_eq!(past.next(&entry(1), 1), Err(ChainError::Full));
}

#[test]
fn an_entry_that_is_too_large_is_refused() {
    let mut large = entry(1);
    large.arguments = Some(Value::String("x".repeat(MOST_BODY_BYTES)));
    assert!(matches!(Link::START.next(&large, 1), Err(ChainError::TooLarge { .. })));
}

#[track_caller]
fn check_time(unix_ms: u64, text: &str) {
    assert_eq!(rfc3339(unix_ms), text);
}

#[test]
fn a_time_is_written_in_utc_with_milliseconds() {
    check_time(0, "1970-01-01T00:00:00.000Z");
    check_time(951_782_399_999, "2000-02-28T23:59:59.999Z");
    check_time(951_782_400_000, "2000-02-29T00:00:00.000Z");
    check_time(1_709_251_199_001, "2024-02-29T23:59:59.001Z");
    check_time(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    check_time(1_735_689_599_000, "2024-12-31T23:59:59.000Z");
    check_time(u64::MAX, "9999-12-31T23:59:59.999Z");
}

#[track_caller]
fn check_not_hex(text: &str) {
    assert!(Digest::parse(text).is_err(), "{text}");
}

#[test]
fn one_text_stands_for_one_hash() {
    let hash = hash_of(b"x");
    assert_eq!(Digest::parse(&hash.to_string()), Ok(hash));
    check_not_hex(&hash.to_string().to_uppercase());
    check_not_hex(&hash.to_string()[1..]);
    check_not_hex(&(hash.to_string() + "00"));
    check_not_hex(&"é".repeat(32));
    check_not_hex("");
}

#[test]
fn a_head_is_believed_of_its_key_and_as_it_was_signed() {
    let head = keys().sign(5, hash_of(b"x"), 6, 7);
    assert_eq!(head.verify(&keys().public()), Ok(()));
    assert_eq!(head.verify(&foreign_keys().public()), Err(HeadError::ForeignKey));
    let lies = [
        crate::Head { seq: 6, ..head },
        crate::Head { hash: hash_of(b"y"), ..head },
        crate::Head { time_ms: 7, ..head },
        crate::Head { records_before: 8, ..head },
    ];
    for lie in lies {
        assert_eq!(lie.verify(&keys().public()), Err(HeadError::Signature), "{lie:?}");
    }
}

#[test]
fn a_seal_holds_for_the_fields_it_was_made_over_and_no_others() {
    let (ours, foreign) = (keys(), foreign_keys());
    let seal = ours.row_seal(&[b"ab", b"c"]);
    assert!(ours.row_is_ours(&[b"ab", b"c"], &seal));
    assert!(!ours.row_is_ours(&[b"a", b"bc"], &seal));
    assert!(!ours.row_is_ours(&[b"abc"], &seal));
    assert!(!ours.row_is_ours(&[b"ab", b"c", b""], &seal));
    assert!(!ours.row_is_ours(&[b"ab", b"c"], &seal[..31]));
    assert!(!ours.row_is_ours(&[b"ab", b"c"], &[]));
    assert!(!foreign.row_is_ours(&[b"ab", b"c"], &seal));
}

#[test]
fn keys_are_not_shown() {
    let shown = format!("{:?}", keys());
    assert_eq!(shown, format!("Keys({})", keys().public()));
}
