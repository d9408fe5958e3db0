//! The search in the decoded view of a text: what it says once escapes are undone.
//!
//! It must never decide how a text is to be read. It follows the automaton along every reading at once, so a value is
//! found whichever of its characters are escaped, in whichever way, and whatever stands before it. Start at
//! [`Search::read`].
//!
//! A [`Track`] is one reading of the text up to a position: the automaton's state there, and where each byte of the state
//! came from. The literal track reads every byte as it stands; what it finds is found by `lanes` much faster. Others leave it
//! at an escape that `sieve` lets through. Of two that come to the same position in the same state one is kept: from there on both would find the
//! same. A track ends where it agrees with the literal one and no byte of its state was spelled by an escape. In ordinary
//! text that is a few bytes behind the escape. Where no track but the literal one is left, the search is idle, and skips to
//! the next escape that `sieve` lets through.

use std::collections::VecDeque;

use aho_corasick::automaton::StateID;

use crate::matcher::Matcher;
use crate::readings::{Memo, Reading, Readings, is_introducer};
use crate::redactor::Knowledge;
use crate::regions::Regions;

/// The most readings that are followed to one position. Further ones need an author of the text who knows the secrets.
const MOST_TRACKS: usize = 16;
/// The most line breaks without meaning in a row that a track survives; it would grow without end otherwise.
pub(crate) const MOST_EMPTY: u8 = 3;
/// From how many nodes on those that no track needs are dropped.
const NODES: usize = 4096;

/// A position and the state of the literal track there.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) at: usize,
    pub(crate) state: StateID,
}

/// A part of a text: its bytes, the position of the first of them, and whether the text ends with them.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) origin: usize,
    pub(crate) is_whole: bool,
}

/// One reading of the text up to a position.
#[derive(Clone, Copy)]
struct Track {
    state: StateID,
    path: Path,
    /// How many bytes were read as they stand since the last escape.
    since: usize,
    empty: u8,
}

impl Track {
    fn is_literal(&self) -> bool {
        matches!(self.path, Path::Literal)
    }
}

/// Where the bytes that a track has read came from.
#[derive(Clone, Copy)]
enum Path {
    /// Each stood for itself.
    Literal,
    /// Each stood for itself up to here; what was read since is in the nodes.
    Left { at: usize, last: Option<usize> },
}

/// A byte that was read off the literal track.
struct Node {
    /// Where its spelling begins.
    start: usize,
    before: Option<usize>,
}

/// The search in one text. Positions count from the beginning of the text.
#[derive(Default)]
pub(crate) struct Search {
    /// The tracks at `cursor` and the positions behind it; empty while idle.
    slots: VecDeque<Vec<Track>>,
    /// Empty lists for slots to come.
    spare: Vec<Vec<Track>>,
    /// What was read; while idle, all of it.
    cursor: usize,
    nodes: Vec<Node>,
    /// From how many nodes on they are looked through.
    nodes_limit: usize,
    memo: Memo,
}

impl Search {
    /// Reads on, as far as escapes are complete. `known` is the state of the literal track at a position that is not
    /// before anything that was read while idle.
    pub(crate) fn read(&mut self, knowledge: &Knowledge, part: Part<'_>, known: Known, found: &mut Regions) {
        let mut known = known;
        loop {
            if self.slots.is_empty() {
                let from = self.cursor.saturating_sub(part.origin);
                let Some(at) = knowledge.sieve.next(&mut self.memo, part.bytes, from, part.is_whole) else {
                    self.cursor = part.origin + part.bytes.len();
                    return;
                };
                self.start(&knowledge.matcher, part, known, part.origin + at);
            }
            while !self.slots.is_empty() {
                match self.step(knowledge, part, found) {
                    Step::Done => {}
                    Step::Idle(state) => known = Known { at: self.cursor, state },
                    Step::Waits => return,
                }
            }
        }
    }

    /// Where the text begins that may still belong to a match; nothing while idle.
    pub(crate) fn holds_from(&self, matcher: &Matcher) -> Option<usize> {
        let first = self.begun_from(matcher);
        (!self.slots.is_empty()).then(|| first.map_or(self.cursor, |first| first.min(self.cursor)))
    }

