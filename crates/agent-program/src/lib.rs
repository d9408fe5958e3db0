//! The agent as a static program, inside of this one: started where nothing of this machine's libraries is, in a container, on
//! another kernel, in a machine of its own.
//!
//! This crate knows nobody who starts it. It must never hand out a file that is not the program, to the byte.

use std::io::Write as _;
use std::path::{Path, PathBuf};

#[cfg(has_agent)]
const PROGRAM: Option<&[u8]> = Some(include_bytes!(env!("BAILIWICK_AGENT")));
#[cfg(not(has_agent))]
const PROGRAM: Option<&[u8]> = None;

/// Why there is no file of the program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// This build has none.
    #[error("this build of Bailiwick has no static agent: it was built where there is no static C library")]
    NotBuilt,
    /// It could not be written.
    #[error("the agent's program could not be put into {}: {error}", folder.display())]
    NotPlaced {
        /// Where.
        folder: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

/// The program.
pub fn bytes() -> Result<&'static [u8], ProgramError> {
    PROGRAM.ok_or(ProgramError::NotBuilt)
}

/// What the file of the program is called: another program has another length or another sum, and so another name.
fn name(program: &[u8]) -> String {
    let sum = program
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("agent-{sum:016x}")
}

/// A file that holds the program, in this folder of the caller's own, which is made if it is not there. What has its name already is
/// compared, and replaced if it is anything else.
pub fn place(folder: &Path) -> Result<PathBuf, ProgramError> {
    let program = bytes()?;
    let failed = |error| ProgramError::NotPlaced { folder: folder.to_owned(), error };
    let path = folder.join(name(program));
    if is_there(&path, program) {
        return Ok(path);
    }
    write(folder, &path, program).map_err(failed)?;
    Ok(path)
}

#[expect(clippy::disallowed_methods, reason = "a file of our own, compared with what it has to be")]
fn is_there(path: &Path, program: &[u8]) -> bool {
    let is_file = std::fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() == program.len() as u64);
    is_file && std::fs::read(path).is_ok_and(|bytes| bytes == program)
}

fn write(folder: &Path, path: &Path, program: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(program)?;
    // Whoever a sandbox is has to be able to run it, and nobody to change it.
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o555))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests;
