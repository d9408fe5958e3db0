//! Following an automaton through a text in several places at once.
//!
//! It must never find less than following it from the beginning would. Start at [`follow`].
//!
//! To follow an automaton is to wait: each step is a load whose address the step before gives, five cycles
//! in the best case, while the rest of the processor idles. Stretches of the text that are read in lockstep
//! do not wait for each other, so four of them take little longer than one.
//!
//! A stretch in the middle is read as if nothing preceded it and so misses exactly the matches that began
//! earlier. These are made up for at each seam: the true state is carried over it and followed next to
//! the one that knows nothing, until both agree, which is as soon as what began before the seam has come
//! to nothing. In ordinary text that is a few bytes.

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};

use crate::regions::Regions;

const LANES: usize = 4;

/// The shortest stretch for which it is worth it.
const STRETCH_FROM: usize = 64;

/// Reads `text`, which begins at `offset`, from `state` on; adds the matches to `regions` and returns the
/// state behind the text. `start` is the state before any text.
pub(crate) fn follow(
    automaton: &impl Automaton,
    start: StateID,
    state: StateID,
    text: &[u8],
    offset: usize,
    regions: &mut Regions,
) -> StateID {
    let length = (text.len() / LANES).max(STRETCH_FROM);
    let mut stretches = text.chunks_exact(length);
    let (Some(a), Some(b), Some(c), Some(d)) =
        (stretches.next(), stretches.next(), stretches.next(), stretches.next())
    else {
        return follow_one(automaton, state, text, offset, regions);
    };

    let mut states = [state, start, start, start];
    let mut found: [Regions; LANES] = Default::default();
    let steps = a.iter().zip(b).zip(c).zip(d).map(|(((a, b), c), d)| [*a, *b, *c, *d]);
    for (at, bytes) in steps.enumerate() {
        for (lane, ((state, found), byte)) in states.iter_mut().zip(&mut found).zip(bytes).enumerate() {
            *state = automaton.next_state(Anchored::No, *state, byte);
            if automaton.is_special(*state) {
                note(automaton, *state, offset + lane * length + at + 1, found);
            }
        }
    }

    let [behind_a, behind_b, behind_c, behind_d] = states;
    let [in_a, in_b, in_c, in_d] = found;
    regions.append(in_a);
    let mut carried = behind_a;
    let blind = [(b, behind_b, in_b), (c, behind_c, in_c), (d, behind_d, in_d)];
    for (before, (stretch, behind, found)) in blind.into_iter().enumerate() {
        let seam = offset + (before + 1) * length;
        carried = match mend(automaton, start, carried, stretch, seam, regions) {
            Seam::Closed => behind,
            Seam::Open(state) => state,
        };
        regions.append(found);
    }
    follow_one(automaton, carried, stretches.remainder(), offset + LANES * length, regions)
}

/// How the true state fared in a stretch.
enum Seam {
    /// It came to agree with the one that knows nothing of what was before.
    Closed,
    /// It did not: something that began before the stretch may go on behind it. This is the true state.
    Open(StateID),
}

/// Adds the matches that end in `stretch` and began before it.
fn mend(
    automaton: &impl Automaton,
    start: StateID,
    mut carried: StateID,
    stretch: &[u8],
    seam: usize,
    regions: &mut Regions,
) -> Seam {
    let mut blind = start;
    for (at, byte) in stretch.iter().enumerate() {
        if carried == blind {
            return Seam::Closed;
        }
        carried = automaton.next_state(Anchored::No, carried, *byte);
        blind = automaton.next_state(Anchored::No, blind, *byte);
        let end = seam + at + 1;
        if let Some(length) = longest(automaton, carried)
            && end.saturating_sub(length) < seam
        {
            regions.add(end.saturating_sub(length)..end);
        }
    }
    Seam::Open(carried)
}

/// The same in one place at a time.
pub(crate) fn follow_one(
    automaton: &impl Automaton,
    mut state: StateID,
    text: &[u8],
    offset: usize,
    regions: &mut Regions,
) -> StateID {
    for (at, byte) in text.iter().enumerate() {
        state = automaton.next_state(Anchored::No, state, *byte);
        if automaton.is_special(state) {
            note(automaton, state, offset + at + 1, regions);
        }
    }
    state
}

/// Out of the way of the loops, where it would cost registers.
#[cold]
#[inline(never)]
fn note(automaton: &impl Automaton, state: StateID, end: usize, regions: &mut Regions) {
    if let Some(length) = longest(automaton, state) {
        regions.add(end.saturating_sub(length)..end);
    }
}

/// The length of the longest match that ends here; all others that end here lie within it. A caller cuts one
/// that began before position 0.
pub(crate) fn longest(automaton: &impl Automaton, state: StateID) -> Option<usize> {
    if !automaton.is_special(state) || !automaton.is_match(state) {
        return None;
    }
    (0..automaton.match_len(state))
        .map(|index| automaton.pattern_len(automaton.match_pattern(state, index)))
        .max()
}
