//! Rows of the catalogue, and their seals.
//!
//! A row is sealed over every column but its long texts, and over a hash of those. So a list can tell an edited row
//! without reading the texts, and a full read can tell edited texts. An edited row is still given, and says so.

use bailiwick_audit::{Keys, hash_of};
use bailiwick_types::ToolId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::view::View;

/// A tool as it is kept. What its texts mean is not the store's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRow {
    /// Its id.
    pub id: ToolId,
    /// Its name, unlike that of every other tool.
    pub name: String,
    /// Its title, for lists.
    pub title: Option<String>,
    /// Its state in the lifecycle.
    pub state: String,
    /// The document.
    pub document: String,
    /// The canonical form, or its hash, of what a pass covers.
    pub covered: String,
    /// The same of its texts.
    pub texts: String,
    /// The record of its last pass.
    pub pass: Option<String>,
    /// What else is remembered.
    pub notes: Option<String>,
    /// Counted up by whoever changes it.
    pub version: u64,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// When it was changed last, in milliseconds since 1970.
    pub updated_ms: u64,
    /// A small cached JSON text for lists.
    pub standing: Option<String>,
    /// Whether the row is as we wrote it. Set when it is read; what it says when it is put does not matter.
    pub is_ours: bool,
}

/// What a list needs of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSummary {
    /// Its id.
    pub id: ToolId,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// Its state in the lifecycle.
    pub state: String,
    /// Its version.
    pub version: u64,
    /// When it was changed last, in milliseconds since 1970.
    pub updated_ms: u64,
    /// A small cached JSON text.
    pub standing: Option<String>,
    /// Whether the columns above are as we wrote them. The texts were not looked at.
    pub is_ours: bool,
}

/// The columns of `tools`, in the order in which they are read and sealed.
const COLUMNS: &str =
    "t.id, t.name, t.title, t.state, t.version, t.created_ms, t.updated_ms, t.standing, t.digest, t.seal";
const TEXTS: &str = "x.document, x.covered, x.texts, x.pass, x.notes";

/// The short columns as they lie.
struct Lying {
    id: String,
    name: String,
    title: Option<String>,
    state: String,
    version: i64,
    created_ms: i64,
    updated_ms: i64,
    standing: Option<String>,
    digest: Vec<u8>,
    seal: Vec<u8>,
}

impl Lying {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            name: row.get(1)?,
            title: row.get(2)?,
            state: row.get(3)?,
            version: row.get(4)?,
            created_ms: row.get(5)?,
            updated_ms: row.get(6)?,
            standing: row.get(7)?,
            digest: row.get(8)?,
            seal: row.get(9)?,
        })
    }

    /// What the seal is over. The first field keeps a tool's seal from being taken for one of another kind of row.
    fn sealed(&self) -> [Vec<u8>; 10] {
        let Self { id, name, title, state, version, created_ms, updated_ms, standing, digest, seal: _ } =
            self;
        [
            b"tool 1".to_vec(),
            id.as_bytes().to_vec(),
            name.as_bytes().to_vec(),
            maybe(title.as_deref()),
            state.as_bytes().to_vec(),
            version.to_be_bytes().to_vec(),
            created_ms.to_be_bytes().to_vec(),
            updated_ms.to_be_bytes().to_vec(),
            maybe(standing.as_deref()),
            digest.clone(),
        ]
    }

    fn is_ours(&self, keys: &Keys) -> bool {
        keys.row_is_ours(&self.sealed().each_ref().map(Vec::as_slice), &self.seal)
    }

    fn id(&self, view: &View<'_>) -> Result<ToolId, StoreError> {
        ToolId::parse(&self.id)
            .map_err(|error| StoreError::Damaged { path: view.path.to_owned(), what: error.to_string() })
    }

    fn summary(self, view: &View<'_>) -> Result<ToolSummary, StoreError> {
        let (id, is_ours) = (self.id(view)?, self.is_ours(view.keys));
        let Self { name, title, state, version, updated_ms, standing, .. } = self;
        let (version, updated_ms) = (counted(version), counted(updated_ms));
        Ok(ToolSummary { id, name, title, state, version, updated_ms, standing, is_ours })
    }
}

/// The long texts as they lie. Somebody may have taken their row away.
#[derive(Default)]
struct Long {
    document: String,
    covered: String,
    texts: String,
    pass: Option<String>,
    notes: Option<String>,
}

impl Long {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        if row.get_ref(10)? == ValueRef::Null {
            return Ok(Self::default());
        }
        Ok(Self {
            document: row.get(10)?,
            covered: row.get(11)?,
            texts: row.get(12)?,
            pass: row.get(13)?,
            notes: row.get(14)?,
        })
    }

    fn digest(&self) -> [u8; 32] {
        let Self { document, covered, texts, pass, notes } = self;
        let fields = [
            maybe(Some(document)),
            maybe(Some(covered)),
            maybe(Some(texts)),
            maybe(pass.as_deref()),
            maybe(notes.as_deref()),
        ];
        let mut framed = Vec::with_capacity(fields.iter().map(|field| field.len() + 8).sum());
        for field in &fields {
            framed.extend_from_slice(&(field.len() as u64).to_be_bytes());
            framed.extend_from_slice(field);
        }
        hash_of(&framed).0
    }
}

/// A text that may be absent, so that absent and empty differ.
fn maybe(text: Option<&str>) -> Vec<u8> {
    text.map_or_else(|| vec![0], |text| [&[1], text.as_bytes()].concat())
}

