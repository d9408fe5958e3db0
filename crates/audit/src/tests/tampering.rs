//! Every way in which somebody may have laid hands on a chain, and the record that is named for it.

use super::stage::{Chain, Lying, entry, foreign_keys, keys, rows_from};
use crate::{Digest, FoundBy, Link, Row, Verdict, Verifier, Why, hash_of};

#[track_caller]
fn check(hands: impl FnOnce(&mut Chain), expected: Verdict) {
    let mut chain = Chain::of(18);
    hands(&mut chain);
    assert_eq!(chain.verify(), expected);
}

fn broken(first_bad: i64, why: Why, proven_to: u64) -> Verdict {
    Verdict::Broken { first_bad, why, proven_to }
}

/// Puts another record in the place of one, with the right hash for it.
fn rewrite(row: &mut Lying, text: &str, by: &str) {
    let body = String::from_utf8(row.body.clone()).unwrap();
    assert!(body.contains(text), "{body}");
    row.body = body.replace(text, by).into_bytes();
    row.hash = hash_of(&row.body).0.to_vec();
}

#[test]
fn a_chain_that_nobody_touched_is_proven_as_far_as_it_is_signed() {
    check(|_| {}, Verdict::Proven { to: 16, unsigned: 2, from: 1, removed: 0 });
    let nothing = Chain { rows: vec![], heads: vec![], witness: vec![] };
    assert_eq!(nothing.verify(), Verdict::Proven { to: 0, unsigned: 0, from: 1, removed: 0 });
    assert_eq!(Chain::of(3).verify(), Verdict::Proven { to: 0, unsigned: 3, from: 1, removed: 0 });
}

#[test]
fn what_retention_left_is_proven_from_there() {
    let cut = Chain::of(18).cut_to(8);
    assert_eq!(cut.verify(), Verdict::Proven { to: 16, unsigned: 2, from: 9, removed: 8 });
    assert_eq!(Chain::of(8).cut_to(8).verify(), Verdict::Proven { to: 8, unsigned: 0, from: 9, removed: 8 });
    assert_eq!(
        cut.clone().cut_to(12).verify(),
        Verdict::Proven { to: 16, unsigned: 2, from: 13, removed: 12 }
    );
    // The same rows without the signed word that they begin there.
    let mut stolen = cut.clone();
    stolen.heads.remove(0);
    stolen.witness.pop();
    assert_eq!(stolen.verify(), broken(1, Why::Missing, 0));
    // More is gone than was signed to be.
    let mut more = cut.clone();
    more.rows.drain(..2);
    assert_eq!(more.verify(), broken(9, Why::Missing, 0));
    // What was removed is back.
    let mut back = cut;
    back.rows.splice(0..0, rows_from(Link::START, 8, 0));
    assert_eq!(back.verify(), broken(1, Why::OutOfOrder, 0));
}

#[test]
fn the_first_record_after_a_cut_must_fit_the_head_that_was_kept() {
    let mut forged = Chain::of(8).cut_to(8);
    forged.rows = rows_from(Link { seq: 8, hash: Digest([5; 32]) }, 2, 0);
    assert_eq!(forged.verify(), broken(9, Why::PrevMismatch, 8));
}

#[test]
fn a_flipped_byte_is_found_where_it_is() {
    check(|chain| chain.rows[5].body[20] ^= 1, broken(6, Why::HashMismatch, 4));
    check(|chain| chain.rows[5].hash[0] ^= 1, broken(6, Why::HashMismatch, 4));
    check(|chain| chain.rows[17].hash[31] ^= 1, broken(18, Why::HashMismatch, 16));
    check(|chain| chain.rows[0].hash.clear(), broken(1, Why::HashMismatch, 0));
}

#[test]
fn a_record_that_is_gone_is_missed() {
    check(|chain| drop(chain.rows.remove(0)), broken(1, Why::Missing, 0));
    check(|chain| drop(chain.rows.remove(6)), broken(7, Why::Missing, 4));
    let in_the_place_of_the_next = |chain: &mut Chain| {
        chain.rows.remove(1);
        chain.rows[0].seq = 2;
    };
    check(in_the_place_of_the_next, broken(1, Why::Missing, 0));
    check(|chain| drop(chain.rows.drain(4..9)), broken(5, Why::Missing, 4));
    // The last of the unsigned ones leave no trace: this is what "not yet signed" means.
    check(|chain| drop(chain.rows.pop()), Verdict::Proven { to: 16, unsigned: 1, from: 1, removed: 0 });
}

