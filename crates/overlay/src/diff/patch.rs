//! A diff as a patch that `git apply` takes. Pure.
//!
//! A patch knows files and links, and of modes only whether a file can be executed. Everything else is said in lines that
//! begin with `#`, which git passes over; no line of a guest's can be taken for one of ours, since all of them begin with
//! a sign, and names are quoted.

use super::{Body, Diff, Does, FileDiff, Part};
use crate::Kind;
use crate::change::{Change, Node, What};
use crate::path::quoted_word;

/// Writes the patch.
pub(super) fn write(diff: &Diff) -> String {
    let mut out = Vec::new();
    for file in &diff.files {
        remarks(&file.change, &mut out);
        let modes_only = file.parts.is_empty() && file.change.what == What::ModeChanged;
        if modes_only {
            modes(file, &mut out);
        }
        for part in &file.parts {
            self::part(file, part, &mut out);
        }
    }
    out.extend(
        diff.skipped.iter().map(|skipped| format!("# skipped: {} ({:?})\n", skipped.path, skipped.why)),
    );
    if diff.without_lines > 0 {
        out.push(format!(
            "# {} files are without their lines: there would be too many\n",
            diff.without_lines
        ));
    }
    if let Some(bound) = diff.left_out {
        out.push(format!("# there is more: looking ended at {bound}\n"));
    }
    out.concat()
}

/// What a patch has no words for.
fn remarks(change: &Change, out: &mut Vec<String>) {
    let Change { path, what, before, after, sensitive, findings, host: _ } = change;
    let folder = |node: &Option<Node>| node.as_ref().is_some_and(|node| node.kind == Kind::Folder);
    match (folder(before), folder(after)) {
        (false, true) => out.push(format!("# folder added: {path}\n")),
        (true, false) => out.push(format!("# folder removed: {path}\n")),
        _ => {}
    }
    if before.is_none() && after.is_none() {
        out.push(format!("# removed: {path}\n"));
    }
    if let (Some(before), Some(after)) = (before, after)
        && before.mode != after.mode
        && *what != What::TypeChanged
    {
        out.push(format!("# mode {:04o} -> {:04o}: {path}\n", before.mode, after.mode));
    }
    out.extend(sensitive.iter().map(|why| format!("# look twice ({why:?}): {path}\n")));
    out.extend(findings.iter().map(|finding| format!("# {finding}: {path}\n")));
}

/// The mode that git has for something.
fn git_mode(node: &Node) -> &'static str {
    match node.kind {
        Kind::Link => "120000",
        _ if node.mode & 0o100 != 0 => "100755",
        _ => "100644",
    }
}

fn header(file: &FileDiff) -> String {
    let path = file.change.path.as_bytes();
    format!("diff --git {} {}\n", quoted_word(b"a/", path), quoted_word(b"b/", path))
}

/// A change of the mode alone, where git has a word for it.
fn modes(file: &FileDiff, out: &mut Vec<String>) {
    if let (Some(before), Some(after)) = (&file.change.before, &file.change.after)
        && before.kind == Kind::File
        && git_mode(before) != git_mode(after)
    {
        out.push(header(file));
        out.push(format!("old mode {}\nnew mode {}\n", git_mode(before), git_mode(after)));
    }
}

fn part(file: &FileDiff, part: &Part, out: &mut Vec<String>) {
    let Change { path, before, after, .. } = &file.change;
    let Body::Text { hunks, .. } = &part.body else {
        let size = |node: &Option<Node>| node.as_ref().map_or(0, |node| node.size);
        let why = match part.body {
            Body::Binary => "binary",
            Body::TooLarge => "too large to show",
            Body::Unreadable => "cannot be read on the host",
            Body::StillWritten => "still being written",
            Body::LeftOut | Body::Text { .. } => "left out",
        };
        let (from, to) = match part.does {
            Does::Delete => (size(before), 0),
            Does::Create => (0, size(after)),
            Does::Modify => (size(before), size(after)),
        };
        out.push(format!("# {why}, {from} -> {to} bytes: {path}\n"));
        return;
    };
    out.push(header(file));
    let (mut from, mut to) = (quoted_word(b"a/", path.as_bytes()), quoted_word(b"b/", path.as_bytes()));
    match (part.does, before, after) {
        (Does::Delete, Some(before), _) => {
            out.push(format!("deleted file mode {}\n", git_mode(before)));
            "/dev/null".clone_into(&mut to);
        }
        (Does::Create, _, Some(after)) => {
            out.push(format!("new file mode {}\n", git_mode(after)));
            "/dev/null".clone_into(&mut from);
        }
        (Does::Modify, Some(before), Some(after)) if git_mode(before) != git_mode(after) => {
            out.push(format!("old mode {}\nnew mode {}\n", git_mode(before), git_mode(after)));
        }
        _ => {}
    }
    if !hunks.is_empty() {
        out.push(format!("--- {from}\n+++ {to}\n{hunks}"));
    }
}
