use std::time::Duration;

use bailiwick_sys::capacity::Disk;
use tokio::time::Instant;

use super::{Account, Accounts, MOST_ACCOUNTS, Terms};

const MIB: u64 = 1 << 20;

#[test]
fn the_reserve_and_the_budget_follow_the_disk_unless_the_operator_says_otherwise() {
    for (total, free, said, reserve, least, hourly) in [
        // A small disk, a usual one, a large one, and the operator's word.
        (32 * MIB, 32 * MIB, (None, None), 4 * MIB, MIB / 2, 2 * MIB),
        (1000 * MIB, 160 * MIB, (None, None), 50 * MIB, 50 * MIB / 8, 10 * MIB),
        (1 << 40, 1 << 30, (None, None), 256 * MIB, 16 * MIB, 64 * MIB),
        (1 << 40, 1 << 30, (Some(8 * MIB), Some(MIB)), 8 * MIB, MIB, MIB),
        // A full disk still has a budget: the reserve refuses before.
        (32 * MIB, 0, (None, None), 4 * MIB, MIB / 2, MIB),
    ] {
        let terms = Terms::of(Disk { free, total }, said.0, said.1);
        assert_eq!(terms, Terms { reserve, least, hourly }, "{total} {free} {said:?}");
    }
}

#[test]
fn what_was_added_is_forgiven_within_an_hour_and_not_before() {
    let start = Instant::now();
    let mut account = Account { bytes: 1000, at: Some(start) };
    assert_eq!(account.now(1000, start), 1000);
    assert_eq!(account.now(1000, start + Duration::from_mins(15)), 750);
    assert_eq!(account.now(1000, start + Duration::from_hours(1)), 0);
}

#[test]
fn many_looks_forgive_no_less_than_one() {
    let start = Instant::now();
    let mut account = Account { bytes: 1000, at: Some(start) };
    // A thousandth of what forgives one byte.
    for step in 0..=36_000_u64 {
        account.now(1000, start + Duration::from_millis(step * 100));
    }
    assert_eq!(account.now(1000, start + Duration::from_hours(1)), 0);
}

#[test]
fn callers_beyond_the_bound_share_one_account() {
    let now = Instant::now();
    let mut accounts = Accounts::default();
    for number in 0..MOST_ACCOUNTS {
        let name = accounts.name(&format!("key {number}"), 10, now);
        accounts.by_caller.insert(name, Account { bytes: 5, at: Some(now) });
    }
    assert_eq!(accounts.name("key new", 10, now), "");
    assert_eq!(accounts.name("key 7", 10, now), "key 7", "an account that is there stays its own");
    let later = now + Duration::from_hours(1);
    assert_eq!(accounts.name("key new", 10, later), "key new", "forgiven accounts make room");
}
