//! Keys come back as they were put, and say so when somebody edited them.

use bailiwick_audit::hash_of;
use bailiwick_types::KeyId;

use super::stage::{Stage, on};
use crate::{Durability, KeyRow, Store, StoreError, View};

fn key(number: u64) -> KeyRow {
    KeyRow {
        id: KeyId::from_parts(number, &[5; 10]),
        name: format!("key-{number}"),
        scopes: "call approve".to_owned(),
        hash: hash_of(&number.to_be_bytes()),
        created_ms: 10,
        expires_ms: Some(99),
        revoked_ms: None,
        used_ms: Some(20),
        per_second: None,
        at_once: Some(3),
        dialogue: false,
        is_ours: true,
    }
}

fn put(store: &Store, row: KeyRow) {
    on(store.write(Durability::Process, move |tx| tx.put_key(&row))).unwrap();
}

fn all(view: &View<'_>) -> Result<Vec<KeyRow>, StoreError> {
    view.keys()
}

#[test]
fn a_key_comes_back_as_it_was_put_also_when_it_is_put_again() {
    let stage = Stage::new();
    let store = stage.open();
    put(&store, key(2));
    put(&store, key(1));
    let changed = KeyRow { revoked_ms: Some(30), used_ms: None, dialogue: true, ..key(2) };
    put(&store, changed.clone());
    assert_eq!(on(store.read(all)).unwrap(), vec![key(1), changed]);
    assert_eq!(on(store.read(|view| view.key(key(1).id))).unwrap(), Some(key(1)));
    assert_eq!(on(store.read(|view| view.key(key(3).id))).unwrap(), None);
}

#[test]
fn an_edited_key_is_not_ours() {
    for column in [
        "id = 'none'",
        "name = 'other'",
        "scopes = 'call approve operate'",
        "hash = (SELECT hash FROM keys WHERE name = 'key-2')",
        "hash = x'00'",
        "created_ms = -1",
        "expires_ms = NULL",
        "expires_ms = 100000",
        "revoked_ms = 1",
        "used_ms = 0",
        "per_second = 0",
        "at_once = NULL",
        "dialogue = 1",
        // What one column says moves to the next.
        "expires_ms = 20, used_ms = 99",
        "seal = (SELECT seal FROM keys WHERE name = 'key-2')",
        "seal = x''",
    ] {
        let stage = Stage::new();
        let store = stage.open();
        put(&store, key(1));
        put(&store, key(2));
        on(store.close()).unwrap();
        drop(store);
        stage.edit(&format!("UPDATE keys SET {column} WHERE name = 'key-1'"));
        let store = stage.open();
        let rows = on(store.read(all)).unwrap();
        let ours: Vec<&KeyRow> = rows.iter().filter(|row| row.is_ours).collect();
        assert_eq!((rows.len(), ours), (2, vec![&key(2)]), "{column}");
    }
}
