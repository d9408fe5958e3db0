//! The proof over what lies in the file and with its witnesses. Rows stream by; only heads are held.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use bailiwick_audit::{FoundBy, PublicKey, Row, Verdict, Verifier, read_head_line};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::connect;
use crate::error::StoreError;
use crate::records::{HEAD_COLUMNS, read_head};
use crate::store::Store;
use crate::witness::MOST_LINE;

/// After how many rows somebody who watches is told.
const TELL_EVERY: u64 = 10_000;

impl Store {
    /// Proves the record: every row, every head, and every line of the witnesses that are files. `progress` hears how
    /// many rows were looked at. A writer is not disturbed.
    pub async fn verify<P>(&self, progress: P) -> Result<Verdict, StoreError>
    where
        P: FnMut(u64) + Send + 'static,
    {
        let (path, key) = (self.path().to_owned(), self.public_key());
        let witnesses = self.witness_files().to_vec();
        let proving = tokio::task::spawn_blocking(move || prove(&path, key, &witnesses, progress));
        proving.await.map_err(|_| StoreError::Panicked)?
    }
}

fn prove(
    path: &Path,
    key: PublicKey,
    witnesses: &[PathBuf],
    progress: impl FnMut(u64),
) -> Result<Verdict, StoreError> {
    let mut verifier = Verifier::new(key);
    // Before the rows: a witness hears of a head after it was committed, so none can be newer than the view that follows.
    for witness in witnesses {
        take_witness(&mut verifier, witness)?;
    }
    let connection = connect::reader(path)?;
    let failed = || StoreError::sql("read the record", path);
    connection.execute_batch("BEGIN").map_err(failed())?;
    let damaged = |error: &rusqlite::Error| {
        matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseCorrupt))
            || matches!(error, rusqlite::Error::InvalidColumnType(..))
    };
    match take_heads(&mut verifier, &connection) {
        Err(error) if damaged(&error) => verifier.unreadable_head(1),
        other => other.map_err(failed())?,
    }
    match take_rows(&mut verifier, &connection, progress) {
        Err(error) if damaged(&error) => verifier.unreadable_row(),
        other => other.map_err(failed())?,
    }
    Ok(verifier.finish())
}

fn take_heads(verifier: &mut Verifier, connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("SELECT {HEAD_COLUMNS} FROM heads ORDER BY seq"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        match read_head(row)? {
            (_, Some(head)) => verifier.head(&head),
            (seq, None) => verifier.unreadable_head(seq),
        }
    }
    Ok(())
}

fn take_rows(
    verifier: &mut Verifier,
    connection: &Connection,
    mut progress: impl FnMut(u64),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT seq, body, hash, time_ms, kind, call_id, correlation, tool_id FROM audit ORDER BY seq",
    )?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let found_by = FoundBy {
            time_ms: row.get(3)?,
            kind: text(row.get_ref(4)?).unwrap_or_default(),
            call_id: text(row.get_ref(5)?),
            correlation: text(row.get_ref(6)?),
            tool_id: text(row.get_ref(7)?),
        };
        let row = Row {
            seq: row.get(0)?,
            body: row.get_ref(1)?.as_bytes().unwrap_or_default(),
            hash: row.get_ref(2)?.as_bytes().unwrap_or_default(),
            found_by: Some(found_by),
        };
        if !verifier.row(&row) {
            return Ok(());
        }
        count += 1;
        if count % TELL_EVERY == 0 {
            progress(count);
        }
    }
    progress(count);
    Ok(())
}

/// A text column; what is no text is told from an absent one by being no name of anything.
fn text(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::Null => None,
        other => Some(other.as_str().unwrap_or("\0")),
    }
}

/// Takes the lines of a witness. One that is not there says nothing; a last line without an end was cut off by a crash.
fn take_witness(verifier: &mut Verifier, path: &Path) -> Result<(), StoreError> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::disk("open", path, error)),
    };
    let mut from = BufReader::new(file);
    let (mut line, mut last) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        let mut bounded = std::io::Read::take(&mut from, MOST_LINE as u64);
        bounded.read_until(b'\n', &mut line).map_err(|error| StoreError::disk("read", path, error))?;
        if line.is_empty() {
            return Ok(());
        }
        let whole = line.strip_suffix(b"\n");
        if whole.is_none() && line.len() < MOST_LINE {
            return Ok(());
        }
        let Some(head) = whole.and_then(read_head_line) else {
            verifier.unreadable_head(i64::try_from(last).unwrap_or(i64::MAX).saturating_add(1));
            return Ok(());
        };
        last = head.seq;
        verifier.head(&head);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "witness files may be as long as the record; they are read line by line, each with a bound"
)]
fn open(path: &Path) -> std::io::Result<File> {
    File::open(path)
}
