//! A proof that this process has one thread. Forking with more leaves the child with locks that nobody will release.

use rustix::io::Errno;

use crate::{Failed, Step};

/// This process had exactly one thread when this was made. Whoever holds it must start none.
#[derive(Debug)]
pub struct Alone(());

impl Alone {
    /// Counts the threads of this process.
    pub fn check() -> Result<Self, Failed> {
        let tasks = std::fs::read_dir("/proc/self/task")
            .map_err(|error| Step::CountThreads.failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        if tasks.count() == 1 { Ok(Self(())) } else { Err(Step::MoreThreads.failed(Errno::BUSY)) }
    }

    /// For a machine without `/proc`, where the threads cannot be counted: the caller has started none.
    pub const fn assume_just_started() -> Self {
        Self(())
    }
}
