mod hostile;
mod round_trip;
mod tree;

use std::path::Path;

use super::{Unpack, into};
use crate::job::Trouble;

/// A folder of the test's own; in memory where that can be, as a sandbox has it.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Unpacks below a folder, in parts of this length.
fn unpack(bytes: &[u8], below: &Path, part: usize) -> Result<(), Trouble> {
    let mut unpack = Unpack::begin(&[text(below)])?;
    for part in bytes.chunks(part) {
        unpack.data(part)?;
    }
    unpack.finish()
}

fn pack(folder: &Path) -> Vec<u8> {
    into::whole(&[text(folder)]).unwrap()
}
