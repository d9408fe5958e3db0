//! The states of a tool and the one function that moves between them.
//!
//! Who asks, and whether the facts are so, is decided elsewhere; here it is only said what follows.

use serde::{Deserialize, Serialize};

/// Where a tool is in its life. Only a published one is listed to clients and callable by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// It was written or changed, and has not passed since.
    Draft,
    /// It passed.
    Ready,
    /// It passed, and is offered.
    Published,
    /// A secret that it refers to is not set.
    MissingRequirements,
    /// A test of it failed.
    TestFailed,
    /// It was to be published, and waits for a written justification.
    AwaitingReview,
    /// Its document was changed behind our back.
    Revoked,
}

impl State {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Draft,
        Self::Ready,
        Self::Published,
        Self::MissingRequirements,
        Self::TestFailed,
        Self::AwaitingReview,
        Self::Revoked,
    ];

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Draft => "DRAFT",
            Self::Ready => "READY",
            Self::Published => "PUBLISHED",
            Self::MissingRequirements => "MISSING_REQUIREMENTS",
            Self::TestFailed => "TEST_FAILED",
            Self::AwaitingReview => "AWAITING_REVIEW",
            Self::Revoked => "REVOKED",
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// A word that names no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no state of a tool")]
pub struct UnknownState(String);

impl std::str::FromStr for State {
    type Err = UnknownState;

    fn from_str(word: &str) -> Result<Self, UnknownState> {
        let known = Self::ALL.into_iter().find(|state| state.word() == word);
        known.ok_or_else(|| UnknownState(bailiwick_types::shortened(word)))
    }
}

/// What happens to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Something that Local Pass covers was changed, or the document was imported anew.
    CoveredEdited,
    /// Only a text was changed.
    TextEdited,
    /// Local Pass went through.
    Passed,
    /// Local Pass did not.
    Failed,
    /// A secret that it refers to is not set.
    RequirementMissing,
    /// Somebody wants it published.
    PublishAsked {
        /// Whether its level asks for a written justification first.
        needs_review: bool,
    },
    /// The justification was written.
    Justified,
    /// Somebody wants it no longer offered.
    Unpublished,
    /// Its hash does not match what passed.
    Tampered,
}

impl Event {
    /// All events.
    pub const ALL: [Self; 10] = [
        Self::CoveredEdited,
        Self::TextEdited,
        Self::Passed,
        Self::Failed,
        Self::RequirementMissing,
        Self::PublishAsked { needs_review: false },
        Self::PublishAsked { needs_review: true },
        Self::Justified,
        Self::Unpublished,
        Self::Tampered,
    ];

    /// What it is, for a message.
    pub const fn word(self) -> &'static str {
        match self {
            Self::CoveredEdited => "an edit of what Local Pass covers",
            Self::TextEdited => "an edit of a text",
            Self::Passed => "a pass",
            Self::Failed => "a failed pass",
            Self::RequirementMissing => "a missing requirement",
            Self::PublishAsked { .. } => "publishing",
            Self::Justified => "a justification",
            Self::Unpublished => "unpublishing",
            Self::Tampered => "a hash that does not match",
        }
    }
}

/// Why an event does not fit a state. The tool stays where it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tool that is {from} cannot take {}: {why}", event.word())]
pub struct Refused {
    /// The state.
    pub from: State,
    /// The event.
    pub event: Event,
    /// Why not.
    pub why: &'static str,
    /// What to do.
    pub hint: &'static str,
}

/// The state after an event.
#[expect(
    clippy::match_same_arms,
    reason = "one arm for each rule, also where two rules lead to the same state"
)]
pub fn next(from: State, event: Event) -> Result<State, Refused> {
    use State::{AwaitingReview, Draft, MissingRequirements, Published, Ready, Revoked, TestFailed};
    let refused = |why, hint| Err(Refused { from, event, why, hint });
    match (from, event) {
        (_, Event::CoveredEdited) => Ok(Draft),
        (_, Event::Tampered) => Ok(Revoked),
        (Revoked, _) => refused(
            "its document was changed behind our back, so nothing that is known of it holds",
            "look at the document, then save or import it again",
        ),
        (state, Event::TextEdited) => Ok(state),
        // Passing again takes nothing away.
        (Published, Event::Passed) => Ok(Published),
        (AwaitingReview, Event::Passed) => Ok(AwaitingReview),
        (Draft | Ready | MissingRequirements | TestFailed, Event::Passed) => Ok(Ready),
        (_, Event::Failed) => Ok(TestFailed),
        (_, Event::RequirementMissing) => Ok(MissingRequirements),
        (Ready, Event::PublishAsked { needs_review: false }) => Ok(Published),
        (Ready, Event::PublishAsked { needs_review: true }) => Ok(AwaitingReview),
        (Draft, Event::PublishAsked { .. }) => refused(
            "it has not passed since it was last changed",
            "run its Local Pass: `bailiwick tool test`",
        ),
        (TestFailed, Event::PublishAsked { .. }) => {
            refused("its last Local Pass failed", "mend it, and run `bailiwick tool test`")
        }
        (MissingRequirements, Event::PublishAsked { .. }) => refused(
            "a secret that it refers to is not set",
            "set it with `bailiwick secret set`, and run `bailiwick tool test`",
        ),
        (Published, Event::PublishAsked { .. }) => {
            refused("it is published already", "nothing is to be done")
        }
        (AwaitingReview, Event::PublishAsked { .. }) => {
            refused("it waits for a written justification", "give the justification")
        }
        (AwaitingReview, Event::Justified) => Ok(Published),
        (Draft | Ready | Published | MissingRequirements | TestFailed, Event::Justified) => {
            refused("nothing of it waits for a justification", "ask for it to be published first")
        }
        // A wish to publish can be taken back, too.
        (Published | AwaitingReview, Event::Unpublished) => Ok(Ready),
        (Draft | Ready | MissingRequirements | TestFailed, Event::Unpublished) => {
            refused("it is not published", "nothing is to be done")
        }
    }
}
