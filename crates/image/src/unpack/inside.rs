//! A name in an archive as a path beneath the root of the tree. There is no way to write `..` with this type.

use std::ffi::{CStr, CString};

use crate::Bounds;

/// A path beneath the root: names, each of them one step down. Without any it is the root itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inside(Vec<CString>);

impl Inside {
    /// Reads a name as archives have them: `./usr/bin/env`, `/usr/bin/env` and `usr//bin/env` are the same.
    pub(super) fn read(name: &[u8], bounds: &Bounds) -> Result<Self, &'static str> {
        if name.len() > bounds.path {
            return Err("has a name that is longer than any may be");
        }
        let mut parts = Vec::new();
        for part in name.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return Err("would climb out of the image by `..`"),
                part if part.len() > 255 => return Err("has a name that is longer than any may be"),
                part => parts.push(CString::new(part).map_err(|_| "has a zero byte in its name")?),
            }
        }
        if parts.len() > bounds.depth {
            return Err("lies deeper than anything may");
        }
        Ok(Self(parts))
    }

    /// The folder that holds it, and its name there; none for the root.
    pub(super) fn split(&self) -> Option<(&[CString], &CStr)> {
        self.0.split_last().map(|(name, folder)| (folder, name.as_c_str()))
    }
}

/// Names as one path: `.` for the root.
pub(super) fn joined(parts: &[CString]) -> Vec<u8> {
    if parts.is_empty() {
        return b".".to_vec();
    }
    parts.iter().map(|part| part.to_bytes()).collect::<Vec<_>>().join(&b'/')
}
