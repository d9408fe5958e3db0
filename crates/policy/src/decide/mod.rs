//! Decisions: one question, one answer.
//!
//! [`EffectivePolicy::decide`], and for the connections of command sandboxes [`EgressPolicy`], are the only places
//! where a [`Checked`] value is made, and every effect on the world takes one; so an effect that skipped its check does
//! not compile.

mod address;
mod capability;
mod egress;
mod fetch;
mod file;
mod fix;
mod query;

pub use address::AddressQuestion;
pub use egress::{EgressDecision, EgressPolicy, EgressRequest, EgressScope, EgressTarget, EgressTerms};
pub use fetch::{FetchQuestion, FetchTarget, Reach};
pub use file::{FileAccess, FileOp, FileQuestion};
pub use query::{Query, QueryError};

use bailiwick_types::{Denial, DenialReason, ErrorCode, LayerName};

use crate::effective::At;
use crate::{AskWhen, Capability, EffectivePolicy};

/// A value that policy said yes to. It can be read, not made, and not doubled: one yes is one effect.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked<T>(T);

impl<T> Checked<T> {
    /// What was granted.
    pub const fn get(&self) -> &T {
        &self.0
    }

    /// Takes the granted value out; what is done with it is no longer proven.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// A value that policy will say yes to when a person does. It cannot be doubled: one answer is one effect.
#[derive(Debug, PartialEq, Eq)]
pub struct Pending<T> {
    value: T,
    when: AskWhen,
    layer: LayerName,
}

impl<T> Pending<T> {
    /// What is waiting, to show to the person.
    pub const fn waiting(&self) -> &T {
        &self.value
    }

    /// Whether the answer holds for the rest of the call.
    pub const fn when(&self) -> AskWhen {
        self.when
    }

    /// The layer that wants a person asked.
    pub const fn layer(&self) -> &LayerName {
        &self.layer
    }

    /// Turns the question into a grant. Call it only with a person's explicit yes in hand: anything else (no
    /// answer, a closed connection, a default) is a no.
    pub fn grant_because_a_person_said_yes(self) -> Checked<T> {
        Checked(self.value)
    }
}

/// The answer to a question.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision<T> {
    /// Yes, and here is the proof.
    Allow(Checked<T>),
    /// No, and here is why.
    Deny(Box<Denial>),
    /// Only if a person says yes.
    Ask(Pending<T>),
}

impl<T> Decision<T> {
    /// Whether the answer is a plain yes.
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// The denial, if the answer is no.
    pub fn denial(&self) -> Option<&Denial> {
        match self {
            Self::Deny(denial) => Some(denial),
            Self::Allow(_) | Self::Ask(_) => None,
        }
    }
}

/// What a person already said yes to in this call, for grants that ask only at the first effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers {
    /// A request was approved.
    pub net: bool,
    /// A file access was approved.
    pub fs: bool,
}

/// Something a policy can be asked.
pub trait Question: sealed::Sealed {
    /// What a yes gives.
    type Granted;

    /// The answer. Call [`EffectivePolicy::decide`] instead.
    #[doc(hidden)]
    fn judge(&self, policy: &EffectivePolicy, answers: Answers) -> Verdict<Self::Granted>;

    /// The question in one line, as it stands in a denial.
    fn asked(&self) -> String;
}

mod sealed {
    #[expect(unnameable_types, reason = "sealed on purpose: only this crate's questions can be decided")]
    pub trait Sealed {}
    impl Sealed for crate::Capability {}
    impl Sealed for super::FetchQuestion<'_> {}
    impl Sealed for super::AddressQuestion<'_> {}
    impl Sealed for super::FileQuestion<'_> {}
}

/// A judgement before it becomes a decision: the refusal has no fix yet.
#[derive(Debug)]
#[expect(unnameable_types, reason = "only `decide` turns a verdict into a decision")]
pub enum Verdict<T> {
    /// Yes.
    Yes(T),
    /// Only after a person's yes.
    Ask(T, AskWhen, LayerName),
    /// No.
    No(Refusal),
}

/// Why not, before the narrowest fix was looked for.
#[derive(Debug)]
#[expect(unnameable_types, reason = "only `decide` turns a refusal into a denial")]
pub struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) capability: Capability,
    pub(crate) rule: &'static str,
    pub(crate) layer: LayerName,
    pub(crate) reason: DenialReason,
    /// Widenings that might help, the narrowest first. Each is tried before it is proposed.
    pub(crate) candidates: Vec<fix::Widening>,
}

impl EffectivePolicy {
    /// Answers a question.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use bailiwick_policy::{resolve, Answers, Baseline, FetchQuestion};
    /// let policy = resolve(&Arc::new(Baseline::shipped()), None, None)?;
    /// let decision = policy.decide(&FetchQuestion::get("https://api.github.com/x"), Answers::default());
    /// let denial = decision.denial().unwrap();
    /// assert_eq!(denial.reason.word(), "network-blocked");
    /// assert_eq!(denial.fix.as_ref().unwrap().risk.name(), "L3");
    /// # Ok::<(), bailiwick_policy::Conflicts>(())
    /// ```
    pub fn decide<Q: Question>(&self, question: &Q, answers: Answers) -> Decision<Q::Granted> {
        match question.judge(self, answers) {
            Verdict::Yes(value) => Decision::Allow(Checked(value)),
            Verdict::Ask(value, when, layer) => Decision::Ask(Pending { value, when, layer }),
            Verdict::No(refusal) => {
                let fix = fix::narrowest(self, question, &refusal.candidates);
                Decision::Deny(Box::new(Denial {
                    code: refusal.code,
                    capability: refusal.capability.denial_name(),
                    asked: question.asked(),
                    rule: refusal.rule.to_owned(),
                    layer: refusal.layer,
                    reason: refusal.reason,
                    fix,
                }))
            }
        }
    }

    /// Yes, or ask first if the grant is marked so and nobody has said yes yet.
    fn yes_or_ask<T>(&self, value: T, ask: Option<At<AskWhen>>, answered: bool) -> Verdict<T> {
        match ask {
            Some(ask) if ask.value == AskWhen::Always || !answered => {
                Verdict::Ask(value, ask.value, self.layer_name(ask.layer))
            }
            _ => Verdict::Yes(value),
        }
    }
}
