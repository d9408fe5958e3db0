//! Names in memory, for code that takes a resolver of its own.

use std::fmt;
use std::net::IpAddr;

use super::Reply;
use super::script::{Asked, Script, Way, plain};

/// A script that is asked directly.
#[derive(Debug, Default)]
pub struct Table {
    script: Script,
}

/// Why a name has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// There is no such name.
    NoSuchName,
    /// The server failed, or sent what is no message.
    ServerFailed,
    /// No answer came.
    TimedOut,
    /// The name is its own alias.
    Loop,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoSuchName => "there is no such name",
            Self::ServerFailed => "the name server failed",
            Self::TimedOut => "the name server did not answer",
            Self::Loop => "the name is its own alias",
        })
    }
}

impl std::error::Error for Fault {}

impl Table {
    /// A table for this script.
    pub fn new(script: Script) -> Self {
        Self { script }
    }

    /// The addresses of a name, in the order of the script; none when the name has no address.
    pub fn lookup(&self, name: &str) -> Result<Vec<IpAddr>, Fault> {
        let mut name = plain(name);
        let mut seen = Vec::new();
        loop {
            if seen.contains(&name) {
                return Err(Fault::Loop);
            }
            match self.script.reply(&name, Asked::Both, Way::Long) {
                Reply::Addresses(addresses) | Reply::Truncated(addresses) => return Ok(addresses),
                Reply::Alias(target) | Reply::BareAlias(target) => {
                    seen.push(name);
                    name = plain(&target);
                }
                Reply::Empty => return Ok(Vec::new()),
                Reply::NoSuchName => return Err(Fault::NoSuchName),
                Reply::ServerFailed | Reply::Garbage => return Err(Fault::ServerFailed),
                Reply::Silent => return Err(Fault::TimedOut),
            }
        }
    }

    /// How often this name was asked for, also as the end of an alias.
    pub fn queries(&self, name: &str) -> usize {
        self.script.questions(name)
    }

    /// How often any name was asked for.
    pub fn all_queries(&self) -> usize {
        self.script.all_questions()
    }
}
