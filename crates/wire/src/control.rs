//! How cells come and go: what host and nursery tell each other. One message a packet; a [`FromNursery::Born`] carries
//! two descriptors beside it, the cell's socket and its pidfd; a [`FromNursery::Started`] one, a pidfd.

use serde::{Deserialize, Serialize};

/// From the host to a nursery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToNursery {
    /// Everything is prepared outside; build the walls.
    Begin,
    /// Fork this many cells and park them.
    Fork {
        /// How many.
        count: u32,
        /// Whether each goes through a call once before it is needed: faster when its call comes, and larger until
        /// then.
        rehearse: bool,
    },
}

/// From a nursery to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromNursery {
    /// A process was started that is to become the nursery; its pidfd comes beside this. When another one is started
    /// after it, the earlier was given up.
    Started,
    /// The walls stand and the engine is warm.
    Ready(Box<Walls>),
    /// A cell is parked.
    Born {
        /// Its number within this nursery.
        serial: u64,
    },
    /// Cells ended and were reaped.
    Ended(Vec<Ended>),
    /// A cell could not be forked.
    NotBorn {
        /// The system's error number.
        errno: i32,
    },
    /// The nursery cannot be built; the last thing it says.
    Failed {
        /// The step that failed.
        step: String,
        /// The system's error number, if there was one.
        errno: i32,
    },
}

/// A cell that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its number.
    pub serial: u64,
    /// How it ended.
    pub ending: Ending,
    /// CPU time it used, in microseconds.
    pub cpu_us: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ending {
    /// It exited with this code.
    Exited(u8),
    /// This signal ended it.
    Signalled(u8),
}

/// What the nursery saw to stand around itself, after it was built. Each is an observation, not an intention.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one observation; none follows from another")]
pub struct Walls {
    /// It is in a user namespace of its own.
    pub user_namespace: bool,
    /// It is pid 1 of a pid namespace of its own.
    pub pid_namespace: bool,
    /// It is in a network namespace of its own, with no interface up.
    pub net_namespace: bool,
    /// It is in an IPC namespace of its own.
    pub ipc_namespace: bool,
    /// It is in a UTS namespace of its own.
    pub uts_namespace: bool,
    /// Its root is an empty, read-only file system.
    pub empty_root: bool,
    /// Its user is neither root nor, where that could be had, the server's.
    pub unprivileged_user: bool,
    /// It has no capability that it can use. (Where it may not empty the bounding set, nothing can be executed that would
    /// gain one.)
    pub no_capabilities: bool,
    /// It cannot gain privileges.
    pub no_new_privileges: bool,
    /// It cannot be traced or dumped.
    pub not_dumpable: bool,
    /// Its environment was empty, and no descriptor but its own was open.
    pub nothing_inherited: bool,
    /// A filter of system calls is in force, and cells put a narrower one over it.
    pub seccomp: bool,
    /// No walls were asked for: nothing here is to be believed, and nothing to be relied on.
    pub hollow: bool,
    /// What could not be had, and why, for people.
    pub missing: Vec<String>,
}
