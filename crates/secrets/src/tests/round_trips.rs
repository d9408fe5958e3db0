//! What was set is what is got, and what cannot be set is told.

use super::{Machine, at, named, secret};
use crate::{Change, Fallback, Listed, Moment, SecretName, Secrets, SecretsError, Source, ValueError};

#[test]
fn what_was_set_is_got_by_everybody_who_opens_the_folder() {
    Machine::with_three().check_three();
}

#[test]
fn a_folder_without_secrets_is_empty_and_stays_untouched() {
    let machine = Machine::new();
    let secrets = machine.open().unwrap();
    assert!(secrets.list().unwrap().is_empty());
    assert!(secrets.get(&named("X")).unwrap().is_none());
    assert!(matches!(secrets.remove(&named("X")), Err(SecretsError::NotThere { .. })));
    assert!(matches!(secrets.rotate(&named("X"), &secret("v"), at(0)), Err(SecretsError::NotThere { .. })));
    assert!(matches!(secrets.rotate_key(), Err(SecretsError::NoStore)));
    assert_eq!(machine.folder.path().read_dir().unwrap().count(), 0);
    let nowhere = Secrets::open(&machine.folder.path().join("not/there"), Fallback::none()).unwrap();
    assert!(nowhere.list().unwrap().is_empty());
    nowhere.set(&named("X"), &secret("made on demand"), at(0)).unwrap();
    assert!(nowhere.get(&named("X")).unwrap().is_some());
}

#[test]
fn setting_says_whether_it_replaced_and_keeps_the_time_of_creation() {
    let secrets_of = Machine::new();
    let secrets = secrets_of.open().unwrap();
    let name = named("T");
    assert_eq!(secrets.set(&name, &secret("first value"), at(1)).unwrap(), Change::Added);
    assert_eq!(secrets.set(&name, &secret("second value"), at(2)).unwrap(), Change::Replaced);
    secrets.rotate(&name, &secret("third value"), at(3)).unwrap();
    let source = Source::Store { created: at(1).into(), updated: at(3).into() };
    assert_eq!(secrets.list().unwrap(), [Listed { name: name.clone(), source }]);
    assert_eq!(secrets.get(&name).unwrap().unwrap().expose_secret(), "third value");
    let same = secrets.rotate(&name, &secret("third value"), at(4));
    assert!(matches!(same, Err(SecretsError::Unchanged { .. })), "{same:?}");
    secrets.remove(&name).unwrap();
    assert!(secrets.get(&name).unwrap().is_none());
    assert!(matches!(secrets.remove(&name), Err(SecretsError::NotThere { .. })));
}

#[test]
fn every_change_has_a_version_of_its_own_and_reading_has_none() {
    let machine = Machine::new();
    let secrets = machine.open().unwrap();
    let mut seen = vec![secrets.version().unwrap()];
    let mut check = |what: &str| {
        let version = secrets.version().unwrap();
        assert!(!seen.contains(&version), "{what}");
        assert_eq!(version, machine.open().unwrap().version().unwrap(), "{what}");
        seen.push(version);
    };
    secrets.set(&named("A"), &secret("some value"), at(1)).unwrap();
    check("set");
    secrets.set(&named("A"), &secret("some value"), at(1)).unwrap();
    check("set to the same");
    secrets.rotate_key().unwrap();
    check("another key");
    secrets.remove(&named("A")).unwrap();
    check("removed");
}

#[test]
fn a_snapshot_does_not_move() {
    let machine = Machine::with_three();
    let secrets = machine.open().unwrap();
    let snapshot = secrets.snapshot().unwrap();
    secrets.set(&named("C"), &secret("another"), at(9)).unwrap();
    secrets.rotate_key().unwrap();
    assert_eq!(snapshot.get(&named("C")).unwrap().unwrap().expose_secret(), "pässwörd☂");
    assert_ne!(snapshot.version(), secrets.version().unwrap());
}

#[test]
fn values_are_bounded() {
    let machine = Machine::new();
    let secrets = machine.open().unwrap();
    let check = |value: String, expected: Result<(), ValueError>| match (
        secrets.set(&named("V"), &secret(&value), at(0)),
        expected,
    ) {
        (Ok(_), Ok(())) => {
            assert_eq!(secrets.get(&named("V")).unwrap().unwrap().expose_secret(), value);
        }
        (Err(SecretsError::Value(problem)), Err(expected)) => assert_eq!(problem, expected),
        (other, expected) => panic!("{other:?} instead of {expected:?}"),
    };
    check(String::new(), Err(ValueError::Empty));
    check("a\0b".to_owned(), Err(ValueError::Nul));
    check("x".repeat(64 * 1024 + 1), Err(ValueError::TooLarge));
    check("x".repeat(64 * 1024), Ok(()));
    check("x".to_owned(), Ok(()));
    check("\n".to_owned(), Ok(()));
    check("\u{7f}\u{1b}[2J\u{10ffff}".to_owned(), Ok(()));
    for length in 118..132 {
        check("y".repeat(length), Ok(()));
    }
}

