//! What a writing job can do. It is given the one open transaction, and all it did is kept or none.

use std::ops::Deref;

use bailiwick_audit::{Entry, Head};
use bailiwick_types::ToolId;
use rusqlite::params;

use crate::chain::Chain;
use crate::connect;
use crate::edition::{Edition, Editions};
use crate::error::StoreError;
use crate::keys::{self, KeyRow};
use crate::records::{self, Stamp, StoredRecord};
use crate::tools::{self, ToolRow};
use crate::view::{View, meta_fields};

/// The open transaction, seen by one job. Everything of [`View`] can be read through it.
#[derive(Debug)]
pub struct Tx<'c> {
    pub(crate) view: View<'c>,
    pub(crate) chain: &'c mut Chain,
    pub(crate) now_ms: u64,
    pub(crate) head_every: u64,
    pub(crate) editions: &'c Editions,
    /// Where records are put that somebody hears of once they are committed; none where nobody listens.
    pub(crate) fresh: Option<&'c mut Vec<StoredRecord>>,
    /// A failure after which the job must not be kept, even if it goes on as if nothing had been.
    pub(crate) failed: Option<StoreError>,
}

impl<'c> Deref for Tx<'c> {
    type Target = View<'c>;

    fn deref(&self) -> &View<'c> {
        &self.view
    }
}

impl Tx<'_> {
    /// The time that records of this job get, in milliseconds since 1970.
    pub const fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// The edition that the tools are in, whoever changed the file.
    pub fn edition(&self) -> Result<Edition, StoreError> {
        let others = connect::changes_by_others(self.view.connection, self.view.path)?;
        Ok(self.editions.others_are(others))
    }

    /// Keeps a tool, in the place of the one with its id, and seals it. A name that another tool has is refused, and
    /// the job may go on.
    pub fn put_tool(&mut self, tool: &ToolRow) -> Result<(), StoreError> {
        self.editions.tools_change();
        let put = tools::put(&self.view, tool);
        self.noted(put)
    }

    /// Removes a tool; false when there was none.
    pub fn remove_tool(&mut self, id: ToolId) -> Result<bool, StoreError> {
        self.editions.tools_change();
        let removed = tools::remove(&self.view, id);
        self.noted(removed)
    }

    /// Keeps a key, in the place of the one with its id, and seals it.
    pub fn put_key(&mut self, key: &KeyRow) -> Result<(), StoreError> {
        let put = keys::put(&self.view, key);
        self.noted(put)
    }

    /// Puts an entry at the end of the record.
    pub fn append(&mut self, entry: &Entry) -> Result<Stamp, StoreError> {
        let appended = self.try_append(entry);
        self.noted(appended)
    }

    fn try_append(&mut self, entry: &Entry) -> Result<Stamp, StoreError> {
        let sealed = self.chain.link.next(entry, self.now_ms)?;
        records::insert(&self.view, entry, &sealed)?;
        self.chain.link = sealed.link();
        if self.chain.unsigned() >= self.head_every {
            self.chain.sign(&self.view, self.view.keys, self.now_ms)?;
        }
        let bytes = sealed.body.len() as u64;
        if let Some(fresh) = &mut self.fresh {
            fresh.push(StoredRecord { seq: sealed.seq, body: sealed.body, hash: sealed.hash });
        }
        Ok(Stamp { seq: sealed.seq, time_ms: sealed.time_ms, hash: sealed.hash, bytes })
    }

    /// Sets a value under a key, and seals it.
    pub fn set_meta(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        let seal = self.view.keys.row_seal(&meta_fields(key, value));
        let set = self
            .view
            .connection
            .prepare_cached("INSERT OR REPLACE INTO meta (key, value, seal) VALUES (?1, ?2, ?3)")
            .and_then(|mut statement| statement.execute(params![key, value, seal]))
            .map(drop)
            .map_err(StoreError::sql("keep a setting of the store", self.view.path));
        self.noted(set)
    }

    /// Removes records up to the one that a head speaks for, and keeps that head, signed anew, as the beginning.
    pub(crate) fn remove_records(&mut self, base: &Head) -> Result<u64, StoreError> {
        let failed = || StoreError::sql("remove old records", self.view.path);
        let seq = i64::try_from(base.seq).map_err(|_| StoreError::Number { what: "a record's number" })?;
        let connection = self.view.connection;
        let removed = connection.execute("DELETE FROM audit WHERE seq <= ?1", [seq]).map_err(failed())?;
        connection.execute("DELETE FROM heads WHERE seq < ?1", [seq]).map_err(failed())?;
        let head = self.view.keys.sign(base.seq, base.hash, self.now_ms, base.seq);
        records::put_head(&self.view, &head)?;
        self.chain.removed = base.seq;
        self.chain.heads.push(head);
        Ok(removed as u64)
    }

    /// Remembers a failure that leaves the transaction in doubt. A name that is taken, or an entry that is too large,
    /// has changed nothing.
    pub(crate) fn noted<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result
            && !matches!(
                error,
                StoreError::NameTaken { .. } | StoreError::Number { .. } | StoreError::Chain(_)
            )
        {
            self.failed = Some(error.clone());
        }
        result
    }
}
