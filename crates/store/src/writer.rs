//! The one thread that writes: jobs that wait go into one transaction, and nobody is answered before it is committed.
//!
//! Each job has a savepoint, so that what one undoes is its own. It must never acknowledge what is not committed, nor,
//! for whoever asked for that, what is not on the disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use bailiwick_audit::{Head, Keys};
use rusqlite::Connection;

use crate::chain::Chain;
use crate::edition::Editions;
use crate::error::StoreError;
use crate::job::{Answer, Job, Ran, Run, Wish};
use crate::options::{Durability, Options};
use crate::records::StoredRecord;
use crate::sync::Disk;
use crate::tx::Tx;
use crate::view::View;
use crate::witness::{Trouble, Witnesses};

/// The most jobs in one transaction, so that the first of them does not wait for long.
const MOST_JOBS: usize = 512;
/// How long what was committed may wait for the disk. The promise is 50 ms; a transaction may be under way meanwhile.
const SYNC_AFTER: Duration = Duration::from_millis(25);

/// What the thread is told.
pub(crate) enum Message {
    Job(Job),
    Close,
}

/// The thread's own.
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) keys: Arc<Keys>,
    pub(crate) options: Options,
    pub(crate) chain: Chain,
    pub(crate) disk: Box<dyn Disk>,
    pub(crate) trouble: Trouble,
    /// Heads that were committed, and wait for the disk before a witness hears of them.
    pub(crate) heads: Vec<Head>,
    /// Which state the tools are in.
    pub(crate) editions: Arc<Editions>,
    /// Records of the open transaction that somebody hears of once it is committed.
    pub(crate) fresh: Vec<StoredRecord>,
    /// Since when something that was committed waits for the disk.
    pub(crate) unsynced_since: Option<Instant>,
    /// Since when a record waits for a head.
    pub(crate) unsigned_since: Option<Instant>,
    /// A failure of the disk, after which nothing can be promised any more.
    pub(crate) failed: Option<StoreError>,
    /// Whether the last write that should have been kept was not, for a fault of the disk or the database.
    pub(crate) last_failed: Arc<AtomicBool>,
    /// Last, since closing it gives the lock of the store back.
    pub(crate) witnesses: Witnesses,
}

/// A job that ran, and waits for the transaction to end.
struct Waiting {
    durability: Durability,
    answer: Answer,
    fate: Fate,
}

/// What became of a job in its transaction.
enum Fate {
    /// It is in the transaction.
    Kept,
    /// It wished to be undone, and was.
    Undone,
    /// It was undone though it did not wish it.
    Lost(StoreError),
}

