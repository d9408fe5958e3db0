//! Reading what a guest wrote: within a bound, and so that a file which changes meanwhile is found out.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;

use sha2::{Digest as _, Sha256};

use crate::RelPath;
use crate::fault::{Doing, Fault};
use crate::seen::Seen;

const BLOCK: usize = 128 << 10;

/// How many bytes may still be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget(pub(crate) u64);

impl Budget {
    /// Takes so many, or says that they are not there.
    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        }
    }
}

/// Reads a file of the sandbox from its beginning, piece by piece. It must be as it was seen, before and after.
pub(crate) fn each(
    file: &File,
    seen: &Seen,
    path: &RelPath,
    mut piece: impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut block = vec![0; BLOCK];
    let mut read = 0_u64;
    // One byte more than it has: a file that grows is found out, and is not read for ever.
    let mut rest = file.take(seen.size.saturating_add(1));
    loop {
        let length = rest.read(&mut block).map_err(Fault::io(Doing::ReadUpper, path))?;
        if length == 0 {
            break;
        }
        read = read.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        piece(block.get(..length).unwrap_or_default())?;
    }
    let after = Seen::of(file).map_err(Fault::system(Doing::ReadUpper, path))?;
    let is_same = read == seen.size
        && after.size == seen.size
        && after.modified == seen.modified
        && after.changed == seen.changed;
    if is_same { Ok(()) } else { Err(Fault::StillWritten { path: path.clone() }) }
}

/// What reading a file of the sandbox said.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) sha256: String,
    /// Whether the host's file has the same bytes.
    pub(crate) same: bool,
}

/// Reads a file of the sandbox, hashes it, and compares it with the host's file if there is one.
pub(crate) fn compare(
    file: &File,
    seen: &Seen,
    host: Option<&File>,
    path: &RelPath,
) -> Result<Compared, Fault> {
    let mut hash = Sha256::new();
    let mut same = host.is_some();
    let mut theirs = vec![0; BLOCK];
    each(file, seen, path, |ours| {
        hash.update(ours);
        if let Some(mut host) = host.filter(|_| same) {
            let theirs = theirs.get_mut(..ours.len()).unwrap_or_default();
            same = match host.read_exact(theirs) {
                Ok(()) => theirs == ours,
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => false,
                Err(error) => return Err(Fault::io(Doing::ReadHost, path)(error)),
            };
        }
        Ok(())
    })?;
    Ok(Compared { sha256: hex(&hash.finalize()), same })
}

/// Bytes in hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a text cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
