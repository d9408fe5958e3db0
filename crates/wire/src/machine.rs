//! What a host tells the first process of a machine before it tells it its seat, and what goes beside that.
//!
//! Files are asked for in the kernel's own words (FUSE), each message with its length first. Orders go over a port of their own, and
//! have a fixed length.

use serde::{Deserialize, Serialize};

/// The word by which the program knows that it is the first process of a machine.
pub const WORD: &str = "machine";
/// The port of the agent's own stream.
pub const AGENT_PORT: &str = "/dev/vport0p1";
/// The port of the files that the host serves.
pub const FILES_PORT: &str = "/dev/vport0p2";
/// The port of orders to the machine's first process.
pub const ORDERS_PORT: &str = "/dev/vport0p3";
/// The word behind the first one, where streams lead out of a machine by virtual sockets and not by ports: its first process
/// connects to its host at each of these numbers.
pub const BY_SOCKETS: &str = "vsock";
/// The number of the agent's own stream.
pub const AGENT_SOCKET: u32 = 1;
/// The number of the files that the host serves.
pub const FILES_SOCKET: u32 = 2;
/// The number of orders to the machine's first process.
pub const ORDERS_SOCKET: u32 = 3;
/// Where modules are, in the order of their names.
pub const MODULES: &str = "/modules";

/// The longest message before there is an agent: it may hold files of ours.
pub const MOST_TOLD: usize = 4 << 20;

/// How a machine is laid out: the first message to its first process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Whom commands are.
    pub user: (u32, u32),
    /// The bytes of the file system in memory that everything of the sandbox's own is on.
    pub room: u64,
    /// The files that can be on it.
    pub files: u64,
    /// The memory of everybody in it, in bytes, its files in memory included.
    pub memory: u64,
    /// Processes and threads of everybody in it; none for no bound.
    pub processes: Option<u32>,
    /// Which of the served folders the root is, with a layer over it to be written to; none for one that is built.
    pub image: Option<String>,
    /// What is in the root, in this order.
    pub pieces: Vec<Piece>,
}

/// Something in the root of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// A folder of the sandbox's own.
    Own {
        /// Where.
        at: String,
    },
    /// A file of ours.
    File {
        /// Where.
        at: String,
        /// What is in it.
        text: String,
    },
    /// A link.
    Link {
        /// Where.
        at: String,
        /// To what.
        to: String,
    },
    /// Something that the host serves.
    Served {
        /// Where.
        at: String,
        /// Which.
        name: String,
        /// Whether it can be written to.
        writable: bool,
    },
}

/// The length of an order: its kind, the host's time, and random bytes.
pub const ORDER: usize = 1 + 8 + SEED;
/// How many random bytes come with an order.
pub const SEED: usize = 32;
/// The length of the answer to an order: one number.
pub const OBEYED: usize = 8;

/// What the first process of a machine is told to do, each time with one answer.
pub mod order {
    /// Say how many processes were killed for want of memory.
    pub const COUNT: u8 = 1;
    /// Ask for nothing more, and answer when everything is answered.
    pub const HUSH: u8 = 2;
    /// Ask again, at the time of the host, with other random numbers.
    pub const GO_ON: u8 = 3;
}

/// The length of what is before every question.
pub const QUESTION_HEAD: usize = 40;
/// The length of what is before every answer.
pub const ANSWER_HEAD: usize = 16;
/// The most bytes of a file in one message.
pub const PIECE: usize = 128 * 1024;
/// The longest message about files.
pub const LONGEST: usize = PIECE + 8192;