impl Writer {
    /// Works until it is told to close, or nobody is left to tell it anything.
    pub(crate) fn run(mut self, queue: &Receiver<Message>) {
        let mut open = true;
        while open {
            let first = match self.next_deadline() {
                None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(deadline) => queue.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            };
            match first {
                Ok(Message::Job(first)) => {
                    let mut jobs = vec![first];
                    while jobs.len() < MOST_JOBS {
                        match queue.try_recv() {
                            Ok(Message::Job(job)) => jobs.push(job),
                            Ok(Message::Close) => {
                                open = false;
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.perform(jobs);
                }
                Ok(Message::Close) | Err(RecvTimeoutError::Disconnected) => open = false,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.keep_promises(Instant::now());
        }
        self.end();
    }

    /// When something is due though no job comes.
    fn next_deadline(&self) -> Option<Instant> {
        let sync = self.unsynced_since.map(|since| since + SYNC_AFTER);
        let sign = self.unsigned_since.map(|since| since + self.options.head_after);
        [sync, sign].into_iter().flatten().min()
    }

    /// Signs and syncs what has waited long enough.
    fn keep_promises(&mut self, now: Instant) {
        if self.unsigned_since.is_some_and(|since| now.duration_since(since) >= self.options.head_after) {
            self.sign_now();
        }
        if self.unsynced_since.is_some_and(|since| now.duration_since(since) >= SYNC_AFTER) {
            // Those who waited for it have their answer; a failure is remembered, and told to whoever comes next.
            drop(self.sync());
        }
        self.tell();
    }

    /// Everything is signed, on the disk and told to the witnesses before the thread ends.
    fn end(mut self) {
        if self.chain.unsigned() > 0 {
            self.sign_now();
        }
        // A failure is among the troubles, and nobody is left who could be told.
        drop(self.sync());
        self.tell();
    }

    /// Does jobs in one transaction.
    fn perform(&mut self, jobs: Vec<Job>) {
        let before = self.chain.clone();
        let tools_before = self.editions.own();
        let mut waiting: Vec<Waiting> = Vec::with_capacity(jobs.len());
        let mut begun = self.begin();
        for Job { durability, run, place } in jobs {
            let (answer, fate) = match &begun {
                Ok(()) => self.one(run),
                Err(error) => (run(Err(error.clone())).answer, Fate::Undone),
            };
            waiting.push(Waiting { durability, answer, fate });
            drop(place);
            // The database has given up the whole transaction; those before are gone with it.
            if begun.is_ok() && self.connection.is_autocommit() {
                self.chain = before.clone();
                self.fresh.clear();
                for lost in waiting.iter_mut().filter(|job| matches!(job.fate, Fate::Kept)) {
                    lost.fate = Fate::Lost(StoreError::Undone);
                }
                begun = self.begin();
            }
        }
        let committed = begun.and_then(|()| self.commit());
        if committed.is_ok() {
            let kept = waiting.iter().any(|job| matches!(job.fate, Fate::Kept));
            if kept {
                self.last_failed.store(false, Ordering::Release);
            }
            self.committed(before.signed_to, kept);
        } else {
            self.last_failed.store(true, Ordering::Release);
            self.chain = before;
            self.fresh.clear();
        }
        if self.editions.own() != tools_before {
            self.editions.tools_change();
        }
        self.let_hear();
        self.answer(waiting, &committed);
        self.tell();
    }

    /// Tells whoever listens of records that are committed, before those who wait for them have their answers.
    fn let_hear(&mut self) {
        let fresh = std::mem::take(&mut self.fresh);
        let Some(hears) = self.options.hears.as_ref().filter(|_| !fresh.is_empty()) else { return };
        if catch_unwind(AssertUnwindSafe(|| hears.hear(fresh))).is_err() {
            self.trouble.note(|_| {}, "whoever hears of records panicked".to_owned());
        }
    }

    /// Does one job within the open transaction.
    fn one(&mut self, run: Run) -> (Answer, Fate) {
        let before = self.chain.clone();
        let heard_before = self.fresh.len();
        let is_heard = self.options.hears.as_ref().is_some_and(|hears| hears.is_listening());
        if let Err(error) = self.execute("SAVEPOINT job") {
            return (run(Err(error)).answer, Fate::Undone);
        }
        let mut tx = Tx {
            view: View { connection: &self.connection, keys: &self.keys, path: &self.path },
            chain: &mut self.chain,
            now_ms: (self.options.clock)(),
            head_every: self.options.head_every,
            editions: &self.editions,
            fresh: is_heard.then_some(&mut self.fresh),
            failed: None,
        };
        let Ran { wish, answer } = run(Ok(&mut tx));
        if tx.failed.is_some() {
            self.last_failed.store(true, Ordering::Release);
        }
        let fate = match (wish, tx.failed) {
            (Wish::Keep, None) => self.execute("RELEASE job").map_or_else(Fate::Lost, |()| Fate::Kept),
            (Wish::Keep, Some(error)) => Fate::Lost(error),
            (Wish::Undo, _) => Fate::Undone,
        };
        if !matches!(fate, Fate::Kept) {
            self.chain = before;
            self.fresh.truncate(heard_before);
            if !self.connection.is_autocommit()
                && self.execute("ROLLBACK TO job").and_then(|()| self.execute("RELEASE job")).is_err()
            {
                // What cannot be undone alone is undone with all the others; they are told.
                drop(self.execute("ROLLBACK"));
            }
        }
        (answer, fate)
    }

    /// Answers those who need no disk first.
    fn answer(&mut self, waiting: Vec<Waiting>, committed: &Result<(), StoreError>) {
        let (at_once, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|job| {
            !matches!(job.fate, Fate::Kept) || job.durability == Durability::Process || committed.is_err()
        });
        for Waiting { answer, fate, durability: _ } in at_once {
            answer(match fate {
                Fate::Kept => committed.clone(),
                Fate::Undone => Ok(()),
                Fate::Lost(error) => Err(error),
            });
        }
        if later.is_empty() {
            return;
        }
        let synced = self.sync();
        for Waiting { answer, .. } in later {
            answer(synced.clone());
        }
    }

    /// Notes what a transaction that was committed has left to do.
    fn committed(&mut self, signed_to_before: u64, anything: bool) {
        let now = Instant::now();
        if anything {
            self.unsynced_since.get_or_insert(now);
        }
        self.heads.append(&mut self.chain.heads);
        if self.chain.signed_to != signed_to_before {
            self.unsigned_since = None;
        }
        if self.chain.unsigned() > 0 {
            self.unsigned_since.get_or_insert(now);
        }
    }

    /// Signs a head for the last record, in a transaction of its own.
    fn sign_now(&mut self) {
        let before = self.chain.clone();
        let now_ms = (self.options.clock)();
        let signed = self.begin().and_then(|()| {
            let view = View { connection: &self.connection, keys: &self.keys, path: &self.path };
            let signed = self.chain.sign(&view, &self.keys, now_ms);
            signed.and_then(|()| self.commit())
        });
        match signed {
            Ok(()) => self.committed(before.signed_to, true),
            Err(error) => {
                if !self.connection.is_autocommit() {
                    drop(self.execute("ROLLBACK"));
                }
                self.chain = before;
                // Tried again when as much time has gone by.
                self.unsigned_since = Some(Instant::now());
                self.trouble.note(|_| {}, format!("cannot sign a head: {error}"));
            }
        }
    }

    /// Brings what was committed to the disk. A disk that fails here may have lost what it had taken, and would not say
    /// so again: from then on nothing is acknowledged.
    fn sync(&mut self) -> Result<(), StoreError> {
        if let Some(error) = &self.failed {
            return Err(StoreError::Failed(Arc::new(error.clone())));
        }
        if self.unsynced_since.is_none() {
            return Ok(());
        }
        match self.disk.sync() {
            Ok(()) => {
                self.unsynced_since = None;
                Ok(())
            }
            Err(source) => {
                let error = StoreError::disk("bring to the disk", &self.path, source);
                self.trouble.note(|_| {}, error.to_string());
                self.unsynced_since = None;
                self.unsigned_since = None;
                self.heads.clear();
                self.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Hands heads to the witnesses once their records are on the disk.
    fn tell(&mut self) {
        if self.unsynced_since.is_none() {
            let heads = std::mem::take(&mut self.heads);
            self.witnesses.tell(&heads);
        }
    }

    fn begin(&self) -> Result<(), StoreError> {
        match &self.failed {
            Some(error) => Err(StoreError::Failed(Arc::new(error.clone()))),
            None => self.execute("BEGIN IMMEDIATE"),
        }
    }

    fn commit(&self) -> Result<(), StoreError> {
        let committed = self.execute("COMMIT");
        if committed.is_err() && !self.connection.is_autocommit() {
            drop(self.execute("ROLLBACK"));
        }
        committed
    }

    fn execute(&self, sql: &'static str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute([]))
            .map(drop)
            .map_err(StoreError::sql("write to the store", &self.path))
    }
}
