//! The exit codes of a cell: what the host reads when a cell ended without a word.

use bailiwick_wire::Ending;

/// It answered, or the host went away.
pub(crate) const FINE: u8 = 0;
/// A system call was trapped.
pub(crate) const VIOLATION: u8 = 90;
/// Our code panicked.
pub(crate) const PANIC: u8 = 91;
/// Memory could not be had outside the engine's own accounting.
pub(crate) const ALLOCATION: u8 = 92;
/// The native stack was full while the engine ran.
pub(crate) const OVERFLOW: u8 = 93;
/// The native stack was full while the author's source was parsed.
pub(crate) const NESTED_TOO_DEEP: u8 = 94;
/// Memory was touched that is not there.
pub(crate) const FAULT: u8 = 95;
/// `abort()` was called.
pub(crate) const ABORT: u8 = 96;
/// The kernel's bound on CPU time.
pub(crate) const CPU: u8 = 97;
/// A wall could not be built around the cell.
pub(crate) const NO_WALL: u8 = 98;
/// The host said something that is no message.
pub(crate) const PROTOCOL: u8 = 99;

/// Why a cell ended without a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It tried a system call that its wall forbids.
    Violation,
    /// Its source nests deeper than a parser can go.
    NestedTooDeep,
    /// The kernel's bound on CPU time.
    Cpu,
    /// Memory could not be had.
    Allocation,
    /// Somebody killed it: the host at the deadline, or the kernel out of memory.
    Killed,
    /// A fault of ours, in words.
    Fault(&'static str),
}

impl Silence {
    /// Reads an ending.
    pub(crate) const fn of(ending: Ending) -> Self {
        match ending {
            Ending::Signalled(9) => Self::Killed,
            Ending::Signalled(31) | Ending::Exited(VIOLATION) => Self::Violation,
            Ending::Exited(NESTED_TOO_DEEP) => Self::NestedTooDeep,
            Ending::Exited(CPU) | Ending::Signalled(24) => Self::Cpu,
            Ending::Exited(ALLOCATION) => Self::Allocation,
            Ending::Exited(PANIC) => Self::Fault("a panic"),
            Ending::Exited(OVERFLOW) => Self::Fault("a native stack overflow"),
            Ending::Exited(FAULT) | Ending::Signalled(11 | 7) => Self::Fault("a memory fault"),
            Ending::Exited(ABORT) | Ending::Signalled(6) => Self::Fault("an abort"),
            Ending::Exited(NO_WALL) => Self::Fault("a wall that could not be built"),
            Ending::Exited(PROTOCOL) => Self::Fault("a message it did not understand"),
            Ending::Exited(FINE) => Self::Fault("an exit without an answer"),
            Ending::Exited(_) => Self::Fault("an unknown exit code"),
            Ending::Signalled(_) => Self::Fault("a signal"),
        }
    }
}
