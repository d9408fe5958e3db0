//! What somebody does to the file with plain SQL, or to the witness beside it, is found by the proof.

use bailiwick_audit::{Link, Verdict, Why};
use rusqlite::{Connection, params};

use super::stage::{Stage, append, entry, on, verify};
use crate::{Durability, StoreError, WriteError};

/// Twenty records with heads at 8, 16 and 20.
fn twenty() -> Stage {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..20).await;
        store.close().await.unwrap();
    });
    stage
}

#[track_caller]
fn check(hands: impl FnOnce(&Stage), expected: Verdict) {
    let stage = twenty();
    hands(&stage);
    let store = stage.open();
    assert_eq!(on(verify(&store)), expected);
}

#[track_caller]
fn check_sql(sql: &str, first_bad: i64, why: Why, proven_to: u64) {
    check(|stage| stage.edit(sql), Verdict::Broken { first_bad, why, proven_to });
}

const COLUMNS: &str = "time_ms, kind, call_id, correlation, tool_id, body, hash, seal";

#[test]
fn what_nobody_touched_is_proven() {
    check(|_| {}, Verdict::Proven { to: 20, unsigned: 0, from: 1, removed: 0 });
    check(|stage| stage.edit("VACUUM"), Verdict::Proven { to: 20, unsigned: 0, from: 1, removed: 0 });
}

#[test]
fn changed_rows_are_named() {
    check_sql(
        "UPDATE audit SET body = replace(body, '\"number\":9', '\"number\":8') WHERE seq = 10",
        10,
        Why::HashMismatch,
        8,
    );
    check_sql("UPDATE audit SET hash = zeroblob(32) WHERE seq = 6", 6, Why::HashMismatch, 0);
    check_sql("UPDATE audit SET hash = x'' WHERE seq = 20", 20, Why::HashMismatch, 16);
    check_sql("UPDATE audit SET body = CAST(x'ff00' AS TEXT) WHERE seq = 4", 4, Why::HashMismatch, 0);
    check_sql("UPDATE audit SET correlation = 'c-9' WHERE seq = 3", 3, Why::FoundByMismatch, 0);
    check_sql("UPDATE audit SET call_id = NULL WHERE seq = 9", 9, Why::FoundByMismatch, 8);
    check_sql("UPDATE audit SET tool_id = CAST(x'ff' AS TEXT) WHERE seq = 3", 3, Why::FoundByMismatch, 0);
    check_sql("UPDATE audit SET time_ms = time_ms + 1 WHERE seq = 1", 1, Why::FoundByMismatch, 0);
    check_sql("UPDATE audit SET kind = 'outcome' WHERE seq = 17", 17, Why::FoundByMismatch, 16);
}

#[test]
fn rows_that_are_gone_swapped_or_doubled_are_named() {
    check_sql("DELETE FROM audit WHERE seq = 1", 1, Why::Missing, 0);
    check_sql("DELETE FROM audit WHERE seq = 11", 11, Why::Missing, 8);
    check_sql(
        "DELETE FROM audit WHERE seq = 11;
         UPDATE audit SET seq = -seq WHERE seq > 11; UPDATE audit SET seq = -seq - 1 WHERE seq < 0",
        11,
        Why::OutOfOrder,
        8,
    );
    check_sql(
        "UPDATE audit SET seq = -1 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 9;
         UPDATE audit SET seq = 9 WHERE seq = -1",
        5,
        Why::OutOfOrder,
        0,
    );
    let copy = |to: i64| format!("INSERT INTO audit SELECT {to}, {COLUMNS} FROM audit WHERE seq = 5");
    check_sql(&copy(21), 21, Why::OutOfOrder, 20);
    check_sql(&copy(-5), -5, Why::OutOfOrder, 0);
    check_sql(&copy(0), 0, Why::OutOfOrder, 0);
    check_sql(&copy(i64::MAX), 21, Why::Missing, 20);
}

