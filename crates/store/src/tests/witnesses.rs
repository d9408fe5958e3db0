//! Heads reach their witnesses, and a witness that cannot be written is told.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bailiwick_audit::{Verdict, Why, read_head_line};

use super::stage::{Stage, append, entry, on, options, verify};
use crate::{Durability, Options, Witness};

fn lines(text: &[u8]) -> Vec<u64> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| read_head_line(line).unwrap().seq).collect()
}

fn read(path: &std::path::Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = std::fs::OpenOptions::new().read(true).open(path).unwrap();
    std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
    bytes
}

#[test]
fn every_witness_hears_of_every_head() {
    let (stage, outside) = (Stage::new(), tempfile::tempdir().unwrap());
    let file = outside.path().join("heads");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&heard);
    let custom = Witness::Custom(Arc::new(move |head| list.lock().unwrap().push(head.seq)));
    let witnesses = vec![Witness::File(file.clone()), custom];
    on(async {
        let store = stage.open_with(Options { witnesses, ..options() });
        append(&store, 0..20).await;
        store.close().await.unwrap();
        assert_eq!(store.troubles(), crate::Troubles::default());
    });
    assert_eq!(lines(&read(&stage.path("audit.heads"))), [8, 16, 20]);
    assert_eq!(lines(&read(&file)), [8, 16, 20]);
    assert_eq!(*heard.lock().unwrap(), [8, 16, 20]);
}

#[test]
fn an_outside_witness_tells_what_the_folder_cannot() {
    let (stage, outside) = (Stage::new(), tempfile::tempdir().unwrap());
    let witnesses = vec![Witness::File(outside.path().join("heads"))];
    let options = Options { witnesses, ..options() };
    on(async {
        let store = stage.open_with(options.clone());
        append(&store, 0..20).await;
        store.close().await.unwrap();
    });
    stage.edit("DELETE FROM audit WHERE seq > 8; DELETE FROM heads WHERE seq > 8");
    std::fs::remove_file(stage.path("audit.heads")).unwrap();
    let gone = Verdict::Broken { first_bad: 9, why: Why::Truncated { head: 20 }, proven_to: 8 };
    assert_eq!(on(verify(&stage.open_with(options))), gone);
}

#[test]
fn a_witness_that_cannot_be_written_is_told_and_stops_nothing() {
    let stage = Stage::new();
    let nowhere = stage.folder.join("no such folder/heads");
    let panics = Witness::Custom(Arc::new(|_| panic!("a witness that panics")));
    let witnesses = vec![Witness::File(nowhere), panics];
    on(async {
        let store = stage.open_with(Options { witnesses, ..options() });
        append(&store, 0..8).await;
        store.close().await.unwrap();
        let troubles = store.troubles();
        assert_eq!(troubles.witnesses_missed, 2);
        assert!(troubles.last.unwrap().contains("panicked"));
    });
    assert_eq!(lines(&read(&stage.path("audit.heads"))), [8]);
}

#[test]
fn a_record_that_waits_long_enough_gets_a_head_though_no_other_comes() {
    let stage = Stage::new();
    let (tell, told) = channel();
    let witness = Witness::Custom(Arc::new(move |head| tell.send(head.seq).unwrap()));
    let options = Options { head_after: Duration::from_millis(1), witnesses: vec![witness], ..options() };
    let store = stage.open_with(options);
    on(store.write(Durability::Process, |tx| tx.append(&entry(1)))).unwrap();
    assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(1));
}

#[test]
fn a_store_that_is_dropped_signs_its_end_too() {
    let stage = Stage::new();
    let store = stage.open();
    on(append(&store, 0..3));
    drop(store);
    assert_eq!(lines(&read(&stage.path("audit.heads"))), [3]);
    assert_eq!(stage.number("SELECT max(seq) FROM heads"), 3);
}
