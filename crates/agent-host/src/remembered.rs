//! What one process found out about this machine, kept in a file for the next one.
//!
//! A file is written whole or not at all. Must never: let a value count that was found under other circumstances; each value names
//! its [`circumstances`], and the reader compares them.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::folders;

/// Where the number of this start of the host is.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Seconds since 1970.
pub fn now() -> u64 {
    bailiwick_sys::clock::realtime().as_secs()
}

/// This start of the host, and these files as they are now. A file that is replaced or changed gives another text.
pub fn circumstances(files: &[&Path]) -> String {
    use std::os::unix::fs::MetadataExt as _;
    let mut text = folders::read(Path::new(BOOT)).unwrap_or_default().trim().to_owned();
    for file in files {
        let found = std::fs::metadata(file);
        let state = found.map(|found| {
            let (seconds, nanoseconds) = (found.mtime(), found.mtime_nsec());
            format!("{} {} {} {seconds}.{nanoseconds}", found.dev(), found.ino(), found.len())
        });
        text = format!("{text}; {} {}", file.display(), state.unwrap_or_default());
    }
    text
}

/// The value in a file; `None` where there is no file or it cannot be read as such a value.
pub fn read<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_str(&folders::read(file).ok()?).ok()
}

/// Keeps a value in a file. If the file cannot be written, the next process finds the value out again.
pub fn write<T: Serialize>(file: &Path, value: &T) {
    let write = || -> std::io::Result<()> {
        if let Some(directory) = file.parent() {
            folders::private(directory)?;
        }
        // Another process may read the file at any time, so it appears complete.
        let fresh = file.with_extension(format!("{}.new", std::process::id()));
        folders::write(&fresh, &serde_json::to_vec(value)?)?;
        std::fs::rename(&fresh, file)
    };
    if let Err(error) = write() {
        tracing::debug!(%error, file = %file.display(), "the file was not written; the next process looks again");
    }
}
