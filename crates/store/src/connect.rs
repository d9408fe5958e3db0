//! How the database is opened: for the one writer, and for readers who cannot write.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;

/// How long a statement waits for a lock. Only another program can hold one for long.
const PATIENCE: Duration = Duration::from_secs(5);
/// The log of the database is carried over when it has so many pages: seldom, since that waits for the disk twice.
const LOG_PAGES: i64 = 4000;
/// It is cut back to this size then.
const LOG_BYTES: i64 = 16 << 20;

/// The connection of the writer. Nothing in the file is changed but the way it keeps its log.
pub(crate) fn writer(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let failed = || StoreError::sql("open the store", path);
    connection.pragma_update(None, "foreign_keys", true).map_err(failed())?;
    Ok(connection)
}

/// Puts the log into a file of its own, which readers and the writer share without waiting for each other.
pub(crate) fn use_log(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = || StoreError::sql("open the store", path);
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(failed())?;
    if mode != "wal" {
        let message = format!("the log is kept as `{mode}`, though `wal` was wanted");
        return Err(StoreError::Sql { step: "open the store", message });
    }
    // The log is brought to the disk by the writer itself, when somebody waits for it and 50 ms later at the latest.
    connection.pragma_update(None, "synchronous", "normal").map_err(failed())?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(failed())?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES).map_err(failed())
}

/// A number that changes when any other connection, of whichever process, changes the file.
pub(crate) fn changes_by_others(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    connection
        .prepare_cached("PRAGMA data_version")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(StoreError::sql("look for changes of the store", path))
}

/// A connection that can only read.
pub(crate) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(StoreError::sql("open the store to read", path))?;
    Ok(connection)
}

fn open(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    let failed = || StoreError::sql("open the store", path);
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(failed())?;
    connection.busy_timeout(PATIENCE).map_err(failed())?;
    // What somebody put into the file runs nothing: no trigger, no view, no function in a schema.
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(config, on).map_err(failed())?;
    }
    // A plan does not depend on the values it is used with: else a statement is prepared again for each of them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed())?;
    connection.pragma_update(None, "trusted_schema", false).map_err(failed())?;
    connection.pragma_update(None, "cell_size_check", true).map_err(failed())?;
    connection.pragma_update(None, "temp_store", "memory").map_err(failed())?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}
