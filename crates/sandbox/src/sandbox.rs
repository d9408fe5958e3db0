//! A sandbox that stands, and a command that runs in it.

use std::os::fd::OwnedFd;
use std::time::Duration;

use bailiwick_types::{Denial, Receipt, SandboxId, SnapshotId};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::{Command, Doing, ExecResult, ExecUsage, Exit, SandboxError, SandboxPath, SandboxSpec};

/// A sandbox. Dropping it terminates it.
pub trait Sandbox: Send + Sync + std::fmt::Debug {
    /// Its id.
    fn id(&self) -> SandboxId;
    /// The name of its backend.
    fn backend(&self) -> &str;
    /// What it was made from.
    fn spec(&self) -> &SandboxSpec;
    /// What was demanded, and what was seen to hold it.
    fn receipt(&self) -> &Receipt;
    /// Lines that whoever asked should read: what a preset wanted and nothing here holds.
    fn warnings(&self) -> &[String];
    /// Starts a command and gives its streams. A sandbox that sleeps is woken first. It is fed by whoever has its streams:
    /// [`Command::input`] is not sent by itself (see [`crate::feed`]).
    fn spawn(&self, command: Command) -> Doing<'_, Result<Running, SandboxError>>;
    /// Runs a command to its end, and keeps as much of its output as the spec says.
    fn exec(&self, command: Command) -> Doing<'_, Result<ExecResult, SandboxError>>;
    /// Writes a file, and the folders above it that are missing.
    fn write_file<'a>(
        &'a self,
        path: &'a SandboxPath,
        bytes: Bytes,
        executable: bool,
    ) -> Doing<'a, Result<(), SandboxError>>;
    /// Puts something in the place of whatever is at a path: what the host has there, where a change is dropped.
    fn put<'a>(&'a self, path: &'a SandboxPath, what: Put) -> Doing<'a, Result<(), SandboxError>>;
    /// Reads a file of at most `most` bytes; a longer one is refused.
    fn read_file<'a>(&'a self, path: &'a SandboxPath, most: u64) -> Doing<'a, Result<Bytes, SandboxError>>;
    /// What is in a folder, by name.
    fn list<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<Vec<Entry>, SandboxError>>;
    /// Removes a file, or a folder with all that is in it.
    fn remove<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<(), SandboxError>>;
    /// Forwards a port of the host's loopback to a port inside; gives the host's port.
    fn expose(&self, port: u16) -> Doing<'_, Result<u16, SandboxError>>;
    /// The folder of the host's that holds what was written over the overlay at `to`, in the kernel's own form. It stays as long as
    /// it is held, also after the sandbox.
    fn written_over(&self, to: &SandboxPath) -> Result<OwnedFd, SandboxError>;
    /// Keeps the state of its files, from which others can start.
    fn snapshot(&self) -> Doing<'_, Result<Snapshot, SandboxError>>;
    /// Puts it to sleep: nothing in it runs until it is used again.
    fn hibernate(&self) -> Doing<'_, Result<(), SandboxError>>;
    /// Wakes it.
    fn resume(&self) -> Doing<'_, Result<(), SandboxError>>;
    /// Another sandbox of the same spec that begins with the state of this one's files.
    fn fork(&self) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>>;
    /// What it has used since it was made.
    fn usage(&self) -> Doing<'_, Result<ExecUsage, SandboxError>>;
    /// Ends what runs in it: politely, and after the grace by force. Its files are kept.
    fn stop(&self, grace: Duration) -> Doing<'_, Result<(), SandboxError>>;
    /// Ends it and removes everything, at once. Again is fine.
    fn terminate(&self) -> Doing<'_, Result<(), SandboxError>>;
    /// Makes it as it was at birth, and proves that; where it cannot, it says so and must not be used again.
    fn reset(&self) -> Doing<'_, Result<Reset, SandboxError>>;
    /// Whether it can still be used.
    fn is_alive(&self) -> bool;
}

/// How a reset went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reset {
    /// Nothing of before is left, by looking at everything that could be.
    Proven,
    /// Something may be left; what, in a few words.
    Unproven(String),
}

/// The state of a sandbox's files.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Its id.
    pub id: SnapshotId,
    /// The backend that keeps it and can start from it.
    pub backend: String,
    /// How much it takes, in bytes.
    pub bytes: u64,
}

/// Something that is put at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// A file with these bytes and permissions.
    File {
        /// Its bytes.
        bytes: Bytes,
        /// Its permissions.
        mode: u32,
    },
    /// A folder with these permissions; what is in one that is there stays.
    Folder {
        /// Its permissions.
        mode: u32,
    },
    /// A link.
    Link {
        /// Where it leads.
        to: String,
    },
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its name; bytes that are no text are shown as `\u{fffd}`.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its length, for files.
    pub bytes: u64,
    /// Its permissions.
    pub mode: u32,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// Something else.
    Other,
}

/// A command that runs. Dropping it does not end the command: its deadline does, or [`Input::Kill`].
#[derive(Debug)]
pub struct Running {
    /// What it is told, in order. It waits when the command does not read.
    pub input: mpsc::Sender<Input>,
    /// What must not wait behind input that the command does not read: a signal, a size, its end. A backend listens to
    /// both at once.
    pub urgent: mpsc::Sender<Input>,
    /// What it says, in order for each stream. The command waits when nobody reads.
    pub output: mpsc::Receiver<Chunk>,
    /// How it ended; there is nothing more to read then but what is in `output` already.
    pub ended: oneshot::Receiver<Result<Ended, SandboxError>>,
}

/// What a running command is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Bytes for its standard input.
    Bytes(Bytes),
    /// There is no more input.
    End,
    /// Its terminal has another size.
    Resize(crate::Window),
    /// A signal for the command itself.
    Signal(i32),
    /// It is to end at once, with everything that it started.
    Kill,
}

/// Which stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Some output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Of this stream.
    pub stream: Stream,
    /// The bytes.
    pub bytes: Bytes,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Its exit code or the signal that ended it.
    pub exit: Exit,
    /// Its deadline ended it.
    pub timed_out: bool,
    /// The kernel ended something of it for want of memory.
    pub oom: bool,
    /// What it used.
    pub usage: ExecUsage,
    /// What was refused to it, as far as anybody was told.
    pub denials: Vec<Denial>,
}
