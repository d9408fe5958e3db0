//! When the log of the database has reached the disk.
//!
//! The database itself is told to wait for the disk only when it carries the log over. Here is the one place that brings
//! the log to the disk before somebody is told that it is there, so the rule can be counted in a test.

use std::fs::File;
use std::io;

/// Brings what was written to the disk.
pub(crate) trait Disk: Send {
    /// Returns once everything that was committed is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The log of the database.
pub(crate) struct Log(pub(crate) File);

impl Disk for Log {
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}