#[test]
fn a_tail_that_was_cut_is_told_by_the_heads_or_by_the_witness() {
    check_sql("DELETE FROM audit WHERE seq > 12", 13, Why::Truncated { head: 20 }, 8);
    check_sql(
        "DELETE FROM audit WHERE seq > 12; DELETE FROM heads WHERE seq > 12",
        13,
        Why::Truncated { head: 20 },
        8,
    );
    check_sql("DELETE FROM audit; DELETE FROM heads", 1, Why::Truncated { head: 20 }, 0);
}

#[test]
fn a_store_that_was_cut_goes_on_behind_the_gap_and_says_so() {
    let stage = twenty();
    stage.edit("DELETE FROM audit WHERE seq > 12; DELETE FROM heads WHERE seq > 12");
    on(async {
        let store = stage.open();
        assert!(store.troubles().records_were_cut);
        let stamp = store.write(Durability::Machine, |tx| tx.append(&entry(1))).await.unwrap();
        assert_eq!(stamp.seq, 21);
        let gap = Verdict::Broken { first_bad: 13, why: Why::Missing, proven_to: 8 };
        assert_eq!(verify(&store).await, gap);
    });
}

#[test]
fn an_older_copy_of_the_whole_file_is_told_by_the_witness() {
    let stage = twenty();
    let older = stage.path("older");
    std::fs::copy(stage.path("store.db"), &older).unwrap();
    on(async {
        let store = stage.open();
        append(&store, 20..40).await;
        store.close().await.unwrap();
        std::fs::rename(&older, stage.path("store.db")).unwrap();
        let store = stage.open();
        let gone = Verdict::Broken { first_bad: 21, why: Why::Truncated { head: 40 }, proven_to: 20 };
        assert_eq!(verify(&store).await, gone);
    });
}

#[test]
fn forged_heads_are_named() {
    check_sql("UPDATE heads SET signature = zeroblob(64) WHERE seq = 8", 8, Why::ForgedHead, 0);
    check_sql("UPDATE heads SET key = randomblob(32) WHERE seq = 16", 16, Why::ForgedHead, 8);
    check_sql("UPDATE heads SET records_before = 8 WHERE seq = 16", 16, Why::ForgedHead, 8);
    check_sql("UPDATE heads SET hash = x'00' WHERE seq = 8", 8, Why::Unreadable, 0);
    check_sql("UPDATE heads SET seq = -8 WHERE seq = 8", -8, Why::Unreadable, 0);
    check_sql("UPDATE heads SET signature = x'' WHERE seq = 20", 20, Why::Unreadable, 16);
    check(
        |stage| stage.edit("DELETE FROM heads"),
        Verdict::Proven { to: 20, unsigned: 0, from: 1, removed: 0 },
    );
}

#[test]
fn a_chain_written_anew_with_right_hashes_is_not_what_was_signed() {
    let anew = |stage: &Stage| {
        let connection = Connection::open(stage.path("store.db")).unwrap();
        let mut link = Link::START;
        for number in 0..20_u64 {
            let mut forged = entry(number);
            forged.action = "tool.list".to_owned();
            let sealed = link.next(&forged, 1_700_000_000_000 + number * 1000).unwrap();
            link = sealed.link();
            let time = i64::try_from(sealed.time_ms).unwrap();
            let seq = i64::try_from(sealed.seq).unwrap();
            connection
                .execute(
                    "UPDATE audit SET body = ?2, hash = ?3, time_ms = ?4 WHERE seq = ?1",
                    params![seq, sealed.body, sealed.hash.as_bytes(), time],
                )
                .unwrap();
        }
    };
    check(anew, Verdict::Broken { first_bad: 1, why: Why::HeadMismatch { head: 8 }, proven_to: 0 });
}

