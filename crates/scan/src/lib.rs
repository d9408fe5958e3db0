//! Looks for what does not belong in a text that a model will read: hidden instructions, disguises, blobs.
//!
//! Pure functions over text. Every finding names its rule, the text that tripped it and where it stands. What follows
//! from one is decided elsewhere; this crate must never change a text, fetch one, or remember one.
//!
//! # What is seen through
//!
//! Case, accents, widths, letters in circles and boxes, look-alikes of other scripts, figures and signs for letters;
//! spaces, signs, tags and invisible characters between letters; entities, `\u` and percent escapes; tag characters;
//! one layer of base64 or hex; text that is reversed or turned by 13 letters. A finding points into the text as it
//! stands, whatever it was seen through.
//!
//! # What is not
//!
//! A clean scan is no proof. It does not catch
//!
//! - an order in words that nobody listed: a paraphrase, a story, a polite request;
//! - words that are misspelt, in pig Latin, as acrostics, in Morse code, or in a language other than English, but for
//!   the plainest order in German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese and
//!   Korean;
//! - encodings that are broken up (`69 67 6e`, base64 with spaces), numbers for letters, base32 and the like, two
//!   layers of encoding, or anything compressed or encrypted;
//! - an order that is spread over several texts, or one in a picture;
//! - a word of another script throughout that only looks like a Latin one, unless it is part of a listed order;
//! - secrets that are described rather than named.
//!
//! # What it costs
//!
//! Time grows with the text alone: automata without backtracking, compiled once, and no more than [`MAX_PER_RULE`]
//! findings of a rule. Memory is bounded by a window of the text.
//!
//! # Where to start reading
//!
//! `rule` lists what is looked for, `look` is the way through. `fold` makes of a text what a reader sees; `phrases` and
//! `markup` hold the wordings, `characters`, `scripts`, `blobs`, `others` and `length` the rest; `shadow` compares names.

mod blobs;
mod characters;
mod context;
mod finding;
mod fold;
mod length;
mod look;
mod markup;
mod others;
mod pattern;
mod phrases;
mod reference;
mod rule;
mod scripts;
mod shadow;

#[cfg(test)]
mod tests;

pub use context::{Context, Kind};
pub use finding::{Finding, MAX_FINDINGS, MAX_MATCHED, MAX_PER_RULE, blocks};
pub use look::{scan, scan_with};
pub use reference::rules_markdown;
pub use rule::{Rule, Severity};
pub use shadow::{Likeness, Shadowing, shadowing};
