//! What stands in the place of a secret.
//!
//! The mask must never help to spell a secret. Text that is left clear holds no pattern, so a pattern in
//! the output would have to overlap a mask, and there are four ways to overlap: the pattern contains
//! the mask, lies in it, ends with its beginning, or begins with its end. (`ab***` is a secret, the
//! text is `ab` and then another secret: masking the other one with `***` would print the first.) A mask
//! that does none of the four with any pattern makes "the output holds no pattern" true without
//! exception. Start at [`choose`].

use std::collections::BTreeSet;

use crate::disguise::Pattern;

/// In order of preference. None has a meaning in JSON, HTML or a URL's structure that a mask could break.
const USUAL: [&str; 5] = ["***", "###", "___", "~~~", "•••"];

/// How often the character of last resort is repeated.
const REPEATS: usize = 3;

/// The first mask that can form no pattern; `None` if the patterns hold every character there is.
pub(crate) fn choose(patterns: &[Pattern]) -> Option<String> {
    let usual = USUAL.into_iter().find(|mask| !patterns.iter().any(|pattern| clash(mask, pattern)));
    usual.map(str::to_owned).or_else(|| last_resort(patterns))
}

/// A character that is in no pattern, repeated: it can overlap none, whatever surrounds it.
fn last_resort(patterns: &[Pattern]) -> Option<String> {
    let taken: BTreeSet<char> = patterns.iter().flat_map(|pattern| pattern.chars()).collect();
    // Block elements and geometric shapes look like a mask. After them whatever is left, even if it is
    // invisible: it still separates.
    let shapes = '\u{2580}'..='\u{25ff}';
    let others = '\u{a1}'..=char::MAX;
    shapes.chain(others).find(|char| !taken.contains(char)).map(|char| char.to_string().repeat(REPEATS))
}

/// Whether an occurrence of `pattern` could overlap one of `mask` in some text.
fn clash(mask: &str, pattern: &str) -> bool {
    pattern.contains(mask)
        || mask.contains(pattern)
        || mask.char_indices().any(|(at, char)| {
            let beginning = mask.get(..at + char.len_utf8()).unwrap_or(mask);
            let end = mask.get(at..).unwrap_or(mask);
            pattern.ends_with(beginning) || pattern.starts_with(end)
        })
}

#[cfg(test)]
mod tests;
