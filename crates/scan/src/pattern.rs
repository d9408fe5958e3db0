//! Patterns over folded text: written once in plain letters, folded as the text is, compiled once.
//!
//! One automaton per rule and view, without backtracking; a search ends when its rule has enough findings. So the work
//! grows with the text and with nothing else.

use regex::{Regex, RegexBuilder};

use crate::finding::Found;
use crate::fold::{View, fold_text, skeleton};
use crate::rule::Rule;

/// The patterns of one rule over one kind of view.
#[derive(Debug)]
pub(crate) struct Pattern {
    rule: Rule,
    automaton: Regex,
}

impl Pattern {
    /// Patterns over words, or over letters alone. A space in them is a space; `_` stands for up to four words that
    /// may stand between.
    pub(crate) fn over_words(rule: Rule, patterns: &[&str]) -> Self {
        let joined: Vec<String> = patterns.iter().map(|pattern| word_pattern(pattern)).collect();
        Self::compile(rule, &format!("(?:^| )(?:{})(?: |$)", joined.join("|")))
    }

    /// Patterns over letters alone.
    pub(crate) fn over_letters(rule: Rule, patterns: &[&str]) -> Self {
        let joined: Vec<String> = patterns.iter().map(|pattern| word_pattern(pattern)).collect();
        Self::compile(rule, &joined.join("|"))
    }

    /// Patterns over text with its punctuation, in small letters.
    pub(crate) fn over_text(rule: Rule, patterns: &[&str]) -> Self {
        // Folded letters are ASCII where it matters, and the edge of a word costs much less there.
        Self::compile(rule, &patterns.join("|").replace(r"\b", r"(?-u:\b)"))
    }

    fn compile(rule: Rule, pattern: &str) -> Self {
        Self { rule, automaton: compiled(pattern) }
    }

    /// Adds what it finds.
    pub(crate) fn look(&self, view: &View, found: &mut Found) {
        for hit in self.automaton.find_iter(&view.text) {
            if !found.add(self.rule, view.original(hit.range())) {
                return;
            }
        }
    }

    /// Whether it finds something at all.
    pub(crate) fn is_in(&self, view: &View) -> bool {
        self.automaton.is_match(&view.text)
    }

    /// The rule it speaks for.
    pub(crate) const fn rule(&self) -> Rule {
        self.rule
    }
}

/// An automaton of a pattern that is written in this crate.
#[expect(clippy::expect_used, reason = "patterns are constants, and the tests compile every one")]
pub(crate) fn compiled(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).size_limit(1 << 26).build().expect("a pattern is valid")
}

/// Folds the letters of a pattern as the text is folded; the signs of the pattern language stay.
fn word_pattern(pattern: &str) -> String {
    fold_text(pattern)
        .chars()
        .map(|c| if c.is_ascii_digit() { c } else { skeleton(c) })
        .collect::<String>()
        .replace('_', "(?:[^ ]+ ){0,4}")
}
