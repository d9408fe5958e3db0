//! A folder of its own for each test, entries and tools to put into it, and a second way into the file.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bailiwick_audit::{Actor, Entry, Kind, Link, ToolRef, Verdict};
use bailiwick_types::{CallId, CorrelationId, ToolId};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::{Durability, Options, Store, StoreError, ToolRow, View, WriteError};

/// A data folder.
pub(super) struct Stage {
    _kept: TempDir,
    pub(super) folder: PathBuf,
}

impl Stage {
    pub(super) fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path().join("data");
        Self { _kept: kept, folder }
    }

    pub(super) fn open(&self) -> Store {
        self.open_with(options())
    }

    pub(super) fn open_with(&self, options: Options) -> Store {
        Store::open(&self.folder, options).unwrap()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What somebody with the file and without the key does to it, while nobody has it open.
    pub(super) fn edit(&self, sql: &str) {
        let connection = Connection::open(self.path("store.db")).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    pub(super) fn number(&self, sql: &str) -> i64 {
        let connection = Connection::open(self.path("store.db")).unwrap();
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

/// A clock that goes on by a second with every look.
pub(super) fn options() -> Options {
    let time = Arc::new(AtomicU64::new(1_700_000_000_000));
    Options {
        head_every: 8,
        clock: Arc::new(move || time.fetch_add(1000, Ordering::Relaxed)),
        ..Options::default()
    }
}

pub(super) fn on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

pub(super) fn entry(number: u64) -> Entry {
    let actor = Actor { key: None, client: "test".to_owned() };
    let mut entry = Entry::new(Kind::Intent, actor, "tool.call");
    entry.call_id = Some(CallId::from_parts(number, &[7; 10]));
    entry.correlation_id = Some(CorrelationId::parse(&format!("c-{}", number % 3)).unwrap());
    let id = ToolId::from_parts(number % 2, &[3; 10]);
    entry.tool = Some(ToolRef { id: Some(id), name: "echo".to_owned(), hash: None });
    entry.arguments = Some(json!({"number": number, "text": "ä\n\"quoted\""}));
    entry
}

pub(super) fn tool(number: u64) -> ToolRow {
    ToolRow {
        id: ToolId::from_parts(number, &[1; 10]),
        name: format!("tool-{number:05}"),
        title: number.is_multiple_of(2).then(|| format!("Tool {number}")),
        state: "DRAFT".to_owned(),
        document: format!("name: tool-{number:05}\ncode: return {number}\n"),
        covered: "covered".to_owned(),
        texts: "texts".to_owned(),
        pass: None,
        notes: Some(String::new()),
        version: 1,
        created_ms: 10,
        updated_ms: 20,
        standing: Some("{\"ok\":true}".to_owned()),
        is_ours: true,
    }
}

/// Appends entries one by one.
pub(super) async fn append(store: &Store, numbers: std::ops::Range<u64>) {
    for number in numbers {
        store.write(Durability::Process, move |tx| tx.append(&entry(number))).await.unwrap();
    }
}

pub(super) async fn put(store: &Store, row: ToolRow) -> Result<(), WriteError<StoreError>> {
    store.write(Durability::Process, move |tx| tx.put_tool(&row)).await
}

pub(super) async fn verify(store: &Store) -> Verdict {
    store.verify(|_| {}).await.unwrap()
}

pub(super) fn tool_count(view: &View<'_>) -> Result<u64, StoreError> {
    view.tool_count()
}

pub(super) fn last_link(view: &View<'_>) -> Result<Link, StoreError> {
    view.last_link()
}