#[test]
fn a_gap_that_was_closed_by_counting_anew_is_found() {
    let close = |chain: &mut Chain| {
        chain.rows.remove(6);
        chain.rows.iter_mut().skip(6).for_each(|row| row.seq -= 1);
    };
    check(close, broken(7, Why::OutOfOrder, 4));
}

#[test]
fn swapped_records_are_found_at_the_first() {
    let contents = |chain: &mut Chain| {
        let (fifth, ninth) = (chain.rows[4].clone(), chain.rows[8].clone());
        chain.rows[4] = Lying { seq: 5, ..ninth };
        chain.rows[8] = Lying { seq: 9, ..fifth };
    };
    check(contents, broken(5, Why::OutOfOrder, 4));
    let numbers = |chain: &mut Chain| {
        chain.rows[4].seq = 9;
        chain.rows[8].seq = 5;
    };
    check(numbers, broken(5, Why::OutOfOrder, 4));
}

#[test]
fn a_tail_that_was_cut_is_told_by_a_head_or_a_witness() {
    check(|chain| chain.rows.truncate(13), broken(14, Why::Truncated { head: 16 }, 12));
    let heads_too = |chain: &mut Chain| {
        chain.rows.truncate(13);
        chain.heads.truncate(3);
    };
    check(heads_too, broken(14, Why::Truncated { head: 16 }, 12));
    let all = |chain: &mut Chain| {
        chain.rows.clear();
        chain.heads.clear();
    };
    check(all, broken(1, Why::Truncated { head: 16 }, 0));
    let nobody_knows = |chain: &mut Chain| {
        chain.rows.truncate(13);
        chain.heads.truncate(3);
        chain.witness.truncate(3);
    };
    check(nobody_knows, Verdict::Proven { to: 12, unsigned: 1, from: 1, removed: 0 });
}

#[test]
fn heads_that_only_a_witness_has_prove_as_much() {
    check(|chain| chain.heads.clear(), Verdict::Proven { to: 16, unsigned: 2, from: 1, removed: 0 });
}

#[test]
fn a_head_that_somebody_else_signed_is_forged() {
    let foreign = |chain: &mut Chain| {
        let link = chain.rows[7].link();
        chain.heads[1] = foreign_keys().sign(link.seq, link.hash, 5, 0);
    };
    check(foreign, broken(8, Why::ForgedHead, 4));
    let under_our_name = |chain: &mut Chain| {
        let link = chain.rows[7].link();
        chain.heads[1] = foreign_keys().sign(link.seq, link.hash, 5, 0);
        chain.heads[1].key = keys().public();
    };
    check(under_our_name, broken(8, Why::ForgedHead, 4));
    check(|chain| chain.heads[1].time_ms += 1, broken(8, Why::ForgedHead, 4));
    check(|chain| chain.heads[1].records_before = 4, broken(8, Why::ForgedHead, 4));
    check(|chain| chain.witness[3].seq = u64::MAX, broken(i64::MAX, Why::ForgedHead, 16));
}

#[test]
fn a_chain_written_anew_and_signed_by_another_key_is_forged_from_the_first_head() {
    let anew = |chain: &mut Chain| {
        chain.rows = rows_from(Link::START, 18, 1000);
        let signed = chain.rows.iter().filter(|row| row.seq % 4 == 0).map(Lying::link);
        chain.heads = signed.map(|link| foreign_keys().sign(link.seq, link.hash, 5, 0)).collect();
        chain.witness.clear();
    };
    check(anew, broken(4, Why::ForgedHead, 0));
}

#[test]
fn a_chain_written_anew_is_not_what_the_old_heads_signed() {
    check(|chain| chain.rows = rows_from(Link::START, 18, 1000), broken(1, Why::HeadMismatch { head: 4 }, 0));
    let from_seven = |chain: &mut Chain| {
        let link = chain.rows[5].link();
        chain.rows.truncate(6);
        chain.rows.extend(rows_from(link, 12, 1000));
    };
    check(from_seven, broken(5, Why::HeadMismatch { head: 8 }, 4));
}

#[test]
fn a_record_with_another_text_and_the_right_hash_does_not_fit_its_neighbours() {
    check(|chain| rewrite(&mut chain.rows[5], "echo", "rm"), broken(6, Why::PrevMismatch, 4));
    check(|chain| rewrite(&mut chain.rows[4], "echo", "rm"), broken(5, Why::PrevMismatch, 4));
    check(|chain| rewrite(&mut chain.rows[0], "echo", "rm"), broken(1, Why::PrevMismatch, 0));
    // With a head at it the head tells.
    check(|chain| rewrite(&mut chain.rows[7], "echo", "rm"), broken(5, Why::HeadMismatch { head: 8 }, 4));
    let zeros = "0".repeat(64);
    let ones = "1".repeat(64);
    check(|chain| rewrite(&mut chain.rows[0], &zeros, &ones), broken(1, Why::PrevMismatch, 0));
}

