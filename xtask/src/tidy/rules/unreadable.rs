//! `unreadable`: a file no rule can look into must not pass for a clean one.

use crate::tidy::finding::Placed;
use crate::tidy::survey::{Survey, Unreadable};

pub(super) fn look(survey: &Survey) -> Vec<Placed> {
    survey.unreadable.iter().map(Unreadable::placed).collect()
}
