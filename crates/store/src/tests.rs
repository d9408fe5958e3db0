//! Behaviour of the store over real files.

mod basics;
mod stage;
