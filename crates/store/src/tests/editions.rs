//! The edition of the tools changes with every change of a tool or by others, and with nothing else.

use super::stage::{Stage, append, entry, on, put, tool};
use crate::{Durability, Edition, Store, StoreError};

/// The edition as a transaction sees it.
fn now(store: &Store) -> Edition {
    on(store.write(Durability::Process, |tx| -> Result<_, StoreError> { tx.edition() })).unwrap()
}

#[test]
fn records_and_reads_leave_the_edition_as_it_is() {
    let stage = Stage::new();
    let store = stage.open();
    on(put(&store, tool(1))).unwrap();
    let before = now(&store);
    on(append(&store, 0..40));
    on(store.read(|view| view.tool(tool(1).id))).unwrap();
    on(store.write(Durability::Machine, |tx| tx.append(&entry(50)))).unwrap();
    assert_eq!(now(&store), before);
    assert_eq!(store.edition(), before);
}

#[test]
fn a_change_of_a_tool_is_another_edition_at_once_and_when_it_is_committed() {
    let stage = Stage::new();
    let store = stage.open();
    let before = now(&store);
    let during = on(store.write(Durability::Process, |tx| -> Result<_, StoreError> {
        tx.put_tool(&tool(1))?;
        tx.edition()
    }))
    .unwrap();
    let after = now(&store);
    assert!(before != during && during != after && before != after);
    on(store.write(Durability::Process, |tx| tx.remove_tool(tool(1).id))).unwrap();
    assert_ne!(now(&store), after);
}

#[test]
fn what_others_write_is_another_edition() {
    let stage = Stage::new();
    let store = stage.open();
    on(put(&store, tool(1))).unwrap();
    let before = now(&store);
    stage.edit("UPDATE tools SET title = 'Harmless'");
    // Nobody has looked yet.
    assert_eq!(store.edition(), before);
    assert_ne!(now(&store), before);
    assert_ne!(store.edition(), before);
}
