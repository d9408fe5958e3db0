//! A process that is killed while it writes has lost nothing that it was told is kept.
//!
//! The test runs itself again as the process to be killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use bailiwick_audit::{Record, Verdict};

use super::stage::{Stage, entry, on, put, tool, verify};
use crate::{Durability, Options, Query, Store};

/// The folder in which the process that is run again works.
const FOLDER: &str = "BAILIWICK_STORE_TEST_FOLDER";

#[expect(clippy::disallowed_methods, reason = "a test that runs itself again as the process to be killed")]
pub(super) fn again(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[expect(clippy::disallowed_methods, reason = "how the test tells itself, run again, where to work")]
pub(super) fn folder_of_the_one_run_again() -> Option<std::path::PathBuf> {
    std::env::var_os(FOLDER).map(Into::into)
}

/// Says which records were acknowledged, each on a line of its own.
pub(super) fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{what}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

#[test]
fn the_process_that_appends_until_it_is_killed() {
    let Some(folder) = folder_of_the_one_run_again() else { return };
    on(async {
        let store = Store::open(&folder, Options { head_every: 16, ..Options::default() }).unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..6_u64 {
            let store = store.clone();
            tasks.spawn(async move {
                for number in 0.. {
                    let durability = if task == 0 { Durability::Machine } else { Durability::Process };
                    let stamp = store.write(durability, move |tx| tx.append(&entry(number))).await.unwrap();
                    say(&format!("kept {} {}", stamp.seq, stamp.hash));
                }
            });
        }
        put(&store, tool(1)).await.unwrap();
        tasks.join_next().await;
    });
}

/// Kills the process once it has said so much, and gives all that it said.
fn killed_after(count: usize, folder: &Path) -> Vec<(u64, String)> {
    let mut child = again("tests::crashes::the_process_that_appends_until_it_is_killed", folder);
    let mut said = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // What was cut off in the middle was not said.
        let Ok(line) = line else { break };
        let Some(rest) = line.strip_prefix("kept ") else { continue };
        let Some((seq, hash)) = rest.split_once(' ').filter(|(_, hash)| hash.len() == 64) else { continue };
        said.push((seq.parse().unwrap(), hash.to_owned()));
        if said.len() == count {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(said.len() >= count);
    said
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill_at_any_time() {
    let stage = Stage::new();
    let mut all = Vec::new();
    for round in 0..20 {
        all.extend(killed_after(1 + round * 7 % 60, &stage.folder));
        on(async {
            let store = stage.open();
            let verdict = verify(&store).await;
            assert!(matches!(verdict, Verdict::Proven { from: 1, .. }), "round {round}: {verdict}");
            let records = store
                .read(|view| view.records(&Query { limit: usize::MAX, ..Query::default() }))
                .await
                .unwrap();
            for (seq, hash) in &all {
                let record = &records[usize::try_from(seq - 1).unwrap()];
                assert_eq!((record.seq, record.hash.to_string()), (*seq, hash.clone()), "round {round}");
                Record::parse(&record.body, record.hash).unwrap();
            }
            store.close().await.unwrap();
        });
    }
}
