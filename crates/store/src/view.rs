//! What can be read, by a reader as by a writing job.

use std::path::Path;

use bailiwick_audit::{Head, Keys, Link, PublicKey};
use bailiwick_types::{KeyId, ToolId};
use rusqlite::{Connection, OptionalExtension};

use crate::error::StoreError;
use crate::keys::{self, KeyRow};
use crate::records::{self, Query, StoredRecord};
use crate::tools::{self, ToolRow, ToolSummary, Which};

/// The store at one moment. Whatever is written meanwhile is not seen.
pub struct View<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) keys: &'c Keys,
    pub(crate) path: &'c Path,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "View({})", self.path.display())
    }
}

impl View<'_> {
    /// A tool by its id, edited or not.
    pub fn tool(&self, id: ToolId) -> Result<Option<ToolRow>, StoreError> {
        tools::one(self, Which::Id(id))
    }

    /// A tool by its name, edited or not.
    pub fn tool_named(&self, name: &str) -> Result<Option<ToolRow>, StoreError> {
        tools::one(self, Which::Name(name))
    }

    /// Tools in the order of their names: those after a name, and no more than `limit`.
    pub fn tools(&self, after: Option<&str>, limit: usize) -> Result<Vec<ToolSummary>, StoreError> {
        tools::list(self, after, limit)
    }

    /// How many tools there are.
    pub fn tool_count(&self) -> Result<u64, StoreError> {
        tools::count(self)
    }

    /// Every key, edited or not, those that are worthless by now among them.
    pub fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        keys::all(self)
    }

    /// A key by its id, edited or not.
    pub fn key(&self, id: KeyId) -> Result<Option<KeyRow>, StoreError> {
        keys::one(self, id)
    }

    /// Records that answer a query.
    pub fn records(&self, query: &Query) -> Result<Vec<StoredRecord>, StoreError> {
        records::find(self, query)
    }

    /// The last record.
    pub fn last_link(&self) -> Result<Link, StoreError> {
        records::last_link(self)
    }

    /// Heads for records from this number up, and no more than `limit`.
    pub fn heads(&self, from_seq: u64, limit: usize) -> Result<Vec<Head>, StoreError> {
        records::heads(self, from_seq, limit)
    }

    /// The last head.
    pub fn last_head(&self) -> Result<Option<Head>, StoreError> {
        records::last_head(self, u64::MAX)
    }

    /// The key that heads can be checked with.
    pub fn public_key(&self) -> PublicKey {
        self.keys.public()
    }

    /// Bytes within the file that hold nothing.
    pub(crate) fn free_within(&self) -> Result<u64, StoreError> {
        let pragma = |name: &str| {
            self.connection
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                .map_err(StoreError::sql("look at the store", self.path))
        };
        let bytes = pragma("freelist_count")?.saturating_mul(pragma("page_size")?);
        Ok(u64::try_from(bytes).unwrap_or(0))
    }

    /// A value that was set under a key. One that was changed in the file by somebody else is an error.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let failed = || StoreError::sql("read a setting of the store", self.path);
        let found = self
            .connection
            .prepare_cached("SELECT value, seal FROM meta WHERE key = ?1")
            .map_err(failed())?
            .query_row([key], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)))
            .optional()
            .map_err(failed())?;
        match found {
            None => Ok(None),
            Some((value, seal)) if self.keys.row_is_ours(&meta_fields(key, &value), &seal) => Ok(Some(value)),
            Some(_) => Err(StoreError::Edited { key: key.to_owned() }),
        }
    }
}

/// What the seal of a value is over.
pub(crate) fn meta_fields<'a>(key: &'a str, value: &'a str) -> [&'a [u8]; 3] {
    [b"meta 1", key.as_bytes(), value.as_bytes()]
}
