//! The automaton that finds every pattern in one pass.
//!
//! It must never report less than all matches: what it misses is printed. So it follows the automaton
//! byte by byte (`lanes`) instead of using a search that reports one match and jumps behind it. Start at
//! [`Matcher::scan`].

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind, StartKind};

use crate::disguise::Pattern;
use crate::lanes;
use crate::redactor::RedactorError;
use crate::regions::Regions;

/// The largest table worth its speed. A hundred tokens need about 25 MB; a few private keys with all
/// their lines and disguises would need hundreds, so beyond this the compact automaton takes over, at
/// about a fifth of the speed and a fraction of the memory.
pub(crate) const TABLE_LIMIT: usize = 64 << 20;

/// All patterns of a set together, in bytes; about half a megabyte of secrets. Refusing is better than
/// taking the machine's memory for an automaton nobody meant to build.
const PATTERNS_LIMIT: usize = 8 << 20;

/// Finds all patterns of one set.
pub(crate) struct Matcher {
    engine: Engine,
    start: StateID,
    depths: Depths,
}

/// How many bytes lead from the start to each other state, sorted by state.
type Depths = Box<[(StateID, usize)]>;

enum Engine {
    Table(DFA),
    Compact(NFA),
}

impl Matcher {
    pub(crate) fn new(patterns: &[Pattern], table_limit: usize) -> Result<Self, RedactorError> {
        let bytes = patterns.iter().map(|pattern| pattern.len()).sum::<usize>();
        if bytes > PATTERNS_LIMIT {
            return Err(RedactorError::SumPatterns { bytes, limit: PATTERNS_LIMIT });
        }
        let texts = patterns.iter().map(|pattern| pattern.as_bytes());
        let engine = if table_size(patterns) <= table_limit {
            DFA::builder()
                .match_kind(MatchKind::Standard)
                .start_kind(StartKind::Unanchored)
                .prefilter(false)
                .build(texts)
                .map(Engine::Table)
        } else {
            NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(texts).map(Engine::Compact)
        }
        .map_err(RedactorError::BuildAutomaton)?;
        let (start, depths) = match &engine {
            Engine::Table(dfa) => survey(dfa, patterns),
            Engine::Compact(nfa) => survey(nfa, patterns),
        }?;
        Ok(Self { engine, start, depths })
    }

    /// The state before any text.
    pub(crate) fn start(&self) -> StateID {
        self.start
    }

    /// How many of the bytes last read may be the beginning of a match still to come.
    pub(crate) fn depth(&self, state: StateID) -> usize {
        if state == self.start {
            return 0;
        }
        let found = self.depths.binary_search_by_key(&state, |(state, _)| *state).ok();
        // All states are listed. Were one not, holding too much would be the safe mistake.
        found.and_then(|at| self.depths.get(at)).map_or_else(|| self.longest(), |(_, depth)| *depth)
    }

    /// The length of the longest pattern; no state is deeper.
    pub(crate) fn longest(&self) -> usize {
        match &self.engine {
            Engine::Table(dfa) => dfa.max_pattern_len(),
            Engine::Compact(nfa) => nfa.max_pattern_len(),
        }
    }

    /// The state behind one more byte.
    pub(crate) fn step(&self, state: StateID, byte: u8) -> StateID {
        match &self.engine {
            Engine::Table(dfa) => dfa.next_state(Anchored::No, state, byte),
            Engine::Compact(nfa) => nfa.next_state(Anchored::No, state, byte),
        }
    }

    /// The length of the longest pattern that ends in this state.
    pub(crate) fn ended(&self, state: StateID) -> Option<usize> {
        match &self.engine {
            Engine::Table(dfa) => lanes::longest(dfa, state),
            Engine::Compact(nfa) => lanes::longest(nfa, state),
        }
    }

    /// How many states there are behind the first.
    pub(crate) fn states(&self) -> usize {
        self.depths.len()
    }

    /// Reads `text`, which begins at `offset`, from `state` on; adds what it finds to `regions` and
    /// returns the state behind it. A match that began before position 0 is cut there.
    pub(crate) fn scan(&self, state: StateID, text: &[u8], offset: usize, regions: &mut Regions) -> StateID {
        match &self.engine {
            Engine::Table(dfa) => lanes::follow(dfa, self.start, state, text, offset, regions),
            // Its steps branch, and branches of several places at once are guessed worse.
            Engine::Compact(nfa) => lanes::follow_one(nfa, state, text, offset, regions),
        }
    }
}

/// An upper bound of the bytes a DFA takes: a row per state, a column per class of bytes.
fn table_size(patterns: &[Pattern]) -> usize {
    let mut occurs = [false; 256];
    for byte in patterns.iter().flat_map(|pattern| pattern.bytes()) {
        if let Some(occurs) = occurs.get_mut(usize::from(byte)) {
            *occurs = true;
        }
    }
    // Patterns are sorted, so what one shares with any before it, it shares with the last.
    let (mut states, mut before) = (2_usize, "");
    for pattern in patterns {
        let shared = before.bytes().zip(pattern.bytes()).take_while(|(one, other)| one == other).count();
        states = states.saturating_add(pattern.len() - shared);
        before = pattern;
    }
    // Each byte that occurs is a class, each gap between them is one, and rows are padded.
    let classes = occurs.chunk_by(|a, b| !a && !b).count();
    states.saturating_mul(classes.next_power_of_two()).saturating_mul(size_of::<StateID>())
}

/// The start state, and the depth of every other. The crate does not tell depths, but the state that a
/// prefix of a pattern leads to is that prefix: no longer text can be its name, and no other state has it.
fn survey(automaton: &impl Automaton, patterns: &[Pattern]) -> Result<(StateID, Depths), RedactorError> {
    let start = automaton.start_state(Anchored::No).map_err(RedactorError::StartAutomaton)?;
    let mut depths = Vec::with_capacity(patterns.iter().map(|pattern| pattern.len()).sum());
    for pattern in patterns {
        let mut state = start;
        for (before, byte) in pattern.bytes().enumerate() {
            state = automaton.next_state(Anchored::No, state, byte);
            depths.push((state, before + 1));
        }
    }
    depths.sort_unstable();
    depths.dedup();
    Ok((start, depths.into_boxed_slice()))
}
