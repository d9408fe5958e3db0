//! Where heads go besides the store, so that cutting the store back is seen.
//!
//! A head goes to a witness only once the records it speaks for are on the disk: a witness must never speak of records
//! that a crash could take. A witness that cannot be written is counted and told, never passed over.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_audit::{Head, head_line, read_head_line};
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;

use crate::chain::Tail;
use crate::error::StoreError;
use crate::options::Witness;
use crate::place::{HEADS, Place};

/// What went wrong without ending a write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Troubles {
    /// How many heads did not reach a witness.
    pub witnesses_missed: u64,
    /// Whether records that were signed were gone when the store was opened.
    pub records_were_cut: bool,
    /// Whether records that we did not write lay behind ours when the store was opened.
    pub records_were_added: bool,
    /// What went wrong last.
    pub last: Option<String>,
}

/// The troubles, shared with whoever asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Troubles>>);

impl Trouble {
    pub(crate) fn read(&self) -> Troubles {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes what was found at the end of the chain.
    pub(crate) fn note_tail(&self, tail: Tail) {
        match tail {
            Tail::Whole => {}
            Tail::Cut => self.note(
                |troubles| troubles.records_were_cut = true,
                "records that were signed are gone; bailiwick audit verify names the first".to_owned(),
            ),
            Tail::Foreign => self.note(
                |troubles| troubles.records_were_added = true,
                "somebody else added to the record; bailiwick audit verify names the first".to_owned(),
            ),
        }
    }

    pub(crate) fn note(&self, what: impl FnOnce(&mut Troubles), last: String) {
        let mut troubles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        what(&mut troubles);
        troubles.last = Some(last);
    }
}

/// The most bytes of a line: a head has a few hundred.
pub(crate) const MOST_LINE: usize = 4096;

/// Every witness of a store.
pub(crate) struct Witnesses {
    /// Held, and locked, as long as the store is open.
    own: Lines,
    others: Vec<Witness>,
    trouble: Trouble,
}

/// A file of lines.
struct Lines {
    path: PathBuf,
    file: File,
}

impl Witnesses {
    /// Opens the witness in the folder, and locks it: whoever holds the lock is the only writer of the store. Gives the
    /// last head that the witness knows.
    pub(crate) fn open(
        place: &Place,
        others: Vec<Witness>,
        trouble: Trouble,
    ) -> Result<(Self, Option<Head>), StoreError> {
        let path = place.path_of(HEADS);
        let file = place.appended(HEADS)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(StoreError::InUse { path: place.path_of(crate::place::STORE) });
            }
            Err(errno) => return Err(StoreError::disk("lock", &path, errno)),
        }
        let mut own = Lines { path, file };
        let last = own.drop_torn_line().map_err(|source| StoreError::disk("repair", &own.path, source))?;
        Ok((Self { own, others, trouble }, last))
    }

    /// The paths of those that are files.
    pub(crate) fn files(place: &Place, others: &[Witness]) -> Vec<PathBuf> {
        let named = others.iter().filter_map(|witness| match witness {
            Witness::File(path) => Some(path.clone()),
            Witness::Custom(_) => None,
        });
        std::iter::once(place.path_of(HEADS)).chain(named).collect()
    }

    /// Hands heads to every witness.
    pub(crate) fn tell(&mut self, heads: &[Head]) {
        if heads.is_empty() {
            return;
        }
        let text: String = heads.iter().map(|head| head_line(head) + "\n").collect();
        let own = self.own.append(&text);
        self.reached(&self.own.path, heads, own);
        for witness in &self.others {
            match witness {
                Witness::File(path) => {
                    let written = Lines::open(path).and_then(|mut lines| {
                        lines.drop_torn_line()?;
                        lines.append(&text)
                    });
                    self.reached(path, heads, written);
                }
                Witness::Custom(tell) => {
                    for head in heads {
                        if catch_unwind(AssertUnwindSafe(|| tell(head))).is_err() {
                            self.trouble.note(
                                |troubles| troubles.witnesses_missed += 1,
                                format!("a witness panicked at the head for record {}", head.seq),
                            );
                        }
                    }
                }
            }
        }
    }

    fn reached(&self, path: &Path, heads: &[Head], written: std::io::Result<()>) {
        if let Err(error) = written {
            self.trouble.note(
                |troubles| troubles.witnesses_missed += heads.len() as u64,
                format!("cannot write the witness {}: {error}", path.display()),
            );
        }
    }
}

impl Lines {
    /// Opened for every head, since it may lie on a disk that comes and goes.
    fn open(path: &Path) -> std::io::Result<Self> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let flags = i32::try_from(flags.bits()).unwrap_or(0);
        let mut how = OpenOptions::new();
        how.read(true).append(true).create(true).mode(0o600).custom_flags(flags);
        let file = how.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(std::io::Error::other("it is not a regular file"));
        }
        Ok(Self { path: path.to_owned(), file })
    }

    fn append(&mut self, text: &str) -> std::io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()
    }

    /// Takes away a line whose end a crash has cut off: it has never been a witness to anything. Gives the head of the
    /// line that is then the last.
    fn drop_torn_line(&mut self) -> std::io::Result<Option<Head>> {
        let length = self.file.metadata()?.len();
        let from = length.saturating_sub(MOST_LINE as u64);
        self.file.seek(SeekFrom::Start(from))?;
        let mut end = Vec::with_capacity(MOST_LINE);
        Read::by_ref(&mut self.file).take(MOST_LINE as u64).read_to_end(&mut end)?;
        let whole = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        // Without any line end in reach it is no file of ours, and is left as it is.
        if whole < end.len() && (whole > 0 || from == 0) {
            self.file.set_len(from + whole as u64)?;
        }
        let lines = end.get(..whole.saturating_sub(1)).unwrap_or_default();
        Ok(lines.rsplit(|byte| *byte == b'\n').next().and_then(read_head_line))
    }
}
