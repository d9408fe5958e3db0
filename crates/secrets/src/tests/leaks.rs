//! No value, in clear or in a simple disguise, in the files, in a list, an error or a `Debug` output.

use std::fmt::Write as _;

use bailiwick_redact::Redactor;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::{Machine, THREE, bytes_of, named, overwrite, secret};
use crate::{Fallback, Secrets};

/// The texts that must not be found, for each value and each of its lines.
fn forbidden() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for text in THREE.iter().flat_map(|(_, value)| value.lines().chain([*value])) {
        let hex: String = text.bytes().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        all.extend([text.to_owned(), hex.to_uppercase(), hex].map(String::into_bytes));
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            // The last character may mix with what follows.
            let mut encoded = engine.encode(text).into_bytes();
            encoded.pop();
            all.push(encoded);
        }
        all.push(text.bytes().rev().collect());
    }
    all
}

#[track_caller]
fn check(what: &str, bytes: &[u8]) {
    for text in forbidden() {
        let found = bytes.windows(text.len()).any(|window| window == text);
        assert!(!found, "{what} holds a value");
    }
}

#[test]
fn the_files_hold_no_value() {
    let machine = Machine::with_three();
    check("the store", &bytes_of(machine.store()));
    check("the key", &bytes_of(machine.key()));
    machine.open().unwrap().rotate_key().unwrap();
    check("the store", &bytes_of(machine.store()));
    assert_eq!(
        machine.store().parent().unwrap().read_dir().unwrap().count(),
        1,
        "nothing else is left there"
    );
}

#[test]
fn the_store_does_not_tell_how_long_a_value_is() {
    let sizes: Vec<usize> = [1, 20, 100]
        .map(|length| {
            let machine = Machine::new();
            machine.open().unwrap().set(&named("V"), &secret(&"v".repeat(length)), super::at(0)).unwrap();
            bytes_of(machine.store()).len()
        })
        .to_vec();
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
}

#[test]
fn nothing_that_can_be_printed_holds_a_value() {
    let machine = Machine::with_three();
    let values = THREE.iter().map(|(name, value)| (named(&format!("{name}_ENV")), secret(value)));
    let secrets = Secrets::open(machine.folder.path(), Fallback::from_values(values).unwrap()).unwrap();
    let mut printed = format!("{secrets:?} {:?} {:?}", secrets.list().unwrap(), secrets.version().unwrap());
    let _ = write!(printed, "{:?} {:?}", secrets.snapshot().unwrap(), secrets.get(&named("C")).unwrap());
    let (store, key) = (bytes_of(machine.store()), bytes_of(machine.key()));
    let mut fail = || {
        for (name, value) in THREE {
            let errors = [
                secrets.get(&named(name)).err(),
                secrets.rotate(&named(name), &secret(value), super::at(0)).err(),
                secrets.set(&named(name), &secret(&format!("{value}\0")), super::at(0)).err(),
                secrets.rotate_key().err(),
            ];
            for error in errors.into_iter().flatten() {
                let _ = write!(printed, "{error} {error:?} {:?}", error.hint());
            }
        }
    };
    for position in (0..store.len()).step_by(7) {
        let mut bad = store.clone();
        bad[position] ^= 0x40;
        overwrite(machine.store(), &bad);
        fail();
    }
    overwrite(machine.store(), &store);
    overwrite(machine.key(), &key[1..]);
    fail();
    overwrite(machine.key(), &key);
    let unchanged = secrets.rotate(&named("C"), &secret("pässwörd☂"), super::at(0)).unwrap_err();
    let _ = write!(printed, "{unchanged} {unchanged:?}");
    check("what was printed", printed.as_bytes());
    // And by the product's own measure.
    let values: Vec<_> = THREE.iter().map(|(_, value)| secret(value)).collect();
    let redactor = Redactor::new(&values).unwrap();
    assert_eq!(redactor.redact(&printed), printed);
}
