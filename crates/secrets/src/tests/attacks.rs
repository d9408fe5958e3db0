//! Files that somebody changed: always an error, never a wrong value, never a panic, never written over.

use super::{Machine, THREE, at, bytes_of, named, overwrite, secret};
use crate::SecretsError;

/// Nothing can be read, and trying to write changes nothing.
#[track_caller]
fn check_refused(machine: &Machine, what: &str) -> SecretsError {
    let (store, key) = (bytes_of(machine.store()), bytes_of(machine.key()));
    let Err(error) = machine.values() else { panic!("{what}: it was read") };
    assert!(error.hint().is_some(), "{what}: {error}");
    // A handle from before the attack must not write either.
    let secrets = crate::Secrets::open(machine.folder.path(), crate::Fallback::none());
    assert!(secrets.is_err(), "{what}");
    assert_eq!((bytes_of(machine.store()), bytes_of(machine.key())), (store, key), "{what}");
    error
}

#[test]
fn a_flipped_bit_anywhere_in_the_store_is_noticed() {
    let machine = Machine::with_three();
    let handle = machine.open().unwrap();
    let good = bytes_of(machine.store());
    for position in 0..good.len() {
        let mut bad = good.clone();
        bad[position] ^= 1 << (position % 8);
        overwrite(machine.store(), &bad);
        check_refused(&machine, &format!("byte {position}"));
        assert!(handle.set(&named("NEW"), &secret("value"), at(0)).is_err(), "byte {position}");
        assert!(handle.rotate_key().is_err(), "byte {position}");
        assert_eq!(bytes_of(machine.store()), bad, "byte {position}");
    }
    overwrite(machine.store(), &good);
    machine.check_three();
}

#[test]
fn a_store_that_was_cut_or_grew_is_noticed() {
    let machine = Machine::with_three();
    let good = bytes_of(machine.store());
    for length in 0..good.len() {
        overwrite(machine.store(), &good[..length]);
        let error = check_refused(&machine, &format!("{length} bytes"));
        assert!(matches!(error, SecretsError::Damaged { .. }), "{length}: {error}");
    }
    overwrite(machine.store(), &[good.as_slice(), &[0]].concat());
    check_refused(&machine, "a byte more");
    overwrite(machine.store(), &[good.as_slice(), good.as_slice()].concat());
    check_refused(&machine, "twice");
}

#[test]
fn a_flipped_bit_anywhere_in_the_key_is_told_from_a_wrong_key() {
    let machine = Machine::with_three();
    let good = bytes_of(machine.key());
    for position in 0..good.len() {
        let mut bad = good.clone();
        bad[position] ^= 1 << (position % 8);
        overwrite(machine.key(), &bad);
        let error = check_refused(&machine, &format!("byte {position}"));
        assert!(matches!(error, SecretsError::DamagedKey { .. }), "{position}: {error}");
    }
    for length in 0..good.len() {
        overwrite(machine.key(), &good[..length]);
        check_refused(&machine, &format!("{length} bytes"));
    }
}

/// Where the entries begin, and how long each is: all three values are short, so each is padded to the same.
const HEADER: usize = 8 + 1 + 16 + 16 + 8 + 4;
const AFTER_NAME: usize = 8 + 8 + 24 + 4 + 128 + 16;

fn entries(store: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>, Vec<u8>) {
    let (header, mut rest) = store.split_at(HEADER);
    let mut entries = Vec::new();
    for (name, _) in THREE {
        let (entry, left) = rest.split_at(1 + name.len() + AFTER_NAME);
        entries.push(entry.to_vec());
        rest = left;
    }
    (header.to_vec(), entries, rest.to_vec())
}

#[test]
fn entries_cannot_be_swapped_renamed_left_out_or_brought_in() {
    let machine = Machine::with_three();
    let good = bytes_of(machine.store());
    let (header, parts, seal) = entries(&good);
    let build = |header: &[u8], parts: &[&[u8]]| [header, &parts.concat(), &seal].concat();
    assert_eq!(build(&header, &[&parts[0], &parts[1], &parts[2]]), good);
    let body = |index: usize| &parts[index][1 + THREE[index].0.len()..];
    let name = |index: usize| &parts[index][..=THREE[index].0.len()];
    let fewer = {
        let mut header = header.clone();
        header[HEADER - 1] = 2;
        header
    };
    // The same names and places in another state of the same store, under the same key.
    machine.open().unwrap().set(&named("C"), &secret("newer value"), at(7)).unwrap();
    let (_, newer, _) = entries(&bytes_of(machine.store()));
    for (what, bytes) in [
        ("two swapped", build(&header, &[&parts[1], &parts[0], &parts[2]])),
        ("values swapped under their names", {
            let first = [name(0), body(1)].concat();
            let second = [name(1), body(0)].concat();
            build(&header, &[&first, &second, &parts[2]])
        }),
        ("renamed", {
            let renamed = [b"\x07Z_TOKEN".as_slice(), body(0)].concat();
            build(&header, &[&renamed, &parts[1], &parts[2]])
        }),
        ("the last left out", build(&fewer, &[&parts[0], &parts[1]])),
        ("the first left out", build(&fewer, &[&parts[1], &parts[2]])),
        ("one from a newer state", build(&header, &[&parts[0], &parts[1], &newer[2]])),
        ("one twice", build(&header, &[&parts[0], &parts[0], &parts[2]])),
    ] {
        overwrite(machine.store(), &bytes);
        let error = check_refused(&machine, what);
        assert!(matches!(error, SecretsError::Damaged { .. }), "{what}: {error}");
    }
}

