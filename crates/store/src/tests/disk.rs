//! A disk without room: an error, nothing half done, and the next write works once there is room again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

use super::crashes::{folder_of_the_one_run_again, say};
use super::stage::{Stage, append, entry, last_link, on, put, tool, tool_count, verify};
use crate::{Durability, Options, Store, StoreError, Tx, WriteError};

fn large(number: u64) -> bailiwick_audit::Entry {
    let mut large = entry(number);
    large.arguments = Some(Value::String("x".repeat(100_000)));
    large
}

/// How many pages the database may have.
fn bound(tx: &Tx<'_>, pages: i64) -> Result<i64, StoreError> {
    tx.connection
        .pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0))
        .map_err(StoreError::sql("bound the store", tx.path))
}

#[test]
fn without_room_nothing_is_half_done_and_with_room_it_goes_on() {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..9).await;
        let pages = store.write(Durability::Process, |tx| bound(tx, 1)).await.unwrap();
        store.write(Durability::Process, move |tx| bound(tx, pages + 2)).await.unwrap();
        let before = store.read(last_link).await.unwrap();
        for _ in 0..3 {
            let full = store
                .write(Durability::Machine, |tx| {
                    tx.put_tool(&tool(1))?;
                    tx.append(&entry(1))?;
                    tx.append(&large(2))
                })
                .await;
            let no_room = StoreError::NoRoom { step: "put an entry on the record" };
            assert_eq!(full, Err(WriteError::Job(no_room)));
        }
        // Nor when the job makes nothing of it.
        let swallowed = store
            .write(Durability::Process, |tx| {
                tx.append(&entry(3))?;
                drop(tx.append(&large(4)));
                Ok::<_, StoreError>(())
            })
            .await;
        assert!(matches!(swallowed, Err(WriteError::Store(StoreError::NoRoom { .. }))), "{swallowed:?}");
        assert_eq!(store.read(last_link).await.unwrap(), before);
        assert_eq!(store.read(tool_count).await, Ok(0));
        store.write(Durability::Process, |tx| bound(tx, 1 << 20)).await.unwrap();
        put(&store, tool(1)).await.unwrap();
        let stamp = store.write(Durability::Machine, |tx| tx.append(&large(5))).await.unwrap();
        assert_eq!(stamp.seq, before.seq + 1);
        assert!(verify(&store).await.is_proven());
    });
}

#[test]
fn the_process_whose_files_may_not_grow() {
    let Some(folder) = folder_of_the_one_run_again() else { return };
    on(async {
        let store = Store::open(&folder, Options::default()).unwrap();
        let mut kept = 0;
        // The log grows until it may not.
        let error = loop {
            match store.write(Durability::Machine, |tx| tx.append(&large(1))).await {
                Ok(stamp) => kept = stamp.seq,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, WriteError::Job(_) | WriteError::Store(_)));
        assert_eq!(store.read(last_link).await.unwrap().seq, kept);
        let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
        setrlimit(Resource::Fsize, Rlimit { current: maximum, maximum }).unwrap();
        let stamp = store.write(Durability::Machine, |tx| tx.append(&large(2))).await.unwrap();
        assert_eq!(stamp.seq, kept + 1);
        assert!(verify(&store).await.is_proven());
        store.close().await.unwrap();
        say(&format!("went on at {}", stamp.seq));
    });
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test that runs itself again with a bound on the size of files"
)]
fn when_the_system_refuses_a_write_it_is_undone_and_the_next_works() {
    let stage = Stage::new();
    // The shell takes the signal away that would end the process, which a program cannot do safely for itself.
    let child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -S -f 4096; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["tests::disk::the_process_whose_files_may_not_grow", "--exact", "--nocapture"])
        .env("BAILIWICK_STORE_TEST_FOLDER", &stage.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said: Vec<String> = BufReader::new(output.stdout.as_slice()).lines().map_while(Result::ok).collect();
    assert!(output.status.success(), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("went on at ")), "{said:?}");
    assert!(on(verify(&stage.open())).is_proven());
}
