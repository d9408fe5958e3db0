//! Rows of the record and of its heads: put at the end, found by what they are about.

use bailiwick_audit::{Digest, Entry, Head, Kind, Link, PublicKey, Sealed, Signature, hash_of};
use bailiwick_types::{CallId, CorrelationId, ToolId};
use rusqlite::{OptionalExtension, Row, ToSql, params};

use crate::error::StoreError;
use crate::view::View;

/// Which records are wanted. What is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Begin here: at this number and up, or with `newest_first` at this number and down.
    pub from_seq: Option<u64>,
    /// Only those of this correlation.
    pub correlation: Option<CorrelationId>,
    /// Only those of this call.
    pub call_id: Option<CallId>,
    /// Only those about this tool.
    pub tool: Option<ToolId>,
    /// Only changes.
    pub changes: bool,
    /// No more than this.
    pub limit: usize,
    /// The newest first.
    pub newest_first: bool,
}

/// A record as it lies. `bailiwick_audit::Record::parse` reads it, `record_line` writes it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its number.
    pub seq: u64,
    /// Its text.
    pub body: String,
    /// Its hash.
    pub hash: Digest,
}

/// Where an entry stands in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its number.
    pub seq: u64,
    /// Its time, in milliseconds since 1970.
    pub time_ms: u64,
    /// Its hash.
    pub hash: Digest,
    /// The bytes of its text.
    pub bytes: u64,
}

fn damaged(view: &View<'_>, what: &str) -> StoreError {
    StoreError::Damaged { path: view.path.to_owned(), what: what.to_owned() }
}

fn kept(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Records that answer a query.
pub(crate) fn find(view: &View<'_>, query: &Query) -> Result<Vec<StoredRecord>, StoreError> {
    let Query { from_seq, correlation, call_id, tool, changes, limit, newest_first } = query;
    let failed = || StoreError::sql("read the record", view.path);
    let (compare, order) = if *newest_first { ("<=", "DESC") } else { (">=", "ASC") };
    let mut demands = vec!["true".to_owned()];
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut demand = |column: &str, compare: &str, value: Box<dyn ToSql>| {
        values.push(value);
        demands.push(format!("{column} {compare} ?{}", values.len()));
    };
    // One index is used, and the finest is that of a call.
    if let Some(id) = call_id {
        demand("call_id", "=", Box::new(id.to_string()));
    }
    if let Some(id) = correlation {
        demand("correlation", "=", Box::new(id.as_str().to_owned()));
    }
    if let Some(id) = tool {
        demand("tool_id", "=", Box::new(id.to_string()));
    }
    if *changes {
        demand("kind", "=", Box::new(Kind::Change.name()));
    }
    if let Some(seq) = from_seq {
        demand("seq", compare, Box::new(kept(*seq)));
    }
    values.push(Box::new(i64::try_from(*limit).unwrap_or(i64::MAX)));
    let sql = format!(
        "SELECT seq, body, hash FROM audit WHERE {} ORDER BY seq {order} LIMIT ?{}",
        demands.join(" AND "),
        values.len()
    );
    let mut statement = view.connection.prepare_cached(&sql).map_err(failed())?;
    let rows = statement
        .query_map(rusqlite::params_from_iter(values.iter()), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?))
        })
        .map_err(failed())?;
    rows.map(|row| {
        let (seq, body, hash) = row.map_err(failed())?;
        let seq = u64::try_from(seq).map_err(|_| damaged(view, "a record has a negative number"))?;
        let hash = Digest::from_slice(&hash).ok_or_else(|| damaged(view, "a record's hash is none"))?;
        Ok(StoredRecord { seq, body, hash })
    })
    .collect()
}

/// The end of the chain as it lies. What somebody bent there does not keep the store from being opened: the chain goes on
/// behind it, and a proof names it.
pub(crate) fn last_link(view: &View<'_>) -> Result<Link, StoreError> {
    let failed = || StoreError::sql("read the end of the record", view.path);
    let last = view
        .connection
        .prepare_cached("SELECT seq, hash FROM audit WHERE seq > 0 ORDER BY seq DESC LIMIT 1")
        .map_err(failed())?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
        .optional()
        .map_err(failed())?;
    Ok(last.map_or(Link::START, |(seq, hash)| Link {
        seq: seq.unsigned_abs(),
        hash: Digest::from_slice(&hash).unwrap_or_else(|| hash_of(&hash)),
    }))
}

/// What the seal of a record is over. A head proves records to everybody; the seal tells us, before there is a head,
/// that nobody else put a record there.
fn seal_fields<'a>(seq: &'a [u8], hash: &'a [u8]) -> [&'a [u8]; 3] {
    [b"record 1", seq, hash]
}

/// How far the records behind a number are ours.
pub(crate) enum Ours {
    /// To the end.
    All,
    /// To this record, and the next is not.
    To(Link),
}

