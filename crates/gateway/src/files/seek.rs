//! Looking for names and for text: in time linear to what is looked through, and not through everything.

use std::ops::ControlFlow;
use std::os::fd::AsFd as _;

use bailiwick_sys::Errno;
use bailiwick_sys::beneath::{self, Kind, Links};
use bailiwick_types::{FileAnswer, Matching};
use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::Stop;
use super::answer::Bounded;
use super::place::{self, Spot, join};
use super::read::{MOST_ENTRIES, kind_word};
use super::reason::{Fault, FileReason};
use super::walk::{Entry, Walk};

/// The most matches of an answer.
pub(super) const MOST_MATCHES: usize = 1_000;
/// The most entries that are looked at for one answer.
const MOST_VISITED: usize = 100_000;
/// The most bytes that one search reads.
const MOST_SEARCHED: u64 = 256 << 20;
/// The longest line that is matched: what a pattern costs on it bounds how late the call's end is noticed.
const LONGEST_MATCHED: usize = 64 << 10;
/// How much of a line is shown.
const LONGEST_SHOWN: usize = 1_000;
const LONGEST_PATTERN: usize = 4096;
const LARGEST_PROGRAM: usize = 128 << 10;

/// A pattern, with the limits that make it cheap.
fn pattern(text: &str, how: Matching) -> Result<Regex, Fault> {
    if text.len() > LONGEST_PATTERN {
        return Err(FileReason::BadPattern.into());
    }
    RegexBuilder::new(text)
        .case_insensitive(how.ignore_case)
        .size_limit(LARGEST_PROGRAM)
        .dfa_size_limit(4 * LARGEST_PROGRAM)
        .nest_limit(64)
        .build()
        .map_err(|_| FileReason::BadPattern.into())
}

/// A glob over a path; without a slash it is matched on the name.
struct Glob {
    matcher: GlobMatcher,
    on_path: bool,
}

impl Glob {
    fn new(text: &str) -> Result<Self, Fault> {
        if text.len() > LONGEST_PATTERN / 4 {
            return Err(FileReason::BadPattern.into());
        }
        let glob = GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
        let matcher = glob.map_err(|_| FileReason::BadPattern)?.compile_matcher();
        Ok(Self { matcher, on_path: text.contains('/') })
    }

    fn matches(&self, below: &str) -> bool {
        let name = below.rsplit('/').next().unwrap_or(below);
        self.matcher.is_match(if self.on_path { below } else { name })
    }
}

/// How many matches are wanted.
fn wanted(how: Matching) -> usize {
    how.limit
        .and_then(|limit| usize::try_from(limit).ok())
        .map_or(MOST_MATCHES, |limit| limit.min(MOST_MATCHES))
}

/// The lines of a text that match.
pub(super) fn grep(text: &str, by: &str, how: Matching, stop: &Stop) -> Result<FileAnswer, Fault> {
    let regex = pattern(by, how)?;
    let mut matches = Bounded::new(wanted(how));
    scan(text, &regex, how, stop, &mut matches, None)?;
    Ok(matches.finish("matches", &[]))
}

/// Adds the lines of a text that match, with the path of the file where there are several.
fn scan(
    text: &str,
    regex: &Regex,
    how: Matching,
    stop: &Stop,
    matches: &mut Bounded,
    path: Option<&str>,
) -> Result<(), Fault> {
    let mut unmatched = false;
    for (number, line) in (1_u64..).zip(text.lines()) {
        stop.check()?;
        if line.len() > LONGEST_MATCHED {
            // A part of it would end where the line does not, and `$` would lie.
            unmatched = true;
            continue;
        }
        let found = regex.find(line);
        let before = match (&found, how.invert) {
            (Some(found), false) => line.get(..found.start()).unwrap_or(""),
            (None, true) => "",
            (Some(_), true) | (None, false) => continue,
        };
        // Columns are counted as the guest's own strings count.
        let column = before.encode_utf16().count() + 1;
        let shown: String = line.chars().take(LONGEST_SHOWN).collect();
        let mut item = json!({"line": number, "column": column, "text": shown});
        if let (Some(path), Value::Object(fields)) = (path, &mut item) {
            fields.shift_insert(0, "path".to_owned(), path.into());
        }
        if !matches.push(&item) {
            return Ok(());
        }
    }
    if unmatched {
        matches.truncate();
    }
    Ok(())
}

