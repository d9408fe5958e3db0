//! Servers that do not mean well: whatever they answer, it is bounded, told clearly, and the key goes to nobody else.
//!
//! What a real server does is tried with the program itself, in the tests of the crate `cli`.
#![cfg(test)]

mod answers;
mod stage;
mod talks;
