//! A change of key that stops at any step leaves a store that opens.

use super::{Machine, at, bytes_of, named, overwrite, secret};
use crate::SecretsError;
use crate::key::Keys;
use crate::rotate::Stage;

fn keys(machine: &Machine) -> usize {
    Keys::from_bytes(&bytes_of(machine.key())).unwrap().count()
}

fn stop_after(machine: &Machine, last: Stage) {
    let stopped = machine
        .open()
        .unwrap()
        .rotate_key_watched(|stage| if stage == last { Err(SecretsError::Seal) } else { Ok(()) });
    assert!(matches!(stopped, Err(SecretsError::Seal)), "{last:?}: {stopped:?}");
}

#[test]
fn a_new_key_opens_everything_and_the_old_one_nothing() {
    let machine = Machine::with_three();
    let (store, key) = (bytes_of(machine.store()), bytes_of(machine.key()));
    machine.open().unwrap().rotate_key().unwrap();
    machine.check_three();
    assert_ne!(bytes_of(machine.store()), store);
    assert_ne!(bytes_of(machine.key()), key);
    assert_eq!(keys(&machine), 1);
    overwrite(machine.key(), &key);
    assert!(matches!(machine.values(), Err(SecretsError::WrongKey { .. })));
}

#[test]
fn stopped_after_any_step_the_store_still_opens_and_can_be_changed() {
    for (stage, left) in [(Stage::BothKeys, 2), (Stage::StoreWritten, 2), (Stage::OldKeyForgotten, 1)] {
        let machine = Machine::with_three();
        stop_after(&machine, stage);
        assert_eq!(keys(&machine), left, "{stage:?}");
        machine.check_three();
        // The next change goes through, and drops the key that was left over.
        machine.open().unwrap().set(&named("D"), &secret("one more"), at(5)).unwrap();
        assert_eq!(keys(&machine), 1, "{stage:?}");
        machine.open().unwrap().remove(&named("D")).unwrap();
        machine.check_three();

        let machine = Machine::with_three();
        stop_after(&machine, stage);
        machine.open().unwrap().rotate_key().unwrap();
        assert_eq!(keys(&machine), 1, "{stage:?}");
        machine.check_three();
    }
}

#[test]
fn stopped_again_and_again_there_are_never_more_than_two_keys() {
    let machine = Machine::with_three();
    for stage in [Stage::BothKeys, Stage::BothKeys, Stage::StoreWritten, Stage::StoreWritten, Stage::BothKeys]
    {
        stop_after(&machine, stage);
        assert_eq!(keys(&machine), 2);
        machine.check_three();
    }
}

#[test]
fn what_a_crash_left_of_a_file_on_the_way_is_in_nobodys_way() {
    let machine = Machine::with_three();
    for left in [machine.store().with_extension("new"), machine.key().with_extension("key.new")] {
        overwrite(left, b"half a fi");
    }
    machine.check_three();
    machine.open().unwrap().rotate_key().unwrap();
    machine.open().unwrap().set(&named("A_TOKEN"), &secret("ghp_16C7e42F292c6912E7"), at(5)).unwrap();
    machine.check_three();
    assert!(!machine.store().with_extension("new").exists());
}

#[test]
fn a_crash_before_the_first_store_leaves_a_key_that_is_used() {
    let machine = Machine::new();
    machine.open().unwrap().set(&named("A"), &secret("value"), at(0)).unwrap();
    let key = bytes_of(machine.key());
    std::fs::remove_file(machine.store()).unwrap();
    assert!(matches!(machine.open().unwrap().rotate_key(), Err(SecretsError::NoStore)));
    machine.open().unwrap().set(&named("A"), &secret("value"), at(0)).unwrap();
    assert_eq!(bytes_of(machine.key()), key);
}
