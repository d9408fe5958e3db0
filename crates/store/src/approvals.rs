//! Rows about what people said yes to: answers that hold beyond their call, and the last yes to a call of each tool.
//!
//! Each row is sealed over all of its columns. What its text means is not the store's business. An edited row is still
//! given, and says so; whether an unedited one was put back after it had been removed is for whoever reads the record.

use bailiwick_types::{ApprovalId, ToolId};
use rusqlite::{OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::tx::Tx;
use crate::view::View;

/// An answer that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedRow {
    /// The question it was given to.
    pub id: ApprovalId,
    /// The tool.
    pub tool: ToolId,
    /// Until when it holds, in milliseconds since 1970.
    pub until_ms: u64,
    /// How many calls it let through.
    pub used: u64,
    /// What it says.
    pub body: String,
    /// Whether the row is as we wrote it. Set when it is read; what it says when it is put does not matter.
    pub is_ours: bool,
}

/// The last yes to a call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastYesRow {
    /// What it says.
    pub body: String,
    /// Whether the row is as we wrote it.
    pub is_ours: bool,
}

const COLUMNS: &str = "id, tool_id, until_ms, used, body, seal";

/// A row as it lies.
struct Lying {
    id: String,
    tool: String,
    until_ms: i64,
    used: i64,
    body: String,
    seal: Vec<u8>,
}

impl Lying {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            tool: row.get(1)?,
            until_ms: row.get(2)?,
            used: row.get(3)?,
            body: row.get(4)?,
            seal: row.get(5)?,
        })
    }

    /// What the seal is over. The first field keeps it from being taken for that of another kind of row.
    fn sealed(&self) -> [Vec<u8>; 6] {
        let Self { id, tool, until_ms, used, body, seal: _ } = self;
        [
            b"remembered 1".to_vec(),
            id.as_bytes().to_vec(),
            tool.as_bytes().to_vec(),
            until_ms.to_be_bytes().to_vec(),
            used.to_be_bytes().to_vec(),
            body.as_bytes().to_vec(),
        ]
    }

    /// The row as it is handed out; none when it has no id of ours, since then it cannot be ours.
    fn handed_out(self, view: &View<'_>) -> Option<RememberedRow> {
        let is_ours = view.keys.row_is_ours(&self.sealed().each_ref().map(Vec::as_slice), &self.seal);
        let (id, tool) = (ApprovalId::parse(&self.id).ok()?, ToolId::parse(&self.tool).ok()?);
        let counted = |number: i64| u64::try_from(number).unwrap_or(0);
        let (until_ms, used) = (counted(self.until_ms), counted(self.used));
        Some(RememberedRow { id, tool, until_ms, used, body: self.body, is_ours })
    }
}

/// What the seal of a last yes is over.
fn last_fields<'a>(tool: &'a str, body: &'a str) -> [&'a [u8]; 3] {
    [b"last yes 1", tool.as_bytes(), body.as_bytes()]
}

impl View<'_> {
    /// A remembered answer, edited or not.
    pub fn remembered(&self, id: ApprovalId) -> Result<Option<RememberedRow>, StoreError> {
        Ok(self.remembered_where("id = ?1", &id.to_string(), 1)?.pop())
    }

    /// The remembered answers about a tool, the newest first, and no more than `limit`.
    pub fn remembered_of(&self, tool: ToolId, limit: usize) -> Result<Vec<RememberedRow>, StoreError> {
        self.remembered_where("tool_id = ?1", &tool.to_string(), limit)
    }

    /// Remembered answers, the newest first, and no more than `limit`.
    pub fn all_remembered(&self, limit: usize) -> Result<Vec<RememberedRow>, StoreError> {
        // Every id comes after the empty text.
        self.remembered_where("id > ?1", "", limit)
    }

    /// How many answers are remembered that hold at this time.
    pub fn remembered_count(&self, now_ms: u64) -> Result<u64, StoreError> {
        let now = i64::try_from(now_ms).map_err(|_| StoreError::Number { what: "a time" })?;
        self.connection
            .query_row("SELECT count(*) FROM remembered WHERE until_ms > ?1", [now], |row| {
                row.get::<_, i64>(0)
            })
            .map(|count| u64::try_from(count).unwrap_or(0))
            .map_err(StoreError::sql("count the remembered answers", self.path))
    }

    /// The last yes to a call of a tool, edited or not.
    pub fn last_yes(&self, tool: ToolId) -> Result<Option<LastYesRow>, StoreError> {
        let failed = || StoreError::sql("read the last yes", self.path);
        let tool = tool.to_string();
        let found = self
            .connection
            .prepare_cached("SELECT body, seal FROM last_yes WHERE tool_id = ?1")
            .map_err(failed())?
            .query_row([&tool], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)))
            .optional()
            .map_err(failed())?;
        Ok(found.map(|(body, seal)| {
            let is_ours = self.keys.row_is_ours(&last_fields(&tool, &body), &seal);
            LastYesRow { body, is_ours }
        }))
    }

    fn remembered_where(
        &self,
        demand: &str,
        value: &str,
        limit: usize,
    ) -> Result<Vec<RememberedRow>, StoreError> {
        let failed = || StoreError::sql("read the remembered answers", self.path);
        // Ids begin with the time they were made at.
        let sql = format!("SELECT {COLUMNS} FROM remembered WHERE {demand} ORDER BY id DESC LIMIT ?2");
        let mut statement = self.connection.prepare_cached(&sql).map_err(failed())?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![value, limit], Lying::read).map_err(failed())?;
        let mut found = Vec::new();
        for row in rows {
            found.extend(row.map_err(failed())?.handed_out(self));
        }
        Ok(found)
    }
}

