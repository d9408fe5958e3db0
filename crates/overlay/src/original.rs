//! What the host has at a path, to be put back where a change is dropped. It is read within a bound, and no link is followed.

use std::io::Read as _;

use bailiwick_sys::beneath;

use crate::RelPath;
use crate::change::Target;
use crate::fault::{Doing, Fault};
use crate::host::{Found, Host};
use crate::seen::Kind;

/// What the host has at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Original {
    /// Nothing, or nothing that a sandbox sees.
    Nothing,
    /// A folder with this mode.
    Folder(u32),
    /// A file.
    File {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its mode.
        mode: u32,
    },
    /// A link that leads there.
    Link(Target),
    /// A file of this size, which is more than is read.
    TooLarge(u64),
}

/// The bits of a mode that are put back.
const PERMISSIONS: u32 = 0o777;

pub(crate) fn original(host: &Host, path: &RelPath, most: u64) -> Result<Original, Fault> {
    let read = |errno| Fault::system(Doing::ReadHost, path)(errno);
    let (held, seen) = match host.look(path)? {
        Found::This(held, seen) => (held, seen),
        Found::Nothing | Found::Mount => return Ok(Original::Nothing),
    };
    match seen.kind {
        Kind::Folder => Ok(Original::Folder(seen.mode & PERMISSIONS)),
        Kind::Link => Ok(Original::Link(Target(beneath::target(&held).map_err(read)?.into_bytes()))),
        Kind::File if seen.size > most => Ok(Original::TooLarge(seen.size)),
        Kind::File => {
            let (file, _) = beneath::read_again(held).map_err(read)?;
            let mut bytes = Vec::new();
            file.take(most.saturating_add(1))
                .read_to_end(&mut bytes)
                .map_err(Fault::io(Doing::ReadHost, path))?;
            if bytes.len() as u64 > most {
                return Ok(Original::TooLarge(bytes.len() as u64));
            }
            Ok(Original::File { bytes, mode: seen.mode & PERMISSIONS })
        }
        Kind::Special => Ok(Original::Nothing),
    }
}
