//! Answers that were given, in memory: bounded by number, by bytes and by age, the oldest gone first.
//!
//! One caller has a share of the room and no more: whoever sends many pushes out their own answers, not those of others.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use tokio::time::Instant;

/// For how long an answer is kept.
const DAY: Duration = Duration::from_hours(24);

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// So many answers.
    pub(crate) entries: usize,
    /// So many bytes of them.
    pub(crate) bytes: usize,
}

/// One caller has so many parts of the room …
const PARTS: usize = 16;
/// … but room for so many answers …
const LEAST_ENTRIES: usize = 64;
/// … and for the largest answer that is kept.
const LEAST_BYTES: usize = super::LARGEST;

impl Bounds {
    /// What one caller may have of it.
    fn share(self) -> Self {
        Self {
            entries: (self.entries / PARTS).max(LEAST_ENTRIES),
            bytes: (self.bytes / PARTS).max(LEAST_BYTES),
        }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self { entries: 10_000, bytes: 64 << 20 }
    }
}

/// Whose request it is: their key, its name, their client, the path, and what they named it by.
pub(crate) type Place = (Option<String>, Option<String>, String, String, String);

/// Whose it is, wherever and whatever they asked.
type Owner = (Option<String>, Option<String>, String);

fn owner((shown, key, client, _, _): &Place) -> Owner {
    (shown.clone(), key.clone(), client.clone())
}

/// An answer that was given.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// All of it.
    Whole(Stored),
    /// Only that it was; whoever asks again is told this.
    Only(String),
}

/// All of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What is known of a request that comes in.
#[derive(Debug)]
pub(crate) enum Begun {
    /// Nothing: whoever asked does it.
    Mine(Turn),
    /// It is being done.
    Running,
    /// The same place with another body.
    Another,
    /// It was done.
    Before(Answer),
}

/// All answers that are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    shelf: Arc<Mutex<Shelf>>,
    bounds: Bounds,
}

#[derive(Debug, Default)]
struct Shelf {
    entries: HashMap<Place, Entry>,
    /// What is done, by its number: the oldest first.
    done: BTreeMap<u64, (Instant, Place)>,
    /// What of it is whose.
    shares: HashMap<Owner, Share>,
    bytes: usize,
    next: u64,
}

/// What of the room one caller has.
#[derive(Debug, Default)]
struct Share {
    /// The numbers of their answers, the oldest first.
    numbers: VecDeque<u64>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    hash: [u8; 32],
    /// None while it is being done.
    answer: Option<Answer>,
}

/// The right to do a request. Dropping it gives the right back.
#[derive(Debug)]
pub(crate) struct Turn {
    kept: Kept,
    place: Option<Place>,
}

impl Kept {
    #[cfg(test)]
    pub(crate) fn within(bounds: Bounds) -> Self {
        Self { shelf: Arc::default(), bounds }
    }

    /// Looks for a request, and takes it on where it is new.
    pub(crate) fn begin(&self, place: Place, hash: [u8; 32]) -> Begun {
        let mut all = self.shelf();
        all.forget(Bounds { entries: usize::MAX, bytes: usize::MAX }, Instant::now());
        match all.entries.get(&place) {
            None => {}
            Some(entry) if entry.hash != hash => return Begun::Another,
            Some(Entry { answer: None, .. }) => return Begun::Running,
            Some(Entry { answer: Some(answer), .. }) => return Begun::Before(answer.clone()),
        }
        all.entries.insert(place.clone(), Entry { hash, answer: None });
        drop(all);
        Begun::Mine(Turn { kept: self.clone(), place: Some(place) })
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Keeps the answer.
    pub(crate) fn end(mut self, answer: Answer) {
        let Some(place) = self.place.take() else { return };
        let now = Instant::now();
        let mut all = self.kept.shelf();
        let owner = owner(&place);
        all.keep(place, answer, now);
        all.hold_to_share(&owner, self.kept.bounds.share());
        all.forget(self.kept.bounds, now);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.kept.shelf().entries.remove(&place);
        }
    }
}

impl Shelf {
    /// Keeps the answer of what was being done.
    fn keep(&mut self, place: Place, answer: Answer, now: Instant) {
        let Some(entry) = self.entries.get_mut(&place) else { return };
        let size = size(&place, &answer);
        entry.answer = Some(answer);
        let share = self.shares.entry(owner(&place)).or_default();
        share.numbers.push_back(self.next);
        share.bytes = share.bytes.saturating_add(size);
        self.bytes = self.bytes.saturating_add(size);
        self.done.insert(self.next, (now, place));
        self.next = self.next.saturating_add(1);
    }

    /// Forgets what somebody has beyond their share.
    fn hold_to_share(&mut self, owner: &Owner, most: Bounds) {
        while let Some(Share { numbers, bytes }) = self.shares.get(owner) {
            let oldest = numbers.front().copied();
            let is_within = numbers.len() <= most.entries && *bytes <= most.bytes;
            let Some(oldest) = oldest.filter(|_| !is_within) else { return };
            self.remove(oldest);
        }
    }

    /// Forgets what is too old or too much.
    fn forget(&mut self, bounds: Bounds, now: Instant) {
        while let Some((number, (since, _))) = self.done.first_key_value() {
            let is_old = now.duration_since(*since) >= DAY;
            if !is_old && self.done.len() <= bounds.entries && self.bytes <= bounds.bytes {
                return;
            }
            self.remove(*number);
        }
    }

    /// Forgets one answer: the oldest of whoever it is of.
    fn remove(&mut self, number: u64) {
        let Some((_, place)) = self.done.remove(&number) else { return };
        let size = match self.entries.remove(&place) {
            Some(Entry { answer: Some(answer), .. }) => size(&place, &answer),
            Some(Entry { answer: None, .. }) | None => 0,
        };
        self.bytes = self.bytes.saturating_sub(size);
        let owner = owner(&place);
        if let Some(share) = self.shares.get_mut(&owner) {
            share.bytes = share.bytes.saturating_sub(size);
            share.numbers.pop_front();
            if share.numbers.is_empty() {
                self.shares.remove(&owner);
            }
        }
    }
}

/// Roughly what an answer takes.
fn size((shown, key, client, path, name): &Place, answer: &Answer) -> usize {
    let place = [shown.as_deref(), key.as_deref(), Some(client), Some(path), Some(name)];
    let place: usize = place.into_iter().flatten().map(str::len).sum();
    let held = match answer {
        Answer::Whole(stored) => {
            let headers: usize =
                stored.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
            stored.body.len().saturating_add(headers)
        }
        Answer::Only(says) => says.len(),
    };
    place.saturating_mul(2).saturating_add(held).saturating_add(256)
}