impl Tx<'_> {
    /// Keeps a remembered answer, in the place of the one with its id, and seals it.
    pub fn put_remembered(&mut self, row: &RememberedRow) -> Result<(), StoreError> {
        let put = self.try_put_remembered(row);
        self.noted(put)
    }

    fn try_put_remembered(&self, row: &RememberedRow) -> Result<(), StoreError> {
        let RememberedRow { id, tool, until_ms, used, body, is_ours: _ } = row;
        let kept = |number: u64, what| i64::try_from(number).map_err(|_| StoreError::Number { what });
        let mut lying = Lying {
            id: id.to_string(),
            tool: tool.to_string(),
            until_ms: kept(*until_ms, "a time")?,
            used: kept(*used, "a count")?,
            body: body.clone(),
            seal: Vec::new(),
        };
        lying.seal = self.view.keys.row_seal(&lying.sealed().each_ref().map(Vec::as_slice)).to_vec();
        let Lying { id, tool, until_ms, used, body, seal } = lying;
        self.view
            .connection
            .prepare_cached(
                "INSERT INTO remembered (id, tool_id, until_ms, used, body, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (id) DO UPDATE SET tool_id = ?2, until_ms = ?3, used = ?4, body = ?5, seal = ?6",
            )
            .and_then(|mut statement| statement.execute(params![id, tool, until_ms, used, body, seal]))
            .map(drop)
            .map_err(StoreError::sql("remember an answer", self.view.path))
    }

    /// Forgets a remembered answer; false when there was none.
    pub fn remove_remembered(&mut self, id: ApprovalId) -> Result<bool, StoreError> {
        let removed = self
            .view
            .connection
            .execute("DELETE FROM remembered WHERE id = ?1", [id.to_string()])
            .map(|removed| removed > 0)
            .map_err(StoreError::sql("forget an answer", self.view.path));
        self.noted(removed)
    }

    /// Forgets what does not hold any more at this time.
    pub fn remove_ended_remembered(&mut self, now_ms: u64) -> Result<(), StoreError> {
        let now = i64::try_from(now_ms).map_err(|_| StoreError::Number { what: "a time" })?;
        let removed = self
            .view
            .connection
            .execute("DELETE FROM remembered WHERE until_ms <= ?1", [now])
            .map(drop)
            .map_err(StoreError::sql("forget ended answers", self.view.path));
        self.noted(removed)
    }

    /// Keeps the last yes to a call of a tool, in the place of the one before, and seals it.
    pub fn put_last_yes(&mut self, tool: ToolId, body: &str) -> Result<(), StoreError> {
        let tool = tool.to_string();
        let seal = self.view.keys.row_seal(&last_fields(&tool, body));
        let put = self
            .view
            .connection
            .prepare_cached("INSERT OR REPLACE INTO last_yes (tool_id, body, seal) VALUES (?1, ?2, ?3)")
            .and_then(|mut statement| statement.execute(params![tool, body, seal]))
            .map(drop)
            .map_err(StoreError::sql("keep the last yes", self.view.path));
        self.noted(put)
    }
}