    /// Where the first match begins that has begun; an escape that is cut counts only behind the beginning of a match.
    pub(crate) fn begun_from(&self, matcher: &Matcher) -> Option<usize> {
        let tracks =
            self.slots.iter().enumerate().flat_map(|(ahead, slot)| slot.iter().map(move |one| (ahead, one)));
        let begun = tracks.filter_map(|(ahead, track)| match matcher.depth(track.state) {
            0 => None,
            depth => Some(self.beginning(track.path, self.cursor + ahead, depth)),
        });
        begun.min()
    }

    /// How much work it was so far.
    #[cfg(test)]
    pub(crate) fn work(&self) -> usize {
        self.memo.work
    }

    /// What was read so far.
    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Puts the literal track at an escape.
    fn start(&mut self, matcher: &Matcher, part: Part<'_>, known: Known, at: usize) {
        // What precedes by more than the longest pattern does not show in a state.
        let near = at.saturating_sub(matcher.longest());
        let (from, mut state) =
            if near > known.at { (near, matcher.start()) } else { (known.at, known.state) };
        let before = part.bytes.get(from.saturating_sub(part.origin)..at.saturating_sub(part.origin));
        for byte in before.unwrap_or_default() {
            state = matcher.step(state, *byte);
        }
        self.cursor = at;
        self.nodes.clear();
        self.nodes_limit = NODES;
        let mut slot = self.spare.pop().unwrap_or_default();
        slot.push(Track { state, path: Path::Literal, since: 0, empty: 0 });
        self.slots.push_back(slot);
    }

    /// Moves the tracks at the cursor on.
    fn step(&mut self, knowledge: &Knowledge, part: Part<'_>, found: &mut Regions) -> Step {
        let at = self.cursor.saturating_sub(part.origin);
        let Some(byte) = part.bytes.get(at).copied() else {
            return if part.is_whole { self.end() } else { Step::Waits };
        };
        let is_escape = is_introducer(byte);
        let leaves = is_escape && knowledge.sieve.matters(&mut self.memo, part.bytes, at, part.is_whole);
        let is_read = leaves || is_escape && self.slots.front().is_some_and(|slot| slot.len() > 1);
        let ways = if is_read {
            match self.memo.read(part.bytes, at, part.is_whole) {
                Some((ways, _)) => ways,
                None => return Step::Waits,
            }
        } else {
            Readings::literal(byte)
        };
        let tracks = self.slots.pop_front().unwrap_or_default();
        for track in &tracks {
            for (index, way) in ways.iter().enumerate() {
                let may_follow = (leaves || !track.is_literal()) && knowledge.sieve.knows(way.bytes());
                if index == 0 || may_follow {
                    self.follow(&knowledge.matcher, part.origin, *track, (index == 0, *way), found);
                }
            }
        }
        self.spare.push(emptied(tracks));
        self.cursor += 1;
        self.prune(&knowledge.matcher);
        if self.nodes.len() > self.nodes_limit {
            self.drop_nodes(&knowledge.matcher);
        }
        match (self.slots.len(), self.slots.front().map(Vec::as_slice)) {
            (1, Some([Track { state, path: Path::Literal, .. }])) => {
                let state = *state;
                self.spare.extend(self.slots.pop_front().map(emptied));
                Step::Idle(state)
            }
            _ => Step::Done,
        }
    }

    /// The text is over.
    fn end(&mut self) -> Step {
        let literal = self.slots.iter().flatten().find(|track| track.is_literal());
        let state = literal.map(|track| track.state);
        self.slots.clear();
        state.map_or(Step::Done, Step::Idle)
    }