/// A number as it was put. A negative one was not put by us, which the seal says.
fn counted(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn kept(number: u64, what: &'static str) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| StoreError::Number { what })
}

/// Which tool is looked for.
#[derive(Clone, Copy)]
pub(crate) enum Which<'a> {
    Id(ToolId),
    Name(&'a str),
}

/// The statement for one tool in full, by this column.
pub(crate) fn select_one(column: &str) -> String {
    format!(
        "SELECT {COLUMNS}, {TEXTS} FROM tools t LEFT JOIN tool_texts x ON x.id = t.id WHERE t.{column} = ?1"
    )
}

/// One tool in full.
pub(crate) fn one(view: &View<'_>, which: Which<'_>) -> Result<Option<ToolRow>, StoreError> {
    let failed = || StoreError::sql("read a tool", view.path);
    let (column, wanted) = match which {
        Which::Id(id) => ("id", id.to_string()),
        Which::Name(name) => ("name", name.to_owned()),
    };
    let found = view
        .connection
        .prepare_cached(&select_one(column))
        .map_err(failed())?
        .query_row([wanted], |row| Ok((Lying::read(row)?, Long::read(row)?)))
        .optional()
        .map_err(failed())?;
    let Some((lying, texts)) = found else { return Ok(None) };
    let is_ours = lying.is_ours(view.keys) && texts.digest().as_slice() == lying.digest;
    let id = lying.id(view)?;
    let Long { document, covered, texts, pass, notes } = texts;
    let Lying { name, title, state, version, created_ms, updated_ms, standing, .. } = lying;
    Ok(Some(ToolRow {
        id,
        name,
        title,
        state,
        document,
        covered,
        texts,
        pass,
        notes,
        version: counted(version),
        created_ms: counted(created_ms),
        updated_ms: counted(updated_ms),
        standing,
        is_ours,
    }))
}

/// Tools in the order of their names, after a name.
pub(crate) fn list(
    view: &View<'_>,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<ToolSummary>, StoreError> {
    let failed = || StoreError::sql("list the tools", view.path);
    // Every name has a character, so all come after the empty one.
    let sql = format!("SELECT {COLUMNS} FROM tools t WHERE t.name > ?1 ORDER BY t.name LIMIT ?2");
    let mut statement = view.connection.prepare_cached(&sql).map_err(failed())?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![after.unwrap_or(""), limit], Lying::read).map_err(failed())?;
    rows.map(|row| row.map_err(failed())?.summary(view)).collect()
}

/// How many there are.
pub(crate) fn count(view: &View<'_>) -> Result<u64, StoreError> {
    let counting = view.connection.query_row("SELECT count(*) FROM tools", [], |row| row.get(0));
    counting.map(counted).map_err(StoreError::sql("count the tools", view.path))
}

/// Puts a tool in the place of the one with its id, or beside the others.
pub(crate) fn put(view: &View<'_>, tool: &ToolRow) -> Result<(), StoreError> {
    let ToolRow {
        id,
        name,
        title,
        state,
        document,
        covered,
        texts,
        pass,
        notes,
        version,
        created_ms,
        updated_ms,
        standing,
        is_ours: _,
    } = tool;
    let long = Long {
        document: document.clone(),
        covered: covered.clone(),
        texts: texts.clone(),
        pass: pass.clone(),
        notes: notes.clone(),
    };
    let mut short = Lying {
        id: id.to_string(),
        name: name.clone(),
        title: title.clone(),
        state: state.clone(),
        version: kept(*version, "the version of a tool")?,
        created_ms: kept(*created_ms, "a time")?,
        updated_ms: kept(*updated_ms, "a time")?,
        standing: standing.clone(),
        digest: long.digest().to_vec(),
        seal: Vec::new(),
    };
    short.seal = view.keys.row_seal(&short.sealed().each_ref().map(Vec::as_slice)).to_vec();
    write_short(view.connection, &short).map_err(|error| match error.sqlite_error() {
        Some(sqlite) if sqlite.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE => {
            StoreError::NameTaken { name: name.clone() }
        }
        _ => StoreError::sql("keep a tool", view.path)(error),
    })?;
    view.connection
        .prepare_cached(
            "INSERT INTO tool_texts (id, document, covered, texts, pass, notes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET document = ?2, covered = ?3, texts = ?4, pass = ?5, notes = ?6",
        )
        .and_then(|mut statement| {
            let Long { document, covered, texts, pass, notes } = long;
            statement.execute(params![short.id, document, covered, texts, pass, notes])
        })
        .map_err(StoreError::sql("keep a tool", view.path))?;
    Ok(())
}

fn write_short(connection: &Connection, short: &Lying) -> rusqlite::Result<usize> {
    let Lying { id, name, title, state, version, created_ms, updated_ms, standing, digest, seal } = short;
    connection
        .prepare_cached(
            "INSERT INTO tools (id, name, title, state, version, created_ms, updated_ms, standing, digest, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (id) DO UPDATE SET name = ?2, title = ?3, state = ?4, version = ?5, created_ms = ?6,
               updated_ms = ?7, standing = ?8, digest = ?9, seal = ?10",
        )?
        .execute(params![
            id, name, title, state, version, created_ms, updated_ms, standing, digest, seal
        ])
}

/// Takes a tool away; false when there was none.
pub(crate) fn remove(view: &View<'_>, id: ToolId) -> Result<bool, StoreError> {
    let failed = || StoreError::sql("remove a tool", view.path);
    let id = id.to_string();
    // What people said to calls of it goes with it.
    for table in ["remembered", "last_yes"] {
        let sql = format!("DELETE FROM {table} WHERE tool_id = ?1");
        view.connection.execute(&sql, [&id]).map_err(failed())?;
    }
    view.connection.execute("DELETE FROM tool_texts WHERE id = ?1", [&id]).map_err(failed())?;
    let removed = view.connection.execute("DELETE FROM tools WHERE id = ?1", [&id]).map_err(failed())?;
    Ok(removed > 0)
}
