//! The store: opened once per data folder, shared by whoever reads and writes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use bailiwick_audit::{Keys, PublicKey};
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::Semaphore;

use crate::chain::Chain;
use crate::connect;
use crate::edition::{Edition, Editions};
use crate::error::{StoreError, WriteError};
use crate::job::Job;
use crate::options::{Durability, Options};
use crate::place::{KEY, Place, STORE};
use crate::schema;
use crate::sync::{Disk, Log};
use crate::tx::Tx;
use crate::view::View;
use crate::witness::{Trouble, Troubles, Witnesses};
use crate::writer::{Message, Writer};

/// The key of the row that [`Store::probe`] writes.
const PROBE: &str = "probe";

/// Tools and records of one data folder. Clones share it; the last one that goes closes it, and waits for the disk.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    keys: Arc<Keys>,
    queue: Sender<Message>,
    places: Arc<Semaphore>,
    reads: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    witness_files: Vec<PathBuf>,
    editions: Arc<Editions>,
    trouble: Trouble,
    last_failed: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl Store {
    /// Opens the store of a folder, and makes both where they are not there. How long that takes does not depend on how
    /// much is in it.
    pub fn open(folder: &Path, options: Options) -> Result<Self, StoreError> {
        Self::open_with(folder, options, |place| Ok(Box::new(Log(place.database_log()?))))
    }

    /// Opens the store with another way to the disk.
    pub(crate) fn open_with(
        folder: &Path,
        options: Options,
        disk: impl FnOnce(&Place) -> Result<Box<dyn Disk>, StoreError>,
    ) -> Result<Self, StoreError> {
        let place = Place::open(folder)?;
        let trouble = Trouble::default();
        // The lock comes first: whatever follows is done by one process only.
        let (witnesses, last_told) = Witnesses::open(&place, options.witnesses.clone(), trouble.clone())?;
        let witness_files = Witnesses::files(&place, &options.witnesses);
        place.prepare_database()?;
        let path = place.path_of(STORE);
        let mut connection = connect::writer(&path)?;
        let version = schema::version(&connection, &path)?;
        let keys = Arc::new(own_keys(&place, &connection, version, &path)?);
        connect::use_log(&connection, &path)?;
        schema::migrate(&mut connection, version, &path)?;
        remember_key(&connection, &keys, &path)?;
        let disk = disk(&place)?;
        let view = View { connection: &connection, keys: &keys, path: &path };
        let (chain, tail) = Chain::take_up(&view, last_told)?;
        trouble.note_tail(tail);
        let editions = Arc::new(Editions::default());
        let last_failed = Arc::new(AtomicBool::new(false));
        editions.others_are(connect::changes_by_others(&connection, &path)?);
        let now = std::time::Instant::now();
        let (queue, jobs) = channel();
        let (places, reads) = (options.queue.max(1), options.readers.max(1));
        let writer = Writer {
            unsigned_since: (chain.unsigned() > 0).then_some(now),
            connection,
            path: path.clone(),
            keys: Arc::clone(&keys),
            options,
            chain,
            disk,
            trouble: trouble.clone(),
            heads: Vec::new(),
            editions: Arc::clone(&editions),
            fresh: Vec::new(),
            unsynced_since: None,
            failed: None,
            last_failed: Arc::clone(&last_failed),
            witnesses,
        };
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run(&jobs))
            .map_err(|error| StoreError::Thread(Arc::new(error)))?;
        let inner = Inner {
            path,
            keys,
            queue,
            places: Arc::new(Semaphore::new(places)),
            reads: Arc::new(Semaphore::new(reads)),
            idle: Mutex::new(Vec::new()),
            witness_files,
            editions,
            trouble,
            last_failed,
            thread: Mutex::new(Some(thread)),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Does a job in a transaction: all of it is kept, or when it gives an error, none. The answer comes when what it did
    /// has survived as much as `durability` says. Once the job has its place in the queue it is done, whether or not
    /// somebody still waits.
    pub async fn write<T, E, F>(&self, durability: Durability, job: F) -> Result<T, WriteError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        let closed = || WriteError::Store(StoreError::Closed);
        let place = Arc::clone(&self.inner.places).acquire_owned().await.map_err(|_| closed())?;
        let (job, answer) = Job::new(durability, Some(place), job);
        self.inner.queue.send(Message::Job(job)).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Reads at one moment, in a thread where waiting is fine. It never waits for a writer.
    pub async fn read<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&View<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let permit = Arc::clone(&self.inner.reads).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let inner = Arc::clone(&self.inner);
        let reading = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            inner.read(job)
        });
        reading.await.map_err(|_| StoreError::Panicked)?
    }

    /// Whether the last write that should have been kept was not, for a fault of the disk or the database.
    pub fn last_write_failed(&self) -> bool {
        self.inner.last_failed.load(Ordering::Acquire)
    }

    /// Writes a row that means nothing, to find out whether anything can be written.
    pub async fn probe(&self) -> Result<(), StoreError> {
        let wrote = self.write(Durability::Process, |tx| tx.set_meta(PROBE, "written")).await;
        wrote.map_err(WriteError::into_store)
    }

    /// Bytes within the file of the database that hold nothing; they are used before the file grows.
    pub async fn free_within(&self) -> Result<u64, StoreError> {
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone is of one lifetime")]
        self.read(|view| view.free_within()).await
    }

    /// The edition of the tools, as far as it is known. What is read of a tool after this was asked, and no later, is of
    /// this edition, or is told to be outdated by [`Tx::edition`].
    pub fn edition(&self) -> Edition {
        self.inner.editions.known()
    }

    /// The key that heads can be checked with.
    pub fn public_key(&self) -> PublicKey {
        self.inner.keys.public()
    }

    /// What went wrong without ending a write.
    pub fn troubles(&self) -> Troubles {
        self.inner.trouble.read()
    }

    /// Ends the writing: everything that waits is done, signed, on the disk and told to the witnesses. Later writes are
    /// refused.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.inner.places.close();
        let Some(thread) = self.inner.stop() else { return Ok(()) };
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        match joined {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(StoreError::Panicked),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.inner.path
    }

    pub(crate) fn witness_files(&self) -> &[PathBuf] {
        &self.inner.witness_files
    }
}

