//! The nursery: this program started again. It builds the walls around itself, warms the engine, and then only forks.
//!
//! It never sees a byte of a guest: it reads orders of the host, and its children read everything else.

mod build;
mod forks;

use bailiwick_engine::Breadth;
use bailiwick_sys::descriptors;
use bailiwick_sys::hot::Given;
use bailiwick_wire::{FromNursery, encode};

use build::Built;
pub(crate) use forks::Newborn;

/// What a nursery was asked to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// All walls that can be had; below the floor it refuses.
    Walled,
    /// All walls that can be had, even if that is less than the floor.
    Insecure,
    /// No walls at all.
    #[cfg(feature = "hollow")]
    Hollow,
}

impl Asked {
    /// As an argument.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Walled => "walled",
            Self::Insecure => "insecure",
            #[cfg(feature = "hollow")]
            Self::Hollow => "hollow",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "walled" => Some(Self::Walled),
            "insecure" => Some(Self::Insecure),
            #[cfg(feature = "hollow")]
            "hollow" => Some(Self::Hollow),
            _ => None,
        }
    }
}

/// How much of the engine is built ahead, as an argument.
pub(crate) const fn breadth_word(breadth: Breadth) -> &'static str {
    match breadth {
        Breadth::All => "all",
        Breadth::Ordinary => "ordinary",
        Breadth::Pure => "pure",
    }
}

/// When a cell gets its own copy of the pages that a call writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copies {
    /// When it is forked.
    AtOnce,
    /// Page by page, when it first writes there: thousands of parked cells would take too much memory otherwise.
    WhenWritten,
}

impl Copies {
    /// As an argument.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::AtOnce => "at-once",
            Self::WhenWritten => "when-written",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::AtOnce, Self::WhenWritten].into_iter().find(|one| one.word() == word)
    }
}

fn breadth_from_word(word: &str) -> Option<Breadth> {
    [Breadth::All, Breadth::Ordinary, Breadth::Pure].into_iter().find(|one| breadth_word(*one) == word)
}

/// The exit code of a program that was started as a nursery by somebody else than a host.
const NOT_FOR_PEOPLE: u8 = 64;

/// Becomes a nursery and never returns.
pub(crate) fn become_one(arguments: &[String]) -> ! {
    let asked = match arguments {
        [word, breadth, copies] => {
            Asked::from_word(word).zip(breadth_from_word(breadth)).zip(Copies::from_word(copies))
        }
        _ => None,
    };
    let Some(((asked, breadth), copies)) = asked.filter(|_| descriptors::is_socket(descriptors::zero()))
    else {
        bailiwick_sys::ending::exit_now(NOT_FOR_PEOPLE)
    };
    match build::build(asked, breadth, copies) {
        Ok(Built { walls, alone, filter, engine, given, memory_size }) => {
            if tell(&FromNursery::Ready(Box::new(walls)), &[]).is_err() {
                bailiwick_sys::ending::exit_now(crate::ending::FINE);
            }
            // Comes back in a cell only.
            let Newborn { socket, rehearse } = forks::fork_on_demand(&alone);
            // A cell that was given what a call touches has nothing left to rehearse.
            let newborn =
                Newborn { socket, rehearse: rehearse && !given.as_ref().is_some_and(Given::is_whole) };
            crate::inside::live(newborn, engine, filter.as_ref(), memory_size)
        }
        Err(build::Unbuilt { step, errno }) => {
            // When the host cannot be told either, it sees the socket close.
            let _host_gone = tell(&FromNursery::Failed { step, errno }, &[]);
            bailiwick_sys::ending::exit_now(crate::ending::NO_WALL)
        }
    }
}

/// Tells the host something, with descriptors beside it.
fn tell(message: &FromNursery, beside: &[std::os::fd::BorrowedFd<'_>]) -> Result<(), bailiwick_sys::Failed> {
    let unsendable = bailiwick_sys::Step::SendPacket.failed(bailiwick_sys::Errno::INVAL);
    let packet = encode(message).map_err(|_| unsendable)?;
    bailiwick_sys::packets::send(descriptors::zero(), &packet, beside)
}