    /// Moves one track on by one reading of what stands at the cursor.
    fn follow(
        &mut self,
        matcher: &Matcher,
        origin: usize,
        track: Track,
        (is_literal, way): (bool, Reading),
        found: &mut Regions,
    ) {
        self.memo.count();
        // The literal track follows the same reading if a match can begin with it.
        if let [byte] = way.bytes()
            && !track.is_literal()
            && matcher.step(track.state, *byte) == matcher.step(matcher.start(), *byte)
        {
            return;
        }
        let mut next = track;
        if way.bytes().is_empty() {
            next.empty += 1;
            if next.empty > MOST_EMPTY {
                return;
            }
        } else {
            next.empty = 0;
        }
        next.since = if is_literal { track.since.saturating_add(1) } else { 0 };
        if !is_literal && track.is_literal() {
            next.path = Path::Left { at: self.cursor, last: None };
        }
        let end = self.cursor + way.length();
        for byte in way.bytes() {
            next.state = matcher.step(next.state, *byte);
            if let Path::Left { last, .. } = &mut next.path {
                self.nodes.push(Node { start: self.cursor, before: *last });
                *last = Some(self.nodes.len() - 1);
                if let Some(length) = matcher.ended(next.state) {
                    let start = self.beginning(next.path, end, length);
                    found.add(start.saturating_sub(origin)..end.saturating_sub(origin));
                }
            }
        }
        self.arrive(matcher, way.length(), next);
    }

    /// Adds a track to those at the position `ahead` of the cursor, which is not counted itself.
    fn arrive(&mut self, matcher: &Matcher, ahead: usize, track: Track) {
        // The literal track begins every match that one at the first state could.
        if !track.is_literal() && track.state == matcher.start() {
            return;
        }
        let index = ahead.saturating_sub(1);
        while self.slots.len() <= index {
            self.slots.push_back(self.spare.pop().unwrap_or_default());
        }
        let Some(slot) = self.slots.get_mut(index) else { return };
        let is_same = |other: &Track| other.state == track.state && other.is_literal() == track.is_literal();
        // The one that came first has the longer spelling, so more is masked by it.
        if slot.iter().any(is_same) {
            return;
        }
        if slot.len() < MOST_TRACKS {
            slot.push(track);
            return;
        }
        let others = slot.iter_mut().filter(|other| !other.is_literal());
        if let Some(shallowest) = others.min_by_key(|other| matcher.depth(other.state))
            && (track.is_literal() || matcher.depth(track.state) > matcher.depth(shallowest.state))
        {
            *shallowest = track;
        }
    }

    /// Ends the tracks at the cursor that can find nothing but what the literal one finds.
    fn prune(&mut self, matcher: &Matcher) {
        let Some(slot) = self.slots.front_mut().filter(|slot| slot.len() > 1) else { return };
        let Some(literal) = slot.iter().find(|track| track.is_literal()).map(|track| track.state) else {
            return;
        };
        slot.retain(|track| {
            track.is_literal()
                || track.state != literal
                || track.since == 0
                || track.since < matcher.depth(track.state)
        });
    }

    /// Where the last `back` bytes of a track that ends at `end` begin.
    fn beginning(&self, path: Path, end: usize, back: usize) -> usize {
        let (at, last) = match path {
            Path::Literal => (end, None),
            Path::Left { at, last } => (at, last),
        };
        let (mut left, mut node) = (back, last);
        while let Some(read) = node.and_then(|node| self.nodes.get(node)) {
            left -= 1;
            if left == 0 {
                return read.start;
            }
            node = read.before;
        }
        at.saturating_sub(left)
    }

    /// Keeps of the nodes those that may be the beginning of a match.
    fn drop_nodes(&mut self, matcher: &Matcher) {
        let old = std::mem::take(&mut self.nodes);
        for track in self.slots.iter_mut().flatten() {
            let Path::Left { last, .. } = &mut track.path else { continue };
            let (mut node, mut starts) = (*last, Vec::new());
            for _ in 0..matcher.depth(track.state) {
                let Some(read) = node.and_then(|node| old.get(node)) else { break };
                starts.push(read.start);
                node = read.before;
            }
            *last = None;
            for start in starts.into_iter().rev() {
                self.nodes.push(Node { start, before: *last });
                *last = Some(self.nodes.len() - 1);
            }
        }
        self.nodes_limit = NODES.max(2 * self.nodes.len());
    }
}

fn emptied(mut tracks: Vec<Track>) -> Vec<Track> {
    tracks.clear();
    tracks
}

/// What became of a step.
enum Step {
    Done,
    /// Only the literal track is left, in this state.
    Idle(StateID),
    /// The next escape is not complete.
    Waits,
}
