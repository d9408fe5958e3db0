//! The folders of a backend: one for each owner, by its label, so that whoever comes later finds what a killed one left.

use std::path::Path;

use crate::label::is_left;

/// Makes a folder that nobody else looks into.
pub fn private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Refuses a folder that is somebody else's, or that somebody else can write to.
pub fn is_own(folder: &Path) -> std::io::Result<()> {
    /// What lets the folder's group and everybody else write to it.
    const OTHERS: u32 = 0o022;
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(folder)?;
    if found.uid() != bailiwick_sys::privileges::identity().0 || found.mode() & OTHERS != 0 {
        return Err(std::io::Error::other("others can write to it"));
    }
    Ok(())
}

/// Removes a folder with all that is in it. What cannot be removed now is found by the next start.
#[expect(clippy::disallowed_methods, reason = "a folder of our own; links in it are removed, not followed")]
pub fn remove(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::debug!(%error, folder = %folder.display(), "a folder of a sandbox stays until the next start");
    }
}

/// Removes what owners left that are gone.
pub fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_name().to_str().is_some_and(is_left) {
            remove(&entry.path());
        }
    }
}

/// Writes a file of our own.
#[expect(
    clippy::disallowed_methods,
    reason = "a fresh file in a folder of our own, which nobody reads before it is whole"
)]
pub fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::write(path, bytes)
}

/// The longest file of our own that is read.
const LONGEST: u64 = 1 << 20;

/// Reads a file of our own, or of the kernel's.
#[expect(clippy::disallowed_methods, reason = "a file of our own or of the kernel's, read within a bound")]
pub fn read(path: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(path)?.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}