#[test]
fn an_entry_is_tied_to_its_place_even_where_the_list_is_proven() {
    // Whoever has the key could make a list; a defect of ours must still not give one value for another.
    use crate::format::{Content, Entry, Unproven};
    use crate::key::Key;
    use crate::moment::Moment;
    let key = Key::fresh().unwrap();
    let now = Moment::from_unix(5);
    let mut content = Content::empty().unwrap();
    for (name, value) in [("A", "value of a"), ("B", "value of b")] {
        content.entries.push(Entry { name: named(name), created: now, updated: now, value: secret(value) });
    }
    let path = std::path::Path::new("store");
    let prove = |content: &Content| {
        let bytes = content.seal(&key).unwrap();
        Unproven::read(&bytes, path).unwrap().prove(&key, path).unwrap()
    };
    let (store, mut other) = (prove(&content), prove(&content));
    assert!(other.open(&named("A"), &key, path).unwrap().is_some());
    other.put_entry_of(&store, 0, 1);
    assert!(matches!(other.open(&named("B"), &key, path), Err(SecretsError::Damaged { .. })));
    content.generation += 1;
    let mut newer = prove(&content);
    newer.put_entry_of(&store, 0, 0);
    assert!(matches!(newer.open(&named("A"), &key, path), Err(SecretsError::Damaged { .. })));
}

#[test]
fn a_store_of_another_folder_does_not_open() {
    let (machine, other) = (Machine::with_three(), Machine::with_three());
    overwrite(machine.store(), &bytes_of(other.store()));
    let error = check_refused(&machine, "another's store");
    assert!(matches!(error, SecretsError::WrongKey { .. }), "{error}");
}

#[test]
fn an_old_store_does_not_open_with_a_newer_key() {
    let machine = Machine::with_three();
    let old = bytes_of(machine.store());
    machine.open().unwrap().rotate_key().unwrap();
    machine.check_three();
    overwrite(machine.store(), &old);
    let error = check_refused(&machine, "rolled back");
    assert!(matches!(error, SecretsError::WrongKey { .. }), "{error}");
}

#[test]
fn a_store_without_its_key_is_never_written_over() {
    let machine = Machine::with_three();
    let handle = machine.open().unwrap();
    let store = bytes_of(machine.store());
    std::fs::remove_file(machine.key()).unwrap();
    for error in [
        machine.values().unwrap_err(),
        handle.set(&named("A_TOKEN"), &secret("new"), at(0)).unwrap_err(),
        handle.remove(&named("A_TOKEN")).unwrap_err(),
        handle.rotate_key().unwrap_err(),
    ] {
        assert!(matches!(error, SecretsError::MissingKey { .. }), "{error}");
        assert!(error.hint().unwrap().contains("backup"), "{error}");
    }
    assert_eq!(bytes_of(machine.store()), store);
    assert!(!machine.key().exists(), "no new key was made");
}

#[test]
fn a_key_without_a_store_is_used_again() {
    let machine = Machine::with_three();
    let key = bytes_of(machine.key());
    std::fs::remove_file(machine.store()).unwrap();
    let secrets = machine.open().unwrap();
    assert!(secrets.list().unwrap().is_empty());
    secrets.set(&named("A"), &secret("again"), at(0)).unwrap();
    assert_eq!(bytes_of(machine.key()), key);
    assert_eq!(machine.values().unwrap().len(), 1);
}

#[test]
fn a_later_format_is_left_alone() {
    let machine = Machine::with_three();
    let mut bytes = bytes_of(machine.store());
    bytes[8] = 2;
    overwrite(machine.store(), &bytes);
    let error = check_refused(&machine, "format 2");
    assert!(matches!(error, SecretsError::NewerFormat { version: 2, .. }), "{error}");
}
