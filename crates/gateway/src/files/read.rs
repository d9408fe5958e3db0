//! Reading: whole files, parts of them, and what is known of a path.

use std::ops::ControlFlow;
use std::os::fd::AsFd as _;

use bailiwick_sys::beneath::{self, Kind, Links, Status};
use bailiwick_types::{Bytes, FileAnswer};
use serde_json::{Value, json};

use super::answer::{self, Bounded};
use super::place::{Spot, join};
use super::reason::{Fault, FileReason};
use super::walk::Walk;
use super::{Stop, names};

/// The most entries of a listing.
pub(super) const MOST_ENTRIES: usize = 10_000;

/// The text of a file.
pub(super) fn text(spot: &Spot, stop: &Stop) -> Result<String, Fault> {
    String::from_utf8(spot.read(stop)?).map_err(|_| FileReason::NotUtf8.into())
}

/// Some of the bytes of a file; past its end there are none.
pub(super) fn bytes(spot: &Spot, offset: u64, length: Option<u64>, stop: &Stop) -> Result<FileAnswer, Fault> {
    let mut content = spot.read(stop)?;
    let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
    content.drain(..offset);
    if let Some(length) = length {
        content.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    }
    Ok(FileAnswer::Bytes(Bytes(content)))
}

/// The word for what something is.
pub(super) const fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Folder => "dir",
        Kind::Link => "link",
        Kind::Special => "other",
    }
}

/// What is in a folder.
pub(super) fn list(spot: &Spot, recursive: bool, stop: &Stop) -> Result<FileAnswer, Fault> {
    let folder = spot.folder()?;
    let mut entries = Bounded::new(MOST_ENTRIES);
    let mut walk = Walk { recursive, budget: MOST_ENTRIES, cut: false, stop };
    walk.through(folder.as_fd(), spot.depth(), &mut |entry| {
        let path = join(spot.shown(), entry.below);
        let kind = kind_word(entry.status.kind);
        let item = json!({"name": names::shown(entry.name), "path": path, "kind": kind, "size": size(&entry.status)});
        Ok(if entries.push(&item) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    if walk.cut {
        entries.truncate();
    }
    Ok(entries.finish("entries", &[]))
}

/// The size of a file's content; what is no file has none.
const fn size(status: &Status) -> u64 {
    match status.kind {
        Kind::File => status.size,
        Kind::Folder | Kind::Link | Kind::Special => 0,
    }
}

/// Whether something is there that could be read or listed. A link that leads nowhere, or out, is nothing.
pub(super) fn exists(spot: &Spot) -> Result<FileAnswer, Fault> {
    let there = match spot.look(Links::Beneath) {
        Ok(_) => true,
        Err(fault) => match fault.reason {
            FileReason::NotFound
            | FileReason::NotAFolder
            | FileReason::Link
            | FileReason::LeadsOut
            | FileReason::BadName => false,
            _ => return Err(fault),
        },
    };
    answer::json(&Value::Bool(there))
}

/// What is known of a path; of a link itself, if it is one.
pub(super) fn stat(spot: &Spot) -> Result<FileAnswer, Fault> {
    let status = beneath::status(spot.look(Links::NotTheLast)?)?;
    answer::json(&json!({
        "path": spot.shown(),
        "kind": kind_word(status.kind),
        "size": size(&status),
        "modified": status.modified,
    }))
}
