//! The first process of a sandbox: it starts commands, carries their streams, keeps files and reaps what ended.
//!
//! It lives inside the wall, with no more rights than the guest beside it. It decides nothing, and nobody outside believes
//! it: a host bounds and checks whatever it says. It must never panic on what a guest does, nor wait for one of them while
//! another is ready. It has one thread, and nothing it holds grows with what a guest does: streams are bounded by credit,
//! answers by their buffer, walks by counts.
//!
//! Start reading at [`run`], then `life` (the loop), `command` (one command and its streams), `carried` (connections in and out),
//! `job` (asks about files) and `reset` (what is looked at before another may have the sandbox).

mod carried;
mod command;
mod descent;
mod exit;
mod folder;
mod input;
mod job;
mod laid;
mod life;
pub mod machine;
mod outgoing;
mod output;
mod pack;
mod processes;
mod reset;
pub mod seat;
mod start;
mod supervisor;
mod text;

use std::os::fd::OwnedFd;

pub use exit::{BROKEN, CLOSED, OUR_FAULT};
pub use supervisor::Supervision;

/// What an agent is told of its place by whoever built the walls.
#[derive(Debug)]
pub struct Setup {
    /// Whether it is the first process of a pid namespace. Otherwise it adopts the orphans among its descendants, and
    /// "everybody" means those.
    pub is_init: bool,
    /// Whether signals of it and of its commands were seen to reach nobody else, so that one to everybody is safe although
    /// there is no pid namespace.
    pub signals_stay: bool,
    /// Whether the System V IPC that it can see is the sandbox's own, so that a reset may remove it.
    pub owns_ipc: bool,
    /// The folders that are empty at birth, if this sandbox may be reset: how everything looks is remembered then, before
    /// the first command. That takes a moment; without it no reset is ever proven.
    pub reset: Option<Vec<String>>,
    /// Where descriptors are handed to the host, if any may be.
    pub hand: Option<OwnedFd>,
    /// Whether it answers commands that ask for sockets whose memory nobody is charged for.
    pub supervision: Supervision,
}

/// The stream to the host: one descriptor for both directions, or one for each.
#[derive(Debug)]
pub struct ToHost {
    /// What the host says comes from here.
    pub from: OwnedFd,
    /// What it is told goes here; to `from` where there is none.
    pub to: Option<OwnedFd>,
}

impl From<OwnedFd> for ToHost {
    fn from(both: OwnedFd) -> Self {
        Self { from: both, to: None }
    }
}

/// Lives as an agent, and gives the exit code with which the process has to end at once.
///
/// For a process with one thread, after all of its walls stand. It takes over every signal of the process and the
/// numbers of the standard streams; commands inherit its limits, its user and its walls, and none of its descriptors.
pub fn run(host: impl Into<ToHost>, setup: Setup) -> u8 {
    match life::Life::begin(host.into(), setup) {
        Ok(life) => life.live(),
        Err(_) => OUR_FAULT,
    }
}
