use bailiwick_core::Rank;

use super::{Bodies, BodyCharge};

const KIB: u64 = 1024;

fn charge(bodies: &std::sync::Arc<Bodies>, rank: Rank, caller: &str) -> BodyCharge {
    let charge = bodies.charge();
    charge.is_of(rank, caller.to_owned());
    charge
}

#[track_caller]
fn refused(charge: &BodyCharge, bytes: u64, whose: &str) {
    let told = charge.add(bytes).expect_err("it was taken").told();
    assert!(told.contains(&format!("bodies of {whose} have")), "{told}");
}

#[test]
fn each_rank_leaves_room_for_those_above_it() {
    let bodies = Bodies::new(64 * KIB, KIB);
    let callers: Vec<BodyCharge> =
        (0..3).map(|number| charge(&bodies, Rank::Keyless, &format!("address {number}"))).collect();
    callers[0].add(16 * KIB).unwrap();
    refused(&callers[0], 1, "this caller");
    callers[1].add(16 * KIB).unwrap();
    refused(&callers[2], 1, "callers without a key");
    let keys: Vec<BodyCharge> =
        (0..3).map(|number| charge(&bodies, Rank::Keyed, &format!("key {number}"))).collect();
    keys[0].add(16 * KIB).unwrap();
    keys[1].add(8 * KIB).unwrap();
    refused(&keys[2], 1, "all callers but the operator");
    let operator = charge(&bodies, Rank::Operator, "operator");
    operator.add(8 * KIB).unwrap();
    refused(&operator, 1, "all callers");
    drop((callers, keys, operator));
    let taken = bodies.taken.lock().unwrap();
    assert_eq!((taken.all, taken.keyless, taken.others, taken.by_caller.len()), (0, 0, 0, 0));
}

#[test]
fn one_body_of_the_largest_size_always_fits_a_caller() {
    let bodies = Bodies::new(16 * KIB, 8 * KIB);
    charge(&bodies, Rank::Keyless, "a").add(8 * KIB).unwrap();
    charge(&bodies, Rank::Keyed, "b").add(8 * KIB).unwrap();
}

#[test]
fn what_was_refused_is_not_counted() {
    let bodies = Bodies::new(16 * KIB, KIB);
    let body = charge(&bodies, Rank::Keyless, "a");
    body.add(3 * KIB).unwrap();
    refused(&body, 2 * KIB, "this caller");
    body.add(KIB).unwrap();
}