#[test]
fn a_link_that_was_bent_is_found_at_the_record_that_bends_it() {
    let bend = |chain: &mut Chain| {
        let before = chain.rows[4].link().hash.to_string();
        rewrite(&mut chain.rows[5], &before, &"1".repeat(64));
    };
    check(bend, broken(6, Why::PrevMismatch, 4));
}

#[test]
fn a_record_that_is_there_twice_does_not_stand_in_its_place() {
    let at_the_end = |chain: &mut Chain| {
        let twice = Lying { seq: 19, ..chain.rows[4].clone() };
        chain.rows.push(twice);
    };
    check(at_the_end, broken(19, Why::OutOfOrder, 16));
    check(|chain| chain.rows.push(chain.rows[4].clone()), broken(5, Why::OutOfOrder, 4));
}

#[test]
fn numbers_that_no_record_can_have_are_named() {
    let with = |seq: i64| move |chain: &mut Chain| chain.rows.push(Lying { seq, ..chain.rows[0].clone() });
    check(with(-1), broken(-1, Why::OutOfOrder, 0));
    check(with(i64::MIN), broken(i64::MIN, Why::OutOfOrder, 0));
    check(with(0), broken(0, Why::OutOfOrder, 0));
    check(with(i64::MAX), broken(19, Why::Missing, 16));
}

#[test]
fn a_text_that_is_no_record_cannot_be_read() {
    let garbage = |chain: &mut Chain| {
        chain.rows[5].body = b"\xff{".to_vec();
        chain.rows[5].hash = hash_of(b"\xff{").0.to_vec();
    };
    check(garbage, broken(6, Why::Unreadable, 4));
}

#[test]
fn two_heads_of_ours_for_one_record_are_a_chain_led_on_from_an_older_copy() {
    let other = |chain: &mut Chain| chain.witness[1] = keys().sign(8, Digest([3; 32]), 5, 0);
    check(other, broken(5, Why::HeadMismatch { head: 8 }, 4));
}

#[track_caller]
fn check_found_by(lie: impl FnOnce(&mut FoundBy<'_>), fits: bool) {
    let sealed = Link::START.next(&entry(3), 1_700_000_000_123).unwrap();
    let (call, tool) =
        (entry(3).call_id.unwrap().to_string(), entry(3).tool.unwrap().id.unwrap().to_string());
    let mut found_by = FoundBy {
        time_ms: 1_700_000_000_123,
        kind: "outcome",
        call_id: Some(&call),
        correlation: Some("req-1"),
        tool_id: Some(&tool),
    };
    lie(&mut found_by);
    let mut verifier = Verifier::new(keys().public());
    let row =
        Row { seq: 1, body: sealed.body.as_bytes(), hash: sealed.hash.as_bytes(), found_by: Some(found_by) };
    assert_eq!(verifier.row(&row), fits);
    assert_eq!(verifier.finish().is_proven(), fits);
}

#[test]
fn a_record_filed_under_something_else_is_found() {
    check_found_by(|_| {}, true);
    check_found_by(|found_by| found_by.time_ms += 1, false);
    check_found_by(|found_by| found_by.time_ms = -1, false);
    check_found_by(|found_by| found_by.kind = "intent", false);
    check_found_by(|found_by| found_by.call_id = None, false);
    check_found_by(|found_by| found_by.correlation = Some("req-2"), false);
    check_found_by(|found_by| found_by.tool_id = Some(""), false);
}

#[track_caller]
fn check_says(verdict: Verdict, text: &str) {
    assert_eq!(verdict.to_string(), text);
}

#[test]
fn a_verdict_says_what_was_found() {
    let proven = Verdict::Proven { to: 512, unsigned: 3, from: 1, removed: 0 };
    check_says(proven, "proven to 512, 3 not yet signed");
    check_says(
        Verdict::Proven { to: 512, unsigned: 3, from: 257, removed: 256 },
        "proven to 512, 3 not yet signed; begins at 257, 256 before it were removed by retention",
    );
    check_says(broken(6, Why::HashMismatch, 4), "record 6 was changed: its hash does not match; proven to 4");
    check_says(
        broken(14, Why::Truncated { head: 16 }, 12),
        "records 14 to 16 are gone, though they were signed; proven to 12",
    );
}
