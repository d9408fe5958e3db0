//! Secret values that cannot be printed by accident, and the one pass that masks them in every text
//! that leaves: console, result, error message, audit line, reply.
//!
//! ```
//! use bailiwick_redact::{Redactor, Secret};
//!
//! let token = Secret::new("ghp_16C7e42F292c6912E7".to_owned());
//! let redactor = Redactor::new([&token])?;
//! assert_eq!(redactor.redact("Authorization: ghp_16C7e42F292c6912E7!"), "Authorization: ***!");
//! assert_eq!(redactor.redact("as hex 6768705f313643376534324632393263363931324537"), "as hex ***");
//! # Ok::<(), bailiwick_redact::RedactorError>(())
//! ```
//!
//! # What is masked
//!
//! A value from 4 characters on, exactly; from 8 characters on also its disguises: base64 and base64url
//! in their three alignments, percent-encoded, hex, JSON-escaped. Each line of a multi-line value counts
//! as a value of its own. Redacted text never contains one of these, not even one that the mask and its
//! neighbourhood would form together.
//!
//! All of these also in the decoded view of the text, which is what it says once escapes are undone: `\u003d`, `\x3d`, `\075`,
//! `\/`, `&#61;`, `&#x3d;`, `&equals;`, `%3D`, `+` for a space, `=3D` and soft line breaks; mixed, and nested up to three deep.
//!
//! # What is not
//!
//! - A value that code transforms by itself: reversed, split, compressed, encrypted, its bytes summed.
//! - Base64 or hex inside of base64 or hex, base64 broken into lines, hex digits in mixed case, escapes more than three deep,
//!   UTF-16.
//! - A part of a value. Redact first and cut afterwards; a value whose end was cut off is not found.
//! - A value under 4 characters, or a disguise of one under 8: masking those would shred ordinary text.
//!   [`Redactor::too_short`] counts the former so that the caller can warn.
//!
//! A [`Secret`] wipes its memory when dropped. The automaton inside a [`Redactor`] does not: it spells
//! the values and their disguises in clear for as long as a clone of it lives, and its memory is
//! freed unwiped. A process that holds one must not be dumpable.
//!
//! # What this crate must never do
//!
//! Show a value, or which of the values was found, through an error, a `Debug` output or a return value.
//!
//! # Where to start reading
//!
//! `redactor` is the front door; `disguise` says what is searched for, `matcher` finds it (in several
//! `lanes`), `decoded` finds it behind escapes (`readings` undoes them, `sieve` skips those that cannot matter, `windows`
//! remembers both), `regions`
//! joins what was found, `mask` says what stands in its place, `stream` does the same chunk by chunk.

mod decoded;
mod disguise;
mod entities;
mod lanes;
mod mask;
mod matcher;
mod readings;
mod redactor;
mod regions;
mod secret;
mod sieve;
mod stream;
mod windows;

#[cfg(test)]
mod tests;

pub use redactor::{Redactor, RedactorError};
pub use secret::Secret;
pub use stream::RedactStream;