#[test]
fn names_are_in_one_case_and_bounded() {
    for name in ["A", "GITHUB_TOKEN", "A1", "A_", &"A".repeat(64)] {
        assert_eq!(SecretName::parse(name).unwrap().as_str(), name);
    }
    let long = "A".repeat(65);
    for name in
        ["", "a", "1A", "_A", "A-B", "A B", "Ä", "A\n", "A\0", "${A}", "A=B", "../A", long.as_str(), "А"]
    {
        assert!(SecretName::parse(name).is_err(), "{name}");
    }
}

#[test]
fn the_environment_stands_in_for_what_the_store_lacks() {
    let machine = Machine::with_three();
    let values = || [(named("C"), secret("from outside")), (named("D"), secret("only outside"))];
    let open = || Secrets::open(machine.folder.path(), Fallback::from_values(values()).unwrap()).unwrap();
    let secrets = open();
    assert_eq!(secrets.get(&named("C")).unwrap().unwrap().expose_secret(), "pässwörd☂");
    assert_eq!(secrets.get(&named("D")).unwrap().unwrap().expose_secret(), "only outside");
    let listed = secrets.list().unwrap();
    assert_eq!(listed.last().unwrap(), &Listed { name: named("D"), source: Source::Environment });
    assert_eq!(listed.len(), 4);
    assert!(matches!(secrets.remove(&named("D")), Err(SecretsError::NotThere { .. })), "read-only");
    secrets.remove(&named("C")).unwrap();
    assert_eq!(secrets.get(&named("C")).unwrap().unwrap().expose_secret(), "from outside");
    assert_ne!(secrets.version().unwrap(), open().version().unwrap(), "other values may stand in there");
}

#[test]
fn a_variable_that_cannot_be_a_secret_is_told_by_name() {
    let error = Fallback::from_values([(named("EMPTY"), secret(""))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the environment variable EMPTY cannot stand in for a secret: the value is empty"
    );
    let unset = Fallback::of_this_process([&named("BAILIWICK_NOT_SET_ANYWHERE")]).unwrap();
    assert!(unset.get(&named("BAILIWICK_NOT_SET_ANYWHERE")).is_none());
}

#[test]
fn a_store_is_full_at_a_thousand() {
    use crate::format::{Content, Entry, MOST_ENTRIES};
    use crate::key::{Key, Keys};
    let machine = Machine::new();
    machine.open().unwrap().set(&named("A"), &secret("v"), at(0)).unwrap();
    let key = Key::fresh().unwrap();
    let mut content = Content::empty().unwrap();
    for number in 0..MOST_ENTRIES {
        let (name, now) = (named(&format!("N{number:04}")), Moment::from_unix(1));
        content.entries.push(Entry { name, created: now, updated: now, value: secret("v") });
    }
    super::overwrite(machine.store(), &content.seal(&key).unwrap());
    super::overwrite(machine.key(), &Keys::one(key).to_bytes());
    let secrets = machine.open().unwrap();
    assert_eq!(secrets.list().unwrap().len(), MOST_ENTRIES);
    let full = secrets.set(&named("ONE_MORE"), &secret("v"), at(0));
    assert!(matches!(full, Err(SecretsError::TooMany { most: 1000 })), "{full:?}");
    secrets.set(&named("N0007"), &secret("w"), at(0)).unwrap();
}

#[test]
fn whoever_opens_secrets_is_not_dumpable() {
    let machine = Machine::new();
    machine.open().unwrap();
    assert!(bailiwick_sys::privileges::is_hidden());
    let core = rustix::process::getrlimit(rustix::process::Resource::Core);
    assert_eq!((core.current, core.maximum), (Some(0), Some(0)));
}

#[test]
fn times_are_shown_in_utc() {
    for (seconds, shown) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_799, "2000-02-29T23:59:59Z"),
        (1_735_689_599, "2024-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (4_107_542_399, "2100-02-28T23:59:59Z"),
    ] {
        assert_eq!(Moment::from_unix(seconds).to_string(), shown);
    }
    assert!(Moment::from_unix(u64::MAX).to_string().ends_with('Z'));
}
