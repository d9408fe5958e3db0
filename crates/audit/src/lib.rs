//! The record of what was done: entries, the chain of their hashes, signed heads, and the proof over them.
//!
//! Pure: rows and keys are handed in. Where they are kept is the business of `store`.
