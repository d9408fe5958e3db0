//! The nursery: this program started again. It builds the walls around itself, warms the engine, and then only forks.
//!
//! It never sees a byte of a guest: it reads orders of the host, and its children read everything else.

mod build;
mod forks;

use bailiwick_sys::descriptors;
use bailiwick_wire::{FromNursery, encode};

use build::Built;

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

/// The exit code of a program that was started as a nursery by somebody else than a host.
const NOT_FOR_PEOPLE: u8 = 64;

/// Becomes a nursery and never returns.
pub(crate) fn become_one(arguments: &[String]) -> ! {
    let asked = match arguments {
        [word] => Asked::from_word(word),
        _ => None,
    };
    let Some(asked) = asked.filter(|_| descriptors::is_socket(descriptors::zero())) else {
        bailiwick_sys::ending::exit_now(NOT_FOR_PEOPLE)
    };
    match build::build(asked) {
        Ok(Built { walls, alone, filter, engine, memory_size }) => {
            if tell(&FromNursery::Ready(Box::new(walls)), &[]).is_err() {
                bailiwick_sys::ending::exit_now(crate::ending::FINE);
            }
            // Comes back in a cell only.
            let nest = forks::fork_on_demand(&alone);
            crate::inside::live(nest, engine, filter.as_ref(), memory_size)
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
