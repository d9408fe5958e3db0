//! Names that are taken for other names.
//!
//! Here it is only said that a name is near another one; what follows is decided elsewhere.

use serde::{Deserialize, Serialize};

use crate::fold::{fold_text, skeleton};

/// How near two names are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Likeness {
    /// They are the same.
    Same,
    /// They differ in case, in `-` and `_`, or in letters and figures that look alike.
    LooksAlike,
    /// One letter more, one less, one other, or two that changed places.
    OneEdit,
}

/// A name that shadows a published one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shadowing {
    /// The published name.
    pub published: String,
    /// How near it is.
    pub likeness: Likeness,
}

/// The published name that this one is taken for: the nearest, and of those the first.
pub fn shadowing(name: &str, published: &[&str]) -> Option<Shadowing> {
    let plain = plain(name);
    let likeness = |other: &str| {
        if other == name {
            return Some(Likeness::Same);
        }
        let other = self::plain(other);
        if other == plain {
            Some(Likeness::LooksAlike)
        } else {
            within_one_edit(&plain, &other).then_some(Likeness::OneEdit)
        }
    };
    published
        .iter()
        .filter_map(|other| Some(Shadowing { published: (*other).to_owned(), likeness: likeness(other)? }))
        .min_by_key(|shadowing| shadowing.likeness as u8)
}

fn plain(name: &str) -> Vec<char> {
    fold_text(name).chars().map(|c| if c == '-' { '_' } else { skeleton(c) }).collect()
}

/// Whether one edit leads from one to the other. Equal ends fall away, and what is left tells.
fn within_one_edit(mine: &[char], theirs: &[char]) -> bool {
    let head = mine.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let (mine, theirs) = (mine.get(head..).unwrap_or_default(), theirs.get(head..).unwrap_or_default());
    let tail = mine.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
    let cut = |rest: &[char]| rest.get(..rest.len() - tail).unwrap_or_default().to_vec();
    match (cut(mine).as_slice(), cut(theirs).as_slice()) {
        ([a, b], [c, d]) => a == d && b == c,
        (mine, theirs) => mine.len() <= 1 && theirs.len() <= 1,
    }
}
