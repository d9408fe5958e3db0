//! Whatever single thing is changed in what was signed, it is found, and not behind where it is.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::stage::{Chain, Lying};
use crate::{Verdict, hash_of};

/// One thing done to a chain as it lies.
#[derive(Debug, Clone)]
enum Hand {
    FlipBody { row: usize, byte: usize, bit: u8 },
    FlipHash { row: usize, byte: usize, bit: u8 },
    Rehash { row: usize, byte: usize, bit: u8 },
    Remove { row: usize },
    SwapContents { row: usize, other: usize },
    Renumber { row: usize, seq: i64 },
    Copy { row: usize, over: usize },
    CutBody { row: usize, to: usize },
    Truncate { to: usize },
    FlipHead { head: usize, byte: usize, bit: u8 },
    RemoveHead { head: usize },
    CopyHead { head: usize, over: usize },
}

fn hands() -> impl Strategy<Value = Hand> {
    let (row, byte, bit) = (0..30_usize, 0..10_000_usize, 0..8_u8);
    prop_oneof![
        (row.clone(), byte.clone(), bit.clone()).prop_map(|(row, byte, bit)| Hand::FlipBody {
            row,
            byte,
            bit
        }),
        (row.clone(), byte.clone(), bit.clone()).prop_map(|(row, byte, bit)| Hand::FlipHash {
            row,
            byte,
            bit
        }),
        (row.clone(), byte.clone(), bit.clone()).prop_map(|(row, byte, bit)| Hand::Rehash { row, byte, bit }),
        row.clone().prop_map(|row| Hand::Remove { row }),
        (row.clone(), row.clone()).prop_map(|(row, other)| Hand::SwapContents { row, other }),
        (row.clone(), prop_oneof![any::<i64>(), -3..40_i64])
            .prop_map(|(row, seq)| Hand::Renumber { row, seq }),
        (row.clone(), row.clone()).prop_map(|(row, over)| Hand::Copy { row, over }),
        (row.clone(), 0..400_usize).prop_map(|(row, to)| Hand::CutBody { row, to }),
        row.prop_map(|to| Hand::Truncate { to }),
        (0..7_usize, byte, bit).prop_map(|(head, byte, bit)| Hand::FlipHead { head, byte, bit }),
        (0..7_usize).prop_map(|head| Hand::RemoveHead { head }),
        (0..7_usize, 0..7_usize).prop_map(|(head, over)| Hand::CopyHead { head, over }),
    ]
}

fn flip(bytes: &mut [u8], byte: usize, bit: u8) {
    let length = bytes.len();
    bytes[byte % length] ^= 1 << bit;
}

fn lay(hand: &Hand, chain: &mut Chain) {
    match *hand {
        Hand::FlipBody { row, byte, bit } => flip(&mut chain.rows[row].body, byte, bit),
        Hand::FlipHash { row, byte, bit } => flip(&mut chain.rows[row].hash, byte, bit),
        Hand::Rehash { row, byte, bit } => {
            flip(&mut chain.rows[row].body, byte, bit);
            chain.rows[row].hash = hash_of(&chain.rows[row].body).0.to_vec();
        }
        Hand::Remove { row } => drop(chain.rows.remove(row)),
        Hand::SwapContents { row, other } => {
            chain.rows.swap(row, other);
            let seq = chain.rows[row].seq;
            chain.rows[row].seq = chain.rows[other].seq;
            chain.rows[other].seq = seq;
        }
        Hand::Renumber { row, seq } => {
            // A table has no number twice: the one that had it is replaced.
            chain.rows[row].seq = seq;
            let kept = chain.rows[row].clone();
            chain.rows.retain(|lying| lying.seq != seq);
            chain.rows.push(kept);
        }
        Hand::Copy { row, over } => {
            let seq = chain.rows[over].seq;
            chain.rows[over] = Lying { seq, ..chain.rows[row].clone() };
        }
        Hand::CutBody { row, to } => chain.rows[row].body.truncate(to),
        Hand::Truncate { to } => chain.rows.truncate(to),
        Hand::FlipHead { head, byte, bit } => {
            let head = &mut chain.heads[head];
            match byte % 5 {
                0 => head.seq ^= 1 << bit,
                1 => flip(&mut head.hash.0, byte, bit),
                2 => head.time_ms ^= 1 << bit,
                3 => head.records_before ^= 1 << bit,
                _ => flip(&mut head.signature.0, byte, bit),
            }
        }
        Hand::RemoveHead { head } => drop(chain.heads.remove(head)),
        Hand::CopyHead { head, over } => chain.heads[over] = chain.heads[head],
    }
}

/// The first of the signed records that is not as it was.
fn first_changed(before: &Chain, after: &Chain) -> Option<i64> {
    let mut rows = after.rows.clone();
    rows.sort_by_key(|row| row.seq);
    let signed = &before.rows[..28];
    let different = signed.iter().enumerate().find(|(index, row)| rows.get(*index) != Some(row));
    different.map(|(_, row)| row.seq)
}

/// Made once: signing is what takes the time.
static CHAIN: LazyLock<Chain> = LazyLock::new(|| Chain::of(30));

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_of_what_was_signed_is_found_at_it_or_before(hand in hands(), with_witness in any::<bool>()) {
        let mut before = CHAIN.clone();
        if !with_witness {
            before.witness.clear();
        }
        let mut after = before.clone();
        lay(&hand, &mut after);
        let verdict = after.verify();
        match (first_changed(&before, &after), verdict) {
            (Some(changed), Verdict::Broken { first_bad, proven_to, .. }) => {
                prop_assert!(first_bad <= changed, "{verdict:?} for {changed}");
                prop_assert!(i64::try_from(proven_to).unwrap() < first_bad.max(1));
            }
            (Some(changed), Verdict::Proven { .. }) => prop_assert!(false, "{changed} was not found: {verdict:?}"),
            // Only what was not signed changed, or a head.
            (None, _) => {}
        }
        let heads_changed = after.heads.iter().any(|head| !before.heads.contains(head));
        prop_assert!(!heads_changed || !verdict.is_proven(), "a head that is not ours was believed");
    }
}