/// Looks at the records behind the last signed one, which are few.
pub(crate) fn ours_after(view: &View<'_>, signed: Link) -> Result<Ours, StoreError> {
    let failed = || StoreError::sql("read the end of the record", view.path);
    let mut statement = view
        .connection
        .prepare("SELECT seq, hash, seal FROM audit WHERE seq > ?1 ORDER BY seq")
        .map_err(failed())?;
    let mut rows = statement.query([kept(signed.seq)]).map_err(failed())?;
    let mut last = signed;
    while let Some(row) = rows.next().map_err(failed())? {
        let seq: i64 = row.get(0).map_err(failed())?;
        let (hash, seal): (Vec<u8>, Vec<u8>) = (row.get(1).map_err(failed())?, row.get(2).map_err(failed())?);
        match Digest::from_slice(&hash) {
            Some(digest) if view.keys.row_is_ours(&seal_fields(&seq.to_be_bytes(), &hash), &seal) => {
                last = Link { seq: seq.unsigned_abs(), hash: digest };
            }
            _ => return Ok(Ours::To(last)),
        }
    }
    Ok(Ours::All)
}

/// Puts a record at the end.
pub(crate) fn insert(view: &View<'_>, entry: &Entry, sealed: &Sealed) -> Result<(), StoreError> {
    let tool = entry.tool.as_ref().and_then(|tool| tool.id);
    let seq = kept(sealed.seq).to_be_bytes();
    view.connection
        .prepare_cached(
            "INSERT INTO audit (seq, time_ms, kind, call_id, correlation, tool_id, body, hash, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                kept(sealed.seq),
                kept(sealed.time_ms),
                entry.kind.name(),
                entry.call_id.map(|id| id.to_string()),
                entry.correlation_id.as_ref().map(CorrelationId::as_str),
                tool.map(|id| id.to_string()),
                sealed.body,
                sealed.hash.as_bytes(),
                view.keys.row_seal(&seal_fields(&seq, sealed.hash.as_bytes())),
            ])
        })
        .map_err(StoreError::sql("put an entry on the record", view.path))?;
    Ok(())
}

/// A head as it lies; none where it cannot be one.
pub(crate) fn read_head(row: &Row<'_>) -> rusqlite::Result<(i64, Option<Head>)> {
    let seq: i64 = row.get(0)?;
    let hash = row.get::<_, Vec<u8>>(1)?;
    let (time_ms, records_before): (i64, i64) = (row.get(2)?, row.get(3)?);
    let (key, signature) = (row.get::<_, Vec<u8>>(4)?, row.get::<_, Vec<u8>>(5)?);
    let head = || {
        Some(Head {
            seq: u64::try_from(seq).ok()?,
            hash: Digest::from_slice(&hash)?,
            time_ms: u64::try_from(time_ms).ok()?,
            records_before: u64::try_from(records_before).ok()?,
            key: PublicKey::from_slice(&key)?,
            signature: Signature::from_slice(&signature)?,
        })
    };
    Ok((seq, head()))
}

/// The columns that [`read_head`] reads.
pub(crate) const HEAD_COLUMNS: &str = "seq, hash, time_ms, records_before, key, signature";

/// Heads from a number up.
pub(crate) fn heads(view: &View<'_>, from_seq: u64, limit: usize) -> Result<Vec<Head>, StoreError> {
    let failed = || StoreError::sql("read the heads", view.path);
    let sql = format!("SELECT {HEAD_COLUMNS} FROM heads WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
    let mut statement = view.connection.prepare_cached(&sql).map_err(failed())?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![kept(from_seq), limit], read_head).map_err(failed())?;
    rows.map(|row| row.map_err(failed())?.1.ok_or_else(|| damaged(view, "a head cannot be read"))).collect()
}

/// The last head at or before a number; none where there is none, or where it cannot be read.
pub(crate) fn last_head(view: &View<'_>, at_most: u64) -> Result<Option<Head>, StoreError> {
    let failed = || StoreError::sql("read the heads", view.path);
    let sql = format!("SELECT {HEAD_COLUMNS} FROM heads WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1");
    let mut statement = view.connection.prepare_cached(&sql).map_err(failed())?;
    let head = statement.query_row([kept(at_most)], read_head).optional().map_err(failed())?;
    Ok(head.and_then(|(_, head)| head))
}

/// The first head; none where there is none, or where it cannot be read.
pub(crate) fn first_head(view: &View<'_>) -> Result<Option<Head>, StoreError> {
    let failed = || StoreError::sql("read the heads", view.path);
    let sql = format!("SELECT {HEAD_COLUMNS} FROM heads WHERE seq >= 0 ORDER BY seq LIMIT 1");
    let mut statement = view.connection.prepare_cached(&sql).map_err(failed())?;
    let head = statement.query_row([], read_head).optional().map_err(failed())?;
    Ok(head.and_then(|(_, head)| head))
}

/// Puts a head in the place of the one for the same record.
pub(crate) fn put_head(view: &View<'_>, head: &Head) -> Result<(), StoreError> {
    let Head { seq, hash, time_ms, records_before, key, signature } = head;
    let sql = format!("INSERT OR REPLACE INTO heads ({HEAD_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    view.connection
        .prepare_cached(&sql)
        .and_then(|mut statement| {
            statement.execute(params![
                kept(*seq),
                hash.as_bytes(),
                kept(*time_ms),
                kept(*records_before),
                key.as_bytes(),
                signature.as_bytes()
            ])
        })
        .map_err(StoreError::sql("keep a head", view.path))?;
    Ok(())
}
