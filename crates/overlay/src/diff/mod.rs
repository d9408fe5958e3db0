//! Changes with their content, for a reviewer: line by line where they are text, by name and size where they are not.
//!
//! What is shown is what was listed: a file that has become another since is told as that, and not shown. Everything is bounded,
//! and what was left out is said.

mod hunks;
mod patch;

use std::io::Read as _;
use std::time::{Duration, Instant};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::change::{Bound, Change, Changes, Node, Skipped, What};
use crate::content::{self, hex};
use crate::fault::{Doing, Fault};
use crate::upper::{Entry, Upper};
use crate::{Host, Kind, RelPath};

/// How much of the content is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffBounds {
    /// Bytes of one file, on each side: 512 KiB. A larger one is told by its size.
    pub file: u64,
    /// Bytes of all lines together: 4 MiB.
    pub output: usize,
    /// Time for finding what is common, after which differences are told less well: 5 s.
    pub time: Duration,
}

impl Default for DiffBounds {
    fn default() -> Self {
        Self { file: 512 << 10, output: 4 << 20, time: Duration::from_secs(5) }
    }
}

/// Changes with their content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// By path.
    pub files: Vec<FileDiff>,
    /// What cannot be told or taken over, by path.
    pub skipped: Vec<Skipped>,
    /// The bound at which looking ended, if there was more.
    pub left_out: Option<Bound>,
    /// How many files are without their lines because there would be too many.
    pub without_lines: usize,
}

/// A change with its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// What it does to content: one part, or two where something became something else; none for a folder and for a mode.
    pub parts: Vec<Part>,
}

/// What a part does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Does {
    /// Takes content away.
    Delete,
    /// Brings content.
    Create,
    /// Changes it.
    Modify,
}

/// Content that goes, comes or changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// What it does.
    pub does: Does,
    /// The lines.
    pub body: Body,
}

/// The lines of a part, or why there are none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "form")]
pub enum Body {
    /// Lines with three of context, as `diff -u` writes them. A link's line is where it leads.
    Text {
        /// Beginning with `@@`; empty when there are no lines.
        hunks: String,
        /// Lines that come.
        added: usize,
        /// Lines that go.
        removed: usize,
    },
    /// It is no text in UTF-8.
    Binary,
    /// It is larger than what is shown.
    TooLarge,
    /// The host's file cannot be read by who we are.
    Unreadable,
    /// The sandbox's file is not what was listed: it is still being written.
    StillWritten,
    /// There were too many lines before it.
    LeftOut,
}

/// One side of a part.
#[derive(Debug)]
enum Side {
    Nothing,
    Bytes(Vec<u8>),
    None(Body),
}

impl Diff {
    /// As a patch that `git apply` takes. What a patch cannot say is in lines that begin with `#`.
    pub fn patch(&self) -> String {
        patch::write(self)
    }
}

/// Reads the content of changes.
pub(crate) fn diff(host: &Host, upper: &Upper, changes: &Changes, bounds: DiffBounds) -> Result<Diff, Fault> {
    let deadline = Instant::now() + bounds.time;
    let mut room = bounds.output;
    let mut without_lines = 0;
    let mut files = Vec::with_capacity(changes.changes.len());
    for change in &changes.changes {
        let mut parts = Vec::new();
        for (does, old, new) in wanted(change) {
            let body = if room == 0 {
                Body::LeftOut
            } else {
                let old =
                    old.map_or(Ok(Side::Nothing), |node| before(host, &change.path, node, bounds.file))?;
                let new =
                    new.map_or(Ok(Side::Nothing), |node| after(upper, &change.path, node, bounds.file))?;
                fit(hunks::body(&old, &new, deadline), &mut room)
            };
            without_lines += usize::from(body == Body::LeftOut);
            parts.push(Part { does, body });
        }
        files.push(FileDiff { change: change.clone(), parts });
    }
    let Changes { skipped, left_out, .. } = changes.clone();
    Ok(Diff { files, skipped, left_out, without_lines })
}

/// What has to be read for a change: which parts it has, and of which sides.
fn wanted(change: &Change) -> Vec<(Does, Option<&Node>, Option<&Node>)> {
    let content = |node: &&Node| matches!(node.kind, Kind::File | Kind::Link);
    let (old, new) = (change.before.as_ref().filter(content), change.after.as_ref().filter(content));
    match change.what {
        What::ModeChanged => Vec::new(),
        What::Changed => vec![(Does::Modify, old, new)],
        What::Added | What::Removed | What::TypeChanged => {
            let gone = old.map(|old| (Does::Delete, Some(old), None));
            let come = new.map(|new| (Does::Create, None, Some(new)));
            gone.into_iter().chain(come).collect()
        }
    }
}

/// A body, unless it is longer than the room that is left.
fn fit(body: Body, room: &mut usize) -> Body {
    let Body::Text { hunks, .. } = &body else { return body };
    if let Some(left) = room.checked_sub(hunks.len()) {
        *room = left;
        return body;
    }
    // The bound is met: what follows would be shown in pieces that mislead.
    *room = 0;
    Body::LeftOut
}

fn before(host: &Host, path: &RelPath, node: &Node, most: u64) -> Result<Side, Fault> {
    if let Some(target) = &node.target {
        return Ok(Side::Bytes(target.as_bytes().to_vec()));
    }
    let Some(file) = host.read(path)? else { return Ok(Side::None(Body::Unreadable)) };
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(Fault::io(Doing::ReadHost, path))?;
    let is_too_large = u64::try_from(bytes.len()).is_ok_and(|length| length > most);
    Ok(if is_too_large { Side::None(Body::TooLarge) } else { Side::Bytes(bytes) })
}

fn after(upper: &Upper, path: &RelPath, node: &Node, most: u64) -> Result<Side, Fault> {
    if let Some(target) = &node.target {
        return Ok(Side::Bytes(target.as_bytes().to_vec()));
    }
    if node.size > most {
        return Ok(Side::None(Body::TooLarge));
    }
    // Files that are marks are not in the list, so nothing is asked for here.
    let still_written = Ok(Side::None(Body::StillWritten));
    let (file, seen) = match upper.entry(path, false) {
        Ok(Entry::File(file, seen)) if seen.size == node.size => (file, seen),
        Ok(_) | Err(Fault::StillWritten { .. }) => return still_written,
        Err(fault) => return Err(fault),
    };
    let mut bytes = Vec::new();
    let read = content::each(&file, &seen, path, |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    match read {
        Ok(()) if node.sha256.as_deref() == Some(hex(&Sha256::digest(&bytes)).as_str()) => {
            Ok(Side::Bytes(bytes))
        }
        Ok(()) | Err(Fault::StillWritten { .. }) => still_written,
        Err(fault) => Err(fault),
    }
}
