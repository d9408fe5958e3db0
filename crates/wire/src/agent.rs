//! What a host and the first process of a sandbox say to each other, over any stream of bytes.
//!
//! Every ask has a number that the host chose, and everything about it goes by that number. Output flows only as far as the
//! host has given credit, input only as far as the agent has: neither can make the other hold more than [`WINDOW`] bytes of
//! a stream. Everything an agent says is hostile: the guest lives beside it.

use std::net::SocketAddrV4;

use serde::{Deserialize, Serialize};

use crate::jail::Listens;

/// How many bytes of one stream may be under way. Both sides begin with this much credit.
pub const WINDOW: u32 = 256 * 1024;
/// The most bytes of a stream in one message.
pub const CHUNK: usize = 64 * 1024;
/// The longest message: the words of a command, a megabyte, and its variables beside them.
pub const LONGEST: usize = 4 << 20;

/// How many bytes of one carried connection may be under way in each direction. Both sides begin with this much credit.
pub const CARRIED_WINDOW: u32 = 64 * 1024;
/// The most connections that are carried at once.
pub const MOST_CARRIED: usize = 1024;
/// The most questions about names that wait for an answer at once.
pub const MOST_ASKED: usize = 64;
/// The longest question about a name.
pub const LONGEST_QUERY: usize = 4096;
/// Numbers that an agent gives, to connections and questions that come to it, begin here; those of asks are below.
pub const FIRST_CARRIED: u32 = 1 << 31;

/// A size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// A command to be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Its words; the first is looked for in the PATH of `env` if it has no slash.
    pub argv: Vec<String>,
    /// All of its variables.
    pub env: Vec<(String, String)>,
    /// Where it begins.
    pub cwd: String,
    /// Whether there is input: without it, its standard input is empty.
    pub has_input: bool,
    /// A terminal instead of three streams; what it says is all `Stdout` then.
    pub terminal: Option<Window>,
}

