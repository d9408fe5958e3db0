//! What the host tells the process behind the wall, and how that tells its end: the only thing that both sides know.

use std::time::Duration;

/// Where this program, the image and the compiled code are in the sandbox behind. Guests see none of it.
pub(crate) const HIDDEN: &str = "/.wasm";
/// This program.
pub(crate) const PROGRAM: &str = "/.wasm/program";
/// The image: its module, and its folders.
pub(crate) const IMAGE: &str = "/.wasm/image";
/// The compiled code.
pub(crate) const COMPILED: &str = "/.wasm/compiled";
/// Where a compiler puts what it made.
pub(crate) const MADE: &str = "/work/compiled";

/// The word before an order to run.
pub(crate) const RUN: &str = "run";
/// The word before an order to compile.
pub(crate) const COMPILE: &str = "compile";

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// Bytes of all linear memories and tables together.
    pub(crate) memory: u64,
    /// How long it may run.
    pub(crate) deadline: Duration,
    /// How many steps it may take, where they are counted.
    pub(crate) fuel: Option<u64>,
    /// The folders that are opened for it, in this order.
    pub(crate) opens: Vec<Open>,
    /// Where it begins.
    pub(crate) cwd: String,
    /// How many of the words behind the order are variables of the guest, each as `name=value`. They are never variables of the process
    /// that runs the engine: its loader would obey some of them (`LD_PRELOAD`), and run native code of the guest's.
    pub(crate) variables: usize,
}

/// A folder that is opened for a guest.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Open {
    /// Where it is in the sandbox behind.
    pub(crate) at: String,
    /// What the guest calls it.
    pub(crate) named: String,
    /// Whether the guest can change it.
    pub(crate) writable: bool,
}

/// A module to be compiled.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compile {
    /// Where it is in the sandbox behind.
    pub(crate) module: String,
    /// Whether its steps are counted.
    pub(crate) counts: bool,
}

/// How a command ended that did not end by itself. Each is a real-time signal that the engine's host sends to itself; a guest has no way to
/// send one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its deadline, or the end of its fuel.
    Late,
    /// A trap after memory was refused to it.
    OutOfMemory,
    /// It could not begin.
    NotRunnable,
    /// A mistake of ours, or compiled code that is none.
    OurFault,
}

impl End {
    const ALL: [Self; 4] = [Self::Late, Self::OutOfMemory, Self::NotRunnable, Self::OurFault];

    /// Its signal.
    pub(crate) const fn signal(self) -> i32 {
        match self {
            Self::Late => 58,
            Self::OutOfMemory => 59,
            Self::NotRunnable => 60,
            Self::OurFault => 61,
        }
    }

    /// The end of this signal.
    pub(crate) fn of(signal: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|end| end.signal() == signal)
    }
}
