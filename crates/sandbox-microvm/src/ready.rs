//! Machines that are ready: kept just after their start, before anything of a sandbox came into one. The next of the same kind goes on
//! from there, and starts no kernel.
//!
//! A kind is everything that such a machine is made of: this start of the host, QEMU, the kernel, our agent, its size, its processor.
//! Whoever goes on from one sets its clock and seeds its random numbers before it gets an order. What all of a kind share is where their
//! kernel lies in memory. A file here is as good as a kernel, so only one that is the owner's and nobody else's is taken.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use crate::kept::Memory;
use crate::monitor::{Accelerator, Size};

/// Where they are, in the folder of this backend.
const FOLDER: &str = "ready";
/// How many are kept: the last that were used.
const MOST: usize = 4;
/// How many bytes of the sum are its name.
const BYTES: usize = 16;
/// What the name of one that is being written begins with.
const UNFINISHED: &str = "unfinished-";

/// What machines have to have in common for one to go on where another was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind(String);

impl Kind {
    /// Of machines that begin with these files, told by name, length and time, and with these bytes.
    pub(crate) fn of(files: &str, begins: &[u8], size: Size, accelerator: Accelerator) -> Self {
        let Size { memory, processors } = size;
        let mut sum = Sha256::new();
        sum.update(format!("{files}\n{memory} {processors} {}\n", accelerator.says()));
        sum.update(begins);
        let name = sum.finalize().iter().take(BYTES).fold(String::new(), |mut name, byte| {
            // A string takes whatever is written to it.
            let _always = write!(name, "{byte:02x}");
            name
        });
        Self(name)
    }
}

/// The machines that are ready.
#[derive(Debug)]
pub(crate) struct Ready(PathBuf);

impl Ready {
    /// Those below a folder.
    pub(crate) fn below(folder: &Path) -> Self {
        Self(folder.join(FOLDER))
    }

    /// The memory of one of a kind, if there is one.
    pub(crate) fn find(&self, kind: &Kind) -> Option<File> {
        let path = self.0.join(&kind.0);
        match open(&path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::debug!(%error, path = %path.display(), "a machine that was ready is not used");
                self.forget(kind);
                None
            }
        }
    }

    /// A file for the memory of one.
    pub(crate) fn begin(&self, owner: &str) -> io::Result<(Memory, File)> {
        Memory::make(self.0.join(format!("{UNFINISHED}{owner}")))
    }

    /// One is whole. The least used beyond the bound are removed.
    pub(crate) fn finish(&self, kind: &Kind, memory: Memory) -> io::Result<()> {
        memory.stay_as(&self.0.join(&kind.0))?;
        self.sweep(MOST)
    }

    /// One that does not go on is no use to anybody.
    pub(crate) fn forget(&self, kind: &Kind) {
        let path = self.0.join(&kind.0);
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::debug!(%error, path = %path.display(), "a machine that was ready stays");
        }
    }

    /// Removes all but the last used, and what a killed owner did not finish. Others may do the same meanwhile.
    fn sweep(&self, most: usize) -> io::Result<()> {
        let mut whole: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in std::fs::read_dir(&self.0)?.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.strip_prefix(UNFINISHED) {
                Some(owner) if bailiwick_agent_host::label::is_left(owner) => remove(&entry.path())?,
                Some(_) => {}
                None => {
                    // One that is gone already need not be counted.
                    let found = entry.metadata().and_then(|found| found.modified()).ok();
                    whole.extend(found.map(|when| (when, entry.path())));
                }
            }
        }
        whole.sort_by(|one, other| other.cmp(one));
        whole.iter().skip(most).try_for_each(|(_, path)| remove(path))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Opens the memory of a machine, which nobody else may have written, and says that it was used now.
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fstat};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let found = fstat(&file)?;
    let is_file = rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::RegularFile;
    let is_ours = found.st_uid == bailiwick_sys::privileges::identity().0
        && !Mode::from_raw_mode(found.st_mode).intersects(Mode::RWXG | Mode::RWXO);
    if !is_file || !is_ours {
        return Err(io::Error::other("it is not a file that only its owner can reach"));
    }
    let file = File::from(file);
    file.set_modified(SystemTime::UNIX_EPOCH + bailiwick_sys::clock::realtime())?;
    Ok(file)
}