impl Inner {
    fn read<T>(&self, job: impl FnOnce(&View<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = idle.map_or_else(|| connect::reader(&self.path), Ok)?;
        let failed = || StoreError::sql("read the store", &self.path);
        connection.execute_batch("BEGIN").map_err(failed())?;
        let given = job(&View { connection: &connection, keys: &self.keys, path: &self.path });
        // A connection that cannot end its view is not used again.
        connection.execute_batch("ROLLBACK").map_err(failed())?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        given
    }

    fn stop(&self) -> Option<JoinHandle<()>> {
        // It is gone already when nobody listens.
        drop(self.queue.send(Message::Close));
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(thread) = self.stop() {
            // Its panic was printed; there is nobody left to tell.
            drop(thread.join());
        }
    }
}

/// The keys of this store. New ones are made for a store that has never had any, and for no other.
fn own_keys(place: &Place, connection: &Connection, version: i64, path: &Path) -> Result<Keys, StoreError> {
    let known = if version > 0 { known_key(connection, path)? } else { None };
    let in_use = known.is_some() || (version > 0 && has_rows(connection, version, path)?);
    let Some(keys) = place.keys()? else {
        if in_use {
            return Err(StoreError::MissingKey { path: place.path_of(KEY) });
        }
        return place.make_keys();
    };
    // Where there are rows there must be a word about their key.
    if in_use && known.as_deref() != Some(keys.public().as_bytes().as_slice()) {
        return Err(StoreError::WrongKey { path: place.path_of(KEY) });
    }
    Ok(keys)
}

fn known_key(connection: &Connection, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    connection
        .query_row("SELECT key FROM own", [], |row| row.get(0))
        .optional()
        .map_err(StoreError::sql("look at the store", path))
}

/// Whether anything in it was sealed or chained, by the first row of each table.
fn has_rows(connection: &Connection, version: i64, path: &Path) -> Result<bool, StoreError> {
    let mut tables = vec!["meta", "tools"];
    if version > 1 {
        tables.extend(["audit", "heads"]);
    }
    if version > 2 {
        tables.push("keys");
    }
    if version > 3 {
        tables.extend(["remembered", "last_yes"]);
    }
    for table in tables {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table})");
        let any: bool = connection
            .query_row(&sql, [], |row| row.get(0))
            .map_err(StoreError::sql("look at the store", path))?;
        if any {
            return Ok(true);
        }
    }
    Ok(false)
}

fn remember_key(connection: &Connection, keys: &Keys, path: &Path) -> Result<(), StoreError> {
    connection
        .execute("INSERT OR IGNORE INTO own (one, key) VALUES (1, ?1)", [keys.public().as_bytes()])
        .map(drop)
        .map_err(StoreError::sql("write to the store", path))
}
