//! What contradicts what.

use crate::layer::Source;

/// The kind of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConflictKind {
    /// The same capability or host is allowed and denied.
    AllowedAndDenied,
    /// An entry is removed that is not there.
    NothingToRemove,
    /// A limit is above the operator's ceiling.
    AboveCeiling,
    /// The operator does not allow this network mode.
    ForbiddenMode,
    /// A capability is granted that this build does not have.
    NotInThisBuild,
    /// A rule can never take effect.
    NoEffect,
    /// A path lies in no folder that may be used.
    OutsideRoots,
    /// A profile that the operator does not offer.
    UnknownProfile,
    /// A profile extends itself.
    ProfileCycle,
    /// A chain of profiles is too long.
    ProfileChain,
}

impl ConflictKind {
    /// A stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AllowedAndDenied => "allowed-and-denied",
            Self::NothingToRemove => "nothing-to-remove",
            Self::AboveCeiling => "above-ceiling",
            Self::ForbiddenMode => "forbidden-mode",
            Self::NotInThisBuild => "not-in-this-build",
            Self::NoEffect => "no-effect",
            Self::OutsideRoots => "outside-roots",
            Self::UnknownProfile => "unknown-profile",
            Self::ProfileCycle => "profile-cycle",
            Self::ProfileChain => "profile-chain",
        }
    }
}

/// One contradiction between rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its kind.
    pub kind: ConflictKind,
    /// What contradicts what.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The statements behind it, the one to change first.
    pub sources: Vec<Source>,
}

/// All contradictions of one resolution. Never empty, in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts {
    /// The contradictions, as many as help.
    pub list: Vec<Conflict>,
    /// How many more there are.
    pub untold: usize,
}

/// How many contradictions are told; a thousand help nobody.
const MOST_TOLD: usize = 20;

impl Conflicts {
    pub(super) fn new(mut list: Vec<Conflict>) -> Self {
        // By message first, so that the order of entries within a layer does not show.
        list.sort_by(|a, b| (a.kind, &a.message).cmp(&(b.kind, &b.message)));
        // The same mistake in two layers is told once, with both places.
        list.dedup_by(|later, first| {
            let same = later.kind == first.kind && later.message == first.message;
            if same {
                let new: Vec<Source> =
                    later.sources.drain(..).filter(|source| !first.sources.contains(source)).collect();
                first.sources.extend(new);
            }
            same
        });
        let untold = list.len().saturating_sub(MOST_TOLD);
        list.truncate(MOST_TOLD);
        Self { list, untold }
    }
}

impl std::fmt::Display for Conflicts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, conflict) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&conflict.message)?;
            if let Some(source) = conflict.sources.first() {
                write!(f, " ({source})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Conflicts {}
