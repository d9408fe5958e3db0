//! Any content comes back as it was, and any bytes at all are read without a panic.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::{named, secret};
use crate::format::{Content, Entry, Unproven};
use crate::key::{Key, Keys};
use crate::moment::Moment;

fn content(values: &BTreeMap<String, (String, u64, u64)>) -> Content {
    let mut content = Content::empty().unwrap();
    content.entries = values
        .iter()
        .map(|(name, (value, created, updated))| Entry {
            name: named(name),
            created: Moment::from_unix(*created),
            updated: Moment::from_unix(*updated),
            value: secret(value),
        })
        .collect();
    content
}

proptest! {
    #[test]
    fn what_is_sealed_comes_back(
        values in prop::collection::btree_map("[A-Z][A-Z0-9_]{0,63}", (any::<String>(), any::<u64>(), any::<u64>()), 0..8)
    ) {
        let (key, path) = (Key::fresh().unwrap(), Path::new("store"));
        let content = content(&values);
        let bytes = content.seal(&key).unwrap();
        let store = Unproven::read(&bytes, path).unwrap().prove(&key, path).unwrap();
        let back = store.content(&key, path).unwrap();
        prop_assert_eq!((back.id, back.generation), (content.id, content.generation));
        let back: BTreeMap<_, _> = back
            .entries
            .iter()
            .map(|entry| {
                let value = entry.value.expose_secret().to_owned();
                (entry.name.to_string(), (value, entry.created.as_unix(), entry.updated.as_unix()))
            })
            .collect();
        prop_assert_eq!(&back, &values);
        prop_assert!(Unproven::read(&bytes, path).unwrap().prove(&Key::fresh().unwrap(), path).is_err());
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), with_magic in any::<bool>()) {
        let mut store = if with_magic { b"BWSECRET\x01".to_vec() } else { Vec::new() };
        store.extend_from_slice(&bytes);
        if let Ok(unproven) = Unproven::read(&store, Path::new("store")) {
            prop_assert!(unproven.prove(&Key::fresh().unwrap(), Path::new("store")).is_err());
        }
        prop_assert!(Keys::from_bytes(&bytes).is_err());
    }

    #[test]
    fn any_change_of_bytes_is_noticed(position in any::<prop::sample::Index>(), change in 1..=u8::MAX) {
        let (key, path) = (Key::fresh().unwrap(), Path::new("store"));
        let values = BTreeMap::from([("A".to_owned(), ("a value".to_owned(), 1, 2))]);
        let mut bytes = content(&values).seal(&key).unwrap();
        *position.get_mut(&mut bytes) ^= change;
        // The id of the key is looked at before, and proven as well.
        let proven = Unproven::read(&bytes, path).and_then(|unproven| unproven.prove(&key, path));
        prop_assert!(proven.is_err());
    }
}
