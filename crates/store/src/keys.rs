//! Rows of the server's keys, and their seals.
//!
//! What opens anything is not here: a row has a hash of it. An edited row is still given, and says so; what it opens is
//! for others to decide.

use bailiwick_audit::Digest;
use bailiwick_types::KeyId;
use rusqlite::{OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::view::View;

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// Its id.
    pub id: KeyId,
    /// Its name. Others may have had it before.
    pub name: String,
    /// What it covers, as words.
    pub scopes: String,
    /// SHA-256 of what opens.
    pub hash: Digest,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// Until when it holds.
    pub expires_ms: Option<u64>,
    /// Since when it is worthless.
    pub revoked_ms: Option<u64>,
    /// When it was last used.
    pub used_ms: Option<u64>,
    /// Requests a second that it may make.
    pub per_second: Option<u32>,
    /// Requests that it may have under way.
    pub at_once: Option<u32>,
    /// Whether a yes in the dialogue of its MCP client counts as a person's answer.
    pub dialogue: bool,
    /// Whether the row is as we wrote it. Set when it is read; what it says when it is put does not matter.
    pub is_ours: bool,
}

const COLUMNS: &str = "id, name, scopes, hash, created_ms, expires_ms, revoked_ms, used_ms, per_second, at_once, dialogue, seal";

/// A key as it lies.
struct Lying {
    id: String,
    name: String,
    scopes: String,
    hash: Vec<u8>,
    created_ms: i64,
    /// `expires_ms`, `revoked_ms`, `used_ms`, `per_second`, `at_once`.
    numbers: [Option<i64>; 5],
    dialogue: bool,
    seal: Vec<u8>,
}

impl Lying {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            name: row.get(1)?,
            scopes: row.get(2)?,
            hash: row.get(3)?,
            created_ms: row.get(4)?,
            numbers: [row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?],
            dialogue: row.get(10)?,
            seal: row.get(11)?,
        })
    }

    /// What the seal is over. The first field keeps a key's seal from being taken for one of another kind of row.
    fn sealed(&self) -> Vec<Vec<u8>> {
        let Self { id, name, scopes, hash, created_ms, numbers, dialogue, seal: _ } = self;
        let maybe = |number: &Option<i64>| {
            number.map_or_else(|| vec![0], |number| [&[1], number.to_be_bytes().as_slice()].concat())
        };
        // Rows without the right are sealed as they were before there was one, so that older keys stay valid.
        let kind = if *dialogue { "key 1, dialogue" } else { "key 1" };
        let mut fields = vec![
            kind.as_bytes().to_vec(),
            id.as_bytes().to_vec(),
            name.as_bytes().to_vec(),
            scopes.as_bytes().to_vec(),
            hash.clone(),
            created_ms.to_be_bytes().to_vec(),
        ];
        fields.extend(numbers.iter().map(maybe));
        fields
    }

    fn given(self, view: &View<'_>) -> KeyRow {
        let fields = self.sealed();
        let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        let is_ours = view.keys.row_is_ours(&fields, &self.seal);
        let Self { id, name, scopes, hash, created_ms, numbers, dialogue, seal: _ } = self;
        // A number that no key of ours can have is one of a row that is not ours.
        let time = |number: Option<i64>| number.map(|number| u64::try_from(number).unwrap_or(0));
        let count = |number: Option<i64>| number.map(|number| u32::try_from(number).unwrap_or(0));
        let [expires_ms, revoked_ms, used_ms, per_second, at_once] = numbers;
        // An id that is none is one of such a row, too.
        let known = KeyId::parse(&id).ok();
        KeyRow {
            id: known.unwrap_or_else(|| KeyId::from_parts(0, &[0; 10])),
            name,
            scopes,
            is_ours: is_ours && known.is_some() && hash.len() == 32,
            hash: Digest::from_slice(&hash).unwrap_or(Digest::ZERO),
            created_ms: time(Some(created_ms)).unwrap_or(0),
            expires_ms: time(expires_ms),
            revoked_ms: time(revoked_ms),
            used_ms: time(used_ms),
            per_second: count(per_second),
            at_once: count(at_once),
            dialogue,
        }
    }
}

/// Every key, by name and age.
pub(crate) fn all(view: &View<'_>) -> Result<Vec<KeyRow>, StoreError> {
    let failed = || StoreError::sql("list the keys", view.path);
    let sql = format!("SELECT {COLUMNS} FROM keys ORDER BY name, created_ms, id");
    let mut statement = view.connection.prepare_cached(&sql).map_err(failed())?;
    let rows = statement.query_map([], Lying::read).map_err(failed())?;
    rows.map(|row| Ok(row.map_err(failed())?.given(view))).collect()
}

/// One key.
pub(crate) fn one(view: &View<'_>, id: KeyId) -> Result<Option<KeyRow>, StoreError> {
    let failed = || StoreError::sql("read a key", view.path);
    let sql = format!("SELECT {COLUMNS} FROM keys WHERE id = ?1");
    let found = view
        .connection
        .prepare_cached(&sql)
        .map_err(failed())?
        .query_row([id.to_string()], Lying::read)
        .optional()
        .map_err(failed())?;
    Ok(found.map(|lying| lying.given(view)))
}

/// Puts a key in the place of the one with its id, or beside the others.
pub(crate) fn put(view: &View<'_>, key: &KeyRow) -> Result<(), StoreError> {
    let KeyRow {
        id,
        name,
        scopes,
        hash,
        created_ms,
        expires_ms,
        revoked_ms,
        used_ms,
        per_second,
        at_once,
        dialogue,
        is_ours: _,
    } = key;
    let time =
        |time: &u64| i64::try_from(*time).map_err(|_| StoreError::Number { what: "the time of a key" });
    let count = |count: &Option<u32>| count.map(i64::from);
    let lying = Lying {
        id: id.to_string(),
        name: name.clone(),
        scopes: scopes.clone(),
        hash: hash.0.to_vec(),
        created_ms: time(created_ms)?,
        numbers: [
            expires_ms.as_ref().map(time).transpose()?,
            revoked_ms.as_ref().map(time).transpose()?,
            used_ms.as_ref().map(time).transpose()?,
            count(per_second),
            count(at_once),
        ],
        dialogue: *dialogue,
        seal: Vec::new(),
    };
    let fields = lying.sealed();
    let seal = view.keys.row_seal(&fields.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let Lying { id, name, scopes, hash, created_ms, numbers, dialogue, seal: _ } = lying;
    let [expires_ms, revoked_ms, used_ms, per_second, at_once] = numbers;
    let sql = format!(
        "INSERT OR REPLACE INTO keys ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    );
    view.connection
        .prepare_cached(&sql)
        .and_then(|mut statement| {
            statement.execute(params![
                id, name, scopes, hash, created_ms, expires_ms, revoked_ms, used_ms, per_second, at_once,
                dialogue, seal
            ])
        })
        .map(drop)
        .map_err(StoreError::sql("keep a key", view.path))
}
