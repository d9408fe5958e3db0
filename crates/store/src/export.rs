//! The record as lines, for a file that can be proven without us.

use std::path::Path;

use bailiwick_audit::{Digest, head_line, record_line};

use crate::connect;
use crate::error::StoreError;
use crate::records::{HEAD_COLUMNS, read_head};
use crate::store::Store;

impl Store {
    /// Hands over every record and head as a line, without its end, in the order in which they can be proven: the head
    /// that retention left first, and each other head behind its record. Stops when `sink` gives false.
    pub async fn export<S>(&self, sink: S) -> Result<(), StoreError>
    where
        S: FnMut(&str) -> bool + Send + 'static,
    {
        let path = self.path().to_owned();
        let exporting = tokio::task::spawn_blocking(move || export(&path, sink));
        exporting.await.map_err(|_| StoreError::Panicked)?
    }
}

fn export(path: &Path, mut sink: impl FnMut(&str) -> bool) -> Result<(), StoreError> {
    let failed = || StoreError::sql("read the record", path);
    let damaged = |what: &str| StoreError::Damaged { path: path.to_owned(), what: what.to_owned() };
    let connection = connect::reader(path)?;
    connection.execute_batch("BEGIN").map_err(failed())?;
    let mut heads =
        connection.prepare(&format!("SELECT {HEAD_COLUMNS} FROM heads ORDER BY seq")).map_err(failed())?;
    let mut heads = heads.query_map([], read_head).map_err(failed())?;
    let mut next_head = || match heads.next() {
        None => Ok(None),
        Some(Ok((_, Some(head)))) => Ok(Some(head)),
        Some(Ok((_, None))) => Err(damaged("a head cannot be read")),
        Some(Err(error)) => Err(failed()(error)),
    };
    let mut records =
        connection.prepare("SELECT seq, body, hash FROM audit ORDER BY seq").map_err(failed())?;
    let mut records = records.query([]).map_err(failed())?;
    let mut head = next_head()?;
    while let Some(row) = records.next().map_err(failed())? {
        let (seq, body): (i64, String) = (row.get(0).map_err(failed())?, row.get(1).map_err(failed())?);
        let hash: Vec<u8> = row.get(2).map_err(failed())?;
        let hash = Digest::from_slice(&hash).ok_or_else(|| damaged("a record's hash is none"))?;
        while let Some(before) = head.filter(|head| i64::try_from(head.seq).is_ok_and(|at| at < seq)) {
            if !sink(&head_line(&before)) {
                return Ok(());
            }
            head = next_head()?;
        }
        if !sink(&record_line(&body, &hash)) {
            return Ok(());
        }
    }
    while let Some(last) = head {
        if !sink(&head_line(&last)) {
            return Ok(());
        }
        head = next_head()?;
    }
    Ok(())
}
