//! Looks for what does not belong in a text that a model will read: hidden instructions, disguises, blobs.
//!
//! Pure functions over text. Every finding names its rule, the text that tripped it and where it stands. What follows
//! from one is decided elsewhere; this crate must never change a text, fetch one, or remember one.
