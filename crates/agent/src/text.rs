//! Files of `/proc`, read whole or in part, up to a bound.

use bailiwick_sys::{Errno, packets};
use rustix::fs::{Mode, OFlags};

/// The most that is read of one.
const MOST: usize = 4 << 20;

/// What a file says.
pub(crate) fn of(path: &str) -> Result<Vec<u8>, Errno> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = Vec::new();
    let mut piece = [0; 8192];
    loop {
        let length = packets::read(&file, &mut piece)?;
        if length == 0 {
            return Ok(text);
        }
        text.extend_from_slice(piece.get(..length).unwrap_or_default());
        if text.len() > MOST {
            return Err(Errno::FBIG);
        }
    }
}

/// The begin of what a file says.
pub(crate) fn up_to(path: &str, most: usize) -> Result<Vec<u8>, Errno> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = vec![0; most];
    let mut done = 0;
    while let Some(room) = text.get_mut(done..).filter(|room| !room.is_empty()) {
        match packets::read(&file, room)? {
            0 => break,
            length => done += length,
        }
    }
    text.truncate(done);
    Ok(text)
}

/// A number in each line behind the first: the one in this column.
pub(crate) fn column(text: &[u8], column: usize) -> Vec<u64> {
    let text = String::from_utf8_lossy(text);
    let number = |line: &str| line.split_whitespace().nth(column).and_then(|word| word.parse().ok());
    // A line that cannot be read is something that is there.
    text.lines().skip(1).map(|line| number(line).unwrap_or(0)).collect()
}
