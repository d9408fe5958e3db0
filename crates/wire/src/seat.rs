//! What a host tells an agent that was started behind somebody else's wall (a container's, another kernel's), before anything of a
//! guest runs; and what that agent saw of its place. From then on it is an agent, and hostile.

use serde::{Deserialize, Serialize};

/// The longest message about a seat.
pub const LONGEST: usize = 64 * 1024;

/// What an agent is told of its place: the first message of its stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Whom it is to be, and its group, if it is not yet.
    pub user: Option<(u32, u32)>,
    /// Folders of its own that can be written to.
    pub folders: Vec<String>,
    /// Whether it may be reset, so that how it is at birth has to be remembered.
    pub resets: bool,
    /// The most processes, the agent not counted, by a resource limit: where its user is nobody else's.
    pub processes: Option<u32>,
    /// Whether our own filter is put over it and everything that it starts.
    pub filter: bool,
    /// Whether it answers commands that ask for sockets whose memory this machine's kernel charges to nobody.
    pub supervises: bool,
    /// What is laid over places of its root before it gives anything up, in this order.
    pub laid: Vec<Laid>,
    /// Places where what was laid came from: nothing is there afterwards.
    pub away: Vec<String>,
}

/// Something that is laid over a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Laid {
    /// What.
    pub from: String,
    /// Over which place; made if it is not there.
    pub to: String,
    /// Whether it is a folder that is made for it, and belongs to whom the agent is to be.
    pub own: bool,
}

/// What it answers, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromSeat {
    /// It has taken its place, and this was seen.
    Taken(Box<Seen>),
    /// It has not.
    Untaken {
        /// The step that failed.
        step: String,
        /// What the system said.
        errno: i32,
    },
}

/// What an agent saw of its place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one observation; none follows from another")]
pub struct Seen {
    /// It is the first process of its pid namespace.
    pub first: bool,
    /// Who it is.
    pub user: u32,
    /// It has no supplementary groups but its own, which some engines list once more.
    pub no_groups: bool,
    /// No capability can be used, and none can be gained.
    pub no_capabilities: bool,
    /// Nothing that it executes gains privileges.
    pub no_new_privileges: bool,
    /// It cannot be traced or dumped.
    pub hidden: bool,
    /// A filter of system calls is in force, whoever put it there.
    pub filtered: bool,
    /// The mark of our own filters, if they are in force.
    pub filter: Option<String>,
    /// It can answer commands that ask for sockets whose memory nobody is charged for, and will.
    pub supervises: bool,
    /// Its root cannot be written to.
    pub root_is_read_only: bool,
    /// The interfaces of its network, by name.
    pub interfaces: Vec<String>,
    /// The bytes of the largest file system that one of its own folders is on.
    pub room: Option<u64>,
    /// The most processes that it can have, by its resource limit.
    pub most_processes: Option<u64>,
    /// The kernel that it runs on, as that calls itself.
    pub kernel: String,
}