/// Puts a record behind the last with everything right that can be had without the key.
fn add_record(stage: &Stage) {
    let connection = Connection::open(stage.path("store.db")).unwrap();
    let last: (i64, Vec<u8>) = connection
        .query_row("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    let hash = bailiwick_audit::Digest::from_slice(&last.1).unwrap();
    let forged = entry(77);
    let sealed = Link { seq: last.0.unsigned_abs(), hash }.next(&forged, 1_700_000_000_000).unwrap();
    connection
        .execute(
            "INSERT INTO audit VALUES (?1, ?2, 'intent', ?3, ?4, ?5, ?6, ?7, zeroblob(32))",
            params![
                last.0 + 1,
                1_700_000_000_000_i64,
                forged.call_id.unwrap().to_string(),
                forged.correlation_id.unwrap().as_str(),
                forged.tool.unwrap().id.unwrap().to_string(),
                sealed.body,
                sealed.hash.as_bytes()
            ],
        )
        .unwrap();
}

#[test]
fn a_record_that_somebody_added_is_not_signed_for_them() {
    let stage = twenty();
    add_record(&stage);
    on(async {
        let store = stage.open();
        assert!(store.troubles().records_were_added);
        assert_eq!(verify(&store).await, Verdict::Proven { to: 20, unsigned: 1, from: 1, removed: 0 });
        append(&store, 0..2).await;
        // The one after it refers to the last of ours, so the added one does not fit.
        let added = Verdict::Broken { first_bad: 21, why: Why::PrevMismatch, proven_to: 20 };
        assert_eq!(verify(&store).await, added);
        store.close().await.unwrap();
        // And so it stays, though a head speaks for what follows.
        assert_eq!(verify(&stage.open()).await, added);
    });
}

#[test]
fn a_record_of_ours_that_a_crash_left_unsigned_is_taken_for_ours() {
    let stage = twenty();
    stage.edit("DELETE FROM heads WHERE seq > 16");
    std::fs::remove_file(stage.path("audit.heads")).unwrap();
    on(async {
        let store = stage.open();
        assert_eq!(store.troubles(), crate::Troubles::default());
        append(&store, 0..1).await;
        store.close().await.unwrap();
        let proven = Verdict::Proven { to: 21, unsigned: 0, from: 1, removed: 0 };
        assert_eq!(verify(&stage.open()).await, proven);
    });
}

fn add_to_witness(stage: &Stage, text: &[u8]) {
    let mut file = std::fs::OpenOptions::new().append(true).open(stage.path("audit.heads")).unwrap();
    std::io::Write::write_all(&mut file, text).unwrap();
}

#[test]
fn a_witness_that_was_bent_is_named_and_a_torn_line_is_not() {
    let proven = Verdict::Proven { to: 20, unsigned: 0, from: 1, removed: 0 };
    check(|stage| add_to_witness(stage, b"{\"head\":{\"seq\":2"), proven);
    check(
        |stage| add_to_witness(stage, b"nonsense\n"),
        Verdict::Broken { first_bad: 21, why: Why::Unreadable, proven_to: 20 },
    );
    let forged = b"{\"head\":{\"seq\":30,\"hash\":\"".as_slice();
    let hash = "ab".repeat(32);
    let line = [
        forged,
        hash.as_bytes(),
        b"\",\"timeMs\":1,\"recordsBefore\":0,\"key\":\"",
        hash.as_bytes(),
        b"\",\"signature\":\"",
        hash.as_bytes(),
        hash.as_bytes(),
        b"\"}}\n",
    ]
    .concat();
    check(
        |stage| add_to_witness(stage, &line),
        Verdict::Broken { first_bad: 30, why: Why::ForgedHead, proven_to: 20 },
    );
    check(|stage| std::fs::remove_file(stage.path("audit.heads")).unwrap(), proven);
}

#[test]
fn a_record_with_the_last_number_there_is_ends_the_chain_with_an_error() {
    let stage = twenty();
    stage.edit(&format!("INSERT INTO audit SELECT {}, {COLUMNS} FROM audit WHERE seq = 5", i64::MAX));
    let full = on(stage.open().write(Durability::Process, |tx| tx.append(&entry(1))));
    assert!(matches!(full, Err(WriteError::Job(StoreError::Chain(_)))), "{full:?}");
}