/// Paths below a folder whose name or path matches.
pub(super) fn find(spot: &Spot, glob: &str, kind: Option<&str>, stop: &Stop) -> Result<FileAnswer, Fault> {
    if kind.is_some_and(|kind| !matches!(kind, "file" | "dir" | "link" | "other")) {
        return Err(FileReason::BadArgument.into());
    }
    let glob = Glob::new(glob)?;
    let folder = spot.folder()?;
    let mut paths = Bounded::new(MOST_ENTRIES);
    let mut walk = Walk { recursive: true, budget: MOST_VISITED, cut: false, stop };
    walk.through(folder.as_fd(), spot.depth(), &mut |entry| {
        let fits = kind.is_none_or(|kind| kind == kind_word(entry.status.kind)) && glob.matches(entry.below);
        let room = !fits || paths.push(&join(spot.shown(), entry.below).into());
        Ok(if room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    if walk.cut {
        paths.truncate();
    }
    Ok(paths.finish("paths", &[]))
}

/// Lines that match, in all files below a folder. Files that cannot be searched (too large, no UTF-8, no regular file,
/// other names) are counted as skipped.
pub(super) fn search(
    spot: &Spot,
    by: &str,
    glob: Option<&str>,
    how: Matching,
    stop: &Stop,
) -> Result<FileAnswer, Fault> {
    let regex = pattern(by, how)?;
    let glob = glob.map(Glob::new).transpose()?;
    let folder = spot.folder()?;
    let mut matches = Bounded::new(wanted(how));
    let (mut left, mut skipped) = (MOST_SEARCHED, 0_u64);
    let mut walk = Walk { recursive: true, budget: MOST_VISITED, cut: false, stop };
    walk.through(folder.as_fd(), spot.depth(), &mut |entry| {
        let asked_for = glob.as_ref().is_none_or(|glob| glob.matches(entry.below));
        if entry.status.kind == Kind::Folder || !asked_for {
            return Ok(ControlFlow::Continue(()));
        }
        let Some(text) = text_of(spot, entry, stop)? else {
            skipped += 1;
            return Ok(ControlFlow::Continue(()));
        };
        let Some(rest) = u64::try_from(text.len()).ok().and_then(|length| left.checked_sub(length)) else {
            matches.truncate();
            return Ok(ControlFlow::Break(()));
        };
        left = rest;
        let path = join(spot.shown(), entry.below);
        scan(&text, &regex, how, stop, &mut matches, Some(&path))?;
        Ok(if matches.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    if walk.cut {
        matches.truncate();
    }
    Ok(matches.finish("matches", &[("skipped", skipped)]))
}

/// The text of a file on the way, if it is one that is searched.
fn text_of(spot: &Spot, entry: &Entry<'_>, stop: &Stop) -> Result<Option<String>, Fault> {
    if entry.status.kind != Kind::File || entry.status.size > place::MOST_BYTES {
        return Ok(None);
    }
    let opened = beneath::look(entry.folder, entry.name, Links::Never).and_then(beneath::read_again);
    let (file, status) = match opened {
        // It went, or became something else, or is not ours to read.
        Err(Errno::NOENT | Errno::LOOP | Errno::OPNOTSUPP | Errno::XDEV | Errno::ACCESS) => return Ok(None),
        opened => opened?,
    };
    if !spot.admits(&status) {
        return Ok(None);
    }
    match place::read_whole(file, &status, stop) {
        Err(Fault { reason: FileReason::TooLarge, .. }) => Ok(None),
        Err(fault) => Err(fault),
        Ok(content) => Ok(String::from_utf8(content).ok()),
    }
}
