//! The tables, as steps that only go forward. A file that is newer than the last step is left alone.

use std::path::Path;

use rusqlite::Connection;

use crate::error::StoreError;

/// Marks a file as ours: "Bwck".
const APPLICATION: i64 = 0x4277_636b;

/// What each step adds. A step that was released is never changed; what comes later is a step of its own.
///
/// Every table is `STRICT`, so that a column holds what it says. A tool's long texts are in a table of their own: a list
/// reads none of their pages.
const STEPS: &[&str] = &[
    // 1: the catalogue.
    "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, seal BLOB NOT NULL) STRICT, WITHOUT ROWID;
     CREATE TABLE own (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL) STRICT;
     CREATE TABLE tools (
       id TEXT PRIMARY KEY NOT NULL,
       name TEXT NOT NULL UNIQUE,
       title TEXT,
       state TEXT NOT NULL,
       version INTEGER NOT NULL,
       created_ms INTEGER NOT NULL,
       updated_ms INTEGER NOT NULL,
       standing TEXT,
       digest BLOB NOT NULL,
       seal BLOB NOT NULL
     ) STRICT;
     CREATE TABLE tool_texts (
       id TEXT PRIMARY KEY NOT NULL REFERENCES tools (id),
       document TEXT NOT NULL,
       covered TEXT NOT NULL,
       texts TEXT NOT NULL,
       pass TEXT,
       notes TEXT
     ) STRICT;",
    // 2: the record.
    "CREATE TABLE audit (
       seq INTEGER PRIMARY KEY,
       time_ms INTEGER NOT NULL,
       kind TEXT NOT NULL,
       call_id TEXT,
       correlation TEXT,
       tool_id TEXT,
       body TEXT NOT NULL,
       hash BLOB NOT NULL,
       seal BLOB NOT NULL
     ) STRICT;
     CREATE INDEX audit_by_call ON audit (call_id) WHERE call_id IS NOT NULL;
     CREATE INDEX audit_by_correlation ON audit (correlation) WHERE correlation IS NOT NULL;
     CREATE INDEX audit_by_tool ON audit (tool_id, kind) WHERE tool_id IS NOT NULL;
     CREATE TABLE heads (
       seq INTEGER PRIMARY KEY,
       hash BLOB NOT NULL,
       time_ms INTEGER NOT NULL,
       records_before INTEGER NOT NULL,
       key BLOB NOT NULL,
       signature BLOB NOT NULL
     ) STRICT;",
    // 3: keys of the server.
    "CREATE TABLE keys (
       id TEXT PRIMARY KEY NOT NULL,
       name TEXT NOT NULL,
       scopes TEXT NOT NULL,
       hash BLOB NOT NULL,
       created_ms INTEGER NOT NULL,
       expires_ms INTEGER,
       revoked_ms INTEGER,
       used_ms INTEGER,
       per_second INTEGER,
       at_once INTEGER,
       seal BLOB NOT NULL
     ) STRICT;",
    // 4: what people said yes to.
    "CREATE TABLE remembered (
       id TEXT PRIMARY KEY NOT NULL,
       tool_id TEXT NOT NULL,
       until_ms INTEGER NOT NULL,
       used INTEGER NOT NULL,
       body TEXT NOT NULL,
       seal BLOB NOT NULL
     ) STRICT;
     CREATE INDEX remembered_by_tool ON remembered (tool_id);
     CREATE TABLE last_yes (
       tool_id TEXT PRIMARY KEY NOT NULL,
       body TEXT NOT NULL,
       seal BLOB NOT NULL
     ) STRICT;",
    // 5: keys whose client's dialogue counts as an answer.
    "ALTER TABLE keys ADD COLUMN dialogue INTEGER NOT NULL DEFAULT 0;",
];

/// The format that this version writes.
pub(crate) fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Whether a file is one of ours, and how far it is; nothing in it is changed.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let read = |pragma: &str| {
        connection
            .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
            .map_err(StoreError::sql("look at the store", path))
    };
    let (application, version) = (read("application_id")?, read("user_version")?);
    let tables: i64 = connection
        .query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
        .map_err(StoreError::sql("look at the store", path))?;
    let is_new = application == 0 && version == 0 && tables == 0;
    if !is_new && application != APPLICATION {
        let what = "it is the database of another program".to_owned();
        return Err(StoreError::Damaged { path: path.to_owned(), what });
    }
    if version > known() {
        return Err(StoreError::NewerFormat { path: path.to_owned(), version, known: known() });
    }
    if version < 0 {
        return Err(StoreError::Damaged { path: path.to_owned(), what: format!("its format is {version}") });
    }
    Ok(version)
}

/// Goes from one format to the known one, each step in a transaction of its own.
pub(crate) fn migrate(connection: &mut Connection, from: i64, path: &Path) -> Result<(), StoreError> {
    migrate_to(connection, from, known(), path)
}

/// Goes to a given format.
pub(crate) fn migrate_to(
    connection: &mut Connection,
    from: i64,
    to: i64,
    path: &Path,
) -> Result<(), StoreError> {
    let failed = || StoreError::sql("bring the store to the present format", path);
    for (version, step) in (1..).zip(STEPS) {
        if version <= from || version > to {
            continue;
        }
        let step_alone = connection.transaction().map_err(failed())?;
        step_alone.execute_batch(step).map_err(failed())?;
        step_alone.pragma_update(None, "application_id", APPLICATION).map_err(failed())?;
        step_alone.pragma_update(None, "user_version", version).map_err(failed())?;
        step_alone.commit().map_err(failed())?;
    }
    Ok(())
}