/// Which stream of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a host asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToAgent {
    /// Starts a command. Answered by [`FromAgent::Output`]s and one [`FromAgent::Ended`], or by [`FromAgent::NotStarted`].
    Start {
        /// The number of the ask.
        id: u32,
        /// What to start.
        start: Box<Start>,
    },
    /// Bytes for a command's input, within the credit that the agent gave.
    Input {
        /// The ask.
        id: u32,
        /// The bytes.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// There is no more input.
    InputEnd {
        /// The ask.
        id: u32,
    },
    /// So many bytes of a stream were taken, so many more may come.
    Credit {
        /// The ask.
        id: u32,
        /// Of which stream.
        stream: Stream,
        /// So many bytes.
        bytes: u32,
    },
    /// Nobody reads this stream any more: what comes is thrown away where it is.
    Discard {
        /// The ask.
        id: u32,
        /// Which stream.
        stream: Stream,
    },
    /// The terminal has another size.
    Resize {
        /// The ask.
        id: u32,
        /// The size.
        window: Window,
    },
    /// A signal for the command itself.
    Signal {
        /// The ask.
        id: u32,
        /// Which signal.
        signal: i32,
    },
    /// Ends the command and everything that it started and that can be found: its descendants, its session.
    Kill {
        /// The ask.
        id: u32,
    },
    /// Sends a signal to everything but the agent. Answered by [`FromAgent::Done`] when, for SIGKILL, all are reaped.
    SignalAll {
        /// The ask.
        id: u32,
        /// Which signal.
        signal: i32,
    },
    /// Writes a file of what follows as [`ToAgent::Data`], up to [`ToAgent::DataEnd`]. Answered by `Done` or `Failed`; it
    /// takes the place of what was there only when all of it has come.
    Write {
        /// The ask.
        id: u32,
        /// Where.
        path: String,
        /// Its permissions.
        mode: u32,
    },
    /// Makes a folder, or a link, where nothing is; a folder that is there gets the permissions. `Done` or `Failed`.
    Make {
        /// The ask.
        id: u32,
        /// Where.
        path: String,
        /// Where it leads, for a link.
        link: Option<String>,
        /// The permissions of a folder.
        mode: u32,
    },
    /// Reads a file: [`FromAgent::Data`], then `Done`. One longer than `most` gives `Failed` with EFBIG.
    Read {
        /// The ask.
        id: u32,
        /// Which.
        path: String,
        /// The most bytes.
        most: u64,
    },
    /// Lists a folder: [`FromAgent::Listed`] as often as needed, then `Done`.
    List {
        /// The ask.
        id: u32,
        /// Which.
        path: String,
    },
    /// Removes a file or a folder with all that is in it; `Done` or `Failed`.
    Remove {
        /// The ask.
        id: u32,
        /// Which.
        path: String,
    },
    /// Packs everything below these folders, which are the sandbox's own: [`FromAgent::Data`], then `Done`. Nothing else
    /// runs meanwhile: what runs is stopped, and what is to be started is not, with EBUSY.
    Pack {
        /// The ask.
        id: u32,
        /// The folders.
        folders: Vec<String>,
        /// The most bytes that the pack may have; a longer one gives `Failed` with EFBIG.
        most: u64,
    },
    /// Unpacks what follows as [`ToAgent::Data`], up to [`ToAgent::DataEnd`], below the folders that it was packed from.
    Unpack {
        /// The ask.
        id: u32,
        /// The folders; what is packed below others is refused.
        folders: Vec<String>,
    },
    /// A part of a file or a pack, within the credit that the agent gave.
    Data {
        /// The ask.
        id: u32,
        /// The bytes.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// All of it came.
    DataEnd {
        /// The ask.
        id: u32,
    },
    /// Gives up on an ask about files.
    Cancel {
        /// The ask.
        id: u32,
    },
    /// Ends every process, empties these folders, and looks whether anything of before is left: [`FromAgent::Reset`]. How
    /// commands ended that ran until then is told before; asks about files are given up.
    Reset {
        /// The ask.
        id: u32,
        /// The folders that were empty at birth.
        folders: Vec<String>,
    },
    /// Hands over a socket that connects from inside and is connected to nobody, beside a packet with the number of the ask;
    /// then `Done`, or `Failed`.
    Lend {
        /// The ask.
        id: u32,
        /// Of the sixth version of the internet's protocol.
        is_six: bool,
    },
    /// How many processes there are: [`FromAgent::Counted`].
    Count {
        /// The ask.
        id: u32,
    },
    /// Listens at these places, for walls through which no socket can be handed: `Done` or `Failed`. Whoever connects there is told
    /// of by [`FromAgent::Arrived`], and what they ask about names by [`FromAgent::Asked`]. Only once.
    Listen {
        /// The ask.
        id: u32,
        /// Where.
        listens: Listens,
    },
    /// Connects to a port of the sandbox's own loopback: [`FromAgent::Joined`] or `Failed`, and then it is a carried connection.
    Dial {
        /// The ask, and the number of the connection.
        id: u32,
        /// Which port.
        port: u16,
        /// By the sixth version of the internet's protocol.
        is_six: bool,
    },
    /// Ends a carried connection at once. Nothing more comes of it.
    Part {
        /// The connection.
        id: u32,
    },
    /// Answers a question about a name.
    Answer {
        /// The question.
        id: u32,
        /// What it is answered.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// Lets go of everything that an earlier host had asked for: what commands say that it started is thrown away from now on, its
    /// connections end, its asks about files are given up. For a host that goes on with an agent that was kept.
    Forget {
        /// The ask: `Done`.
        id: u32,
    },
    /// Says `Done`, and from then on nothing, until the host says anything else: an agent that is kept in the meantime was within
    /// no message, of its own or of the host's.
    Hush {
        /// The ask.
        id: u32,
    },
}

/// What an agent answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromAgent {
    /// It listens. What it saw of its walls came before, from whoever built them.
    Ready,
    /// Some output, within credit.
    Output {
        /// The ask.
        id: u32,
        /// Of which stream.
        stream: Stream,
        /// The bytes.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// So many bytes of input were taken, so many more may come.
    Credit {
        /// The ask.
        id: u32,
        /// So many bytes.
        bytes: u32,
    },
    /// A command ended, and all of its output that will come has come.
    Ended {
        /// The ask.
        id: u32,
        /// How.
        ended: Ended,
    },
    /// A command did not start.
    NotStarted {
        /// The ask.
        id: u32,
        /// What was being done: `change to the working folder`, `execute`.
        step: String,
        /// What the system said.
        errno: i32,
    },
    /// A part of a file or a pack, within credit (as `Stdout` of the ask).
    Data {
        /// The ask.
        id: u32,
        /// The bytes.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// Entries of a folder.
    Listed {
        /// The ask.
        id: u32,
        /// Some of them.
        entries: Vec<Listed>,
    },
    /// It is done.
    Done {
        /// The ask.
        id: u32,
    },
    /// It is not, and why.
    Failed {
        /// The ask.
        id: u32,
        /// What was being done.
        step: String,
        /// What the system said.
        errno: i32,
    },
    /// How a reset went.
    Reset {
        /// The ask.
        id: u32,
        /// What is or may be left; nothing when it is as at birth.
        left: Vec<String>,
    },
    /// Somebody connected: from now on a carried connection, which says [`FromAgent::Output`] as `Stdout` and takes
    /// [`ToAgent::Input`], each within a window of [`CARRIED_WINDOW`].
    Arrived {
        /// The number of the connection: [`FIRST_CARRIED`] or more.
        id: u32,
        /// To this address.
        at: SocketAddrV4,
    },
    /// A connection that was asked for stands.
    Joined {
        /// The ask.
        id: u32,
    },
    /// Nothing more comes from the other side of a carried connection.
    OutputEnd {
        /// The connection.
        id: u32,
    },
    /// A carried connection is over.
    Parted {
        /// The connection.
        id: u32,
    },
    /// Somebody asks about a name, by a datagram.
    Asked {
        /// The number of the question: [`FIRST_CARRIED`] or more.
        id: u32,
        /// What they ask.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// How many processes there are beside the agent.
    Counted {
        /// The ask.
        id: u32,
        /// So many.
        processes: u32,
    },
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit code, if it ended by itself.
    pub code: Option<i32>,
    /// Else the signal that ended it.
    pub signal: Option<i32>,
    /// CPU time of it and of what it waited for, in microseconds.
    pub cpu_us: u64,
    /// The most memory that one of its processes held, in bytes.
    pub memory_peak: u64,
    /// How many processes were seen to be its own, at least.
    pub processes: u32,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name; bytes that are no text are replaced.
    pub name: String,
    /// What it is: `f`, `d`, `l`, or `o` for anything else.
    pub kind: char,
    /// Its length.
    pub bytes: u64,
    /// Its permissions.
    pub mode: u32,
}
