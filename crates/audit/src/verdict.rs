//! What a proof comes to, in words.

use std::fmt;

/// What is wrong with the first bad record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Its text is not the one that was hashed.
    HashMismatch,
    /// It is not there, though a later one is.
    Missing,
    /// It stands in the place of another, twice, or where none can stand.
    OutOfOrder,
    /// It does not fit the record next to it.
    PrevMismatch,
    /// The columns it is found by say something else than its text.
    FoundByMismatch,
    /// The records up to a signed head are not the ones that were signed.
    HeadMismatch {
        /// The record that the head speaks for.
        head: u64,
    },
    /// A head is signed with another key, or not signed at all.
    ForgedHead,
    /// A head or a witness speaks of records that are gone.
    Truncated {
        /// The last record that was signed.
        head: u64,
    },
    /// It, or a head for it, cannot be read.
    Unreadable,
}

/// What a chain was found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every record is as it was written, as far as a head was signed.
    Proven {
        /// The last record that a signed head vouches for; 0 when there is none.
        to: u64,
        /// How many records follow that no head vouches for yet.
        unsigned: u64,
        /// The first record that is there.
        from: u64,
        /// How many records retention removed before it, by a signed word.
        removed: u64,
    },
    /// Something is not as it was written.
    Broken {
        /// The first record that is bad. As it lies, so it may be a number that no record can have.
        first_bad: i64,
        /// What is wrong with it.
        why: Why,
        /// The last record before it that a signed head vouches for.
        proven_to: u64,
    },
}

impl Verdict {
    /// Whether nothing bad was found.
    pub const fn is_proven(&self) -> bool {
        matches!(self, Self::Proven { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Proven { to, unsigned, from, removed } => {
                write!(f, "proven to {to}, {unsigned} not yet signed")?;
                if removed > 0 {
                    write!(f, "; begins at {from}, {removed} before it were removed by retention")?;
                }
                Ok(())
            }
            Self::Broken { first_bad, why, proven_to } => {
                match why {
                    Why::HashMismatch => {
                        write!(f, "record {first_bad} was changed: its hash does not match")?;
                    }
                    Why::Missing => write!(f, "record {first_bad} is missing")?,
                    Why::OutOfOrder => write!(f, "record {first_bad} does not stand in its place")?,
                    Why::PrevMismatch => write!(f, "record {first_bad} does not fit the one next to it")?,
                    Why::FoundByMismatch => {
                        write!(f, "record {first_bad} is filed under something else than it says")?;
                    }
                    Why::HeadMismatch { head } => {
                        write!(f, "records {first_bad} to {head} are not the ones that were signed")?;
                    }
                    Why::ForgedHead => {
                        write!(f, "the head for record {first_bad} is not signed by this key")?;
                    }
                    Why::Truncated { head } => {
                        write!(f, "records {first_bad} to {head} are gone, though they were signed")?;
                    }
                    Why::Unreadable => write!(f, "record {first_bad}, or a head for it, cannot be read")?,
                }
                write!(f, "; proven to {proven_to}")
            }
        }
    }
}
