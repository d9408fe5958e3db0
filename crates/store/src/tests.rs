//! Behaviour of the store over real files.

mod approvals;
mod basics;
mod crashes;
mod disk;
mod editions;
mod hearing;
mod jobs;
mod keys;
mod opening;
mod retention;
mod stage;
mod tampering;
mod tools;
mod witnesses;
