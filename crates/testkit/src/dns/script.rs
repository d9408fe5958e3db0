//! What is answered to which name, and how often it was asked.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// One reply to a question about a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// These addresses; a question for one family gets those of that family.
    Addresses(Vec<IpAddr>),
    /// The name is another name's alias. Who that is follows in the same answer, as far as the script knows.
    Alias(String),
    /// The name is another name's alias, and the asker has to ask for that one.
    BareAlias(String),
    /// There is no such name.
    NoSuchName,
    /// The server failed.
    ServerFailed,
    /// The name is there and has no address.
    Empty,
    /// No answer at all.
    Silent,
    /// Too long for UDP: cut there to nothing, whole over TCP.
    Truncated(Vec<IpAddr>),
    /// Bytes that are no message.
    Garbage,
}

impl Reply {
    /// Addresses from text.
    ///
    /// # Panics
    /// When one of them is none.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn addresses(addresses: &[&str]) -> Self {
        Self::Addresses(addresses.iter().map(|one| one.parse().expect("an address")).collect())
    }

    /// As many different addresses of version 4 as said, all of the reserved block 198.18.0.0/15 (at most 131 072).
    pub fn many(count: u32) -> Self {
        let base = u32::from_be_bytes([198, 18, 0, 0]);
        Self::Addresses((0..count).map(|number| IpAddr::V4((base + number % (1 << 17)).into())).collect())
    }
}

/// What a question is about. The steps of a sequence are counted for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    V4,
    V6,
    /// Both at once, as a table in memory is asked.
    Both,
    /// Something that no script answers, like a TXT record.
    Other,
}

/// Whether a question came by a way that can carry long answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Short,
    Long,
}

/// The replies for each name. Names it does not know do not exist.
#[derive(Debug, Default)]
pub struct Script {
    names: HashMap<String, Vec<Reply>>,
    asked: Mutex<HashMap<(String, Asked), Count>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    /// All questions.
    questions: usize,
    /// Those that went on to the next reply.
    steps: usize,
}

impl Script {
    /// An empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these replies for the name, one for each question of a kind; the last one repeats.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn name(mut self, name: &str, replies: &[Reply]) -> Self {
        assert!(!replies.is_empty(), "{name} needs a reply");
        self.names.insert(plain(name), replies.to_vec());
        self
    }

    /// The reply to the next question about a name.
    pub(super) fn reply(&self, name: &str, asked: Asked, way: Way) -> Reply {
        let name = plain(name);
        let mut counts = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry((name.clone(), asked)).or_default();
        count.questions += 1;
        let Some(replies) = self.names.get(&name) else { return Reply::NoSuchName };
        let reply = replies.get(count.steps.min(replies.len() - 1)).cloned().unwrap_or(Reply::NoSuchName);
        // Who got a cut answer asks again for the same.
        if !(matches!(reply, Reply::Truncated(_)) && way == Way::Short) {
            count.steps += 1;
        }
        reply
    }

    /// How often this name was asked for, of whatever kind, also as the end of an alias.
    pub(super) fn questions(&self, name: &str) -> usize {
        let name = plain(name);
        let counts = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().filter(|((one, _), _)| *one == name).map(|(_, count)| count.questions).sum()
    }

    /// Every name that was asked for, once for each kind of question.
    pub(super) fn asked_names(&self) -> Vec<String> {
        let counts = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        counts.keys().map(|(name, _)| name.clone()).collect()
    }

    /// How often any name was asked for.
    pub(super) fn all_questions(&self) -> usize {
        let counts = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        counts.values().map(|count| count.questions).sum()
    }
}

/// A name as it is compared: without its last dot, in lower case.
pub(super) fn plain(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}
