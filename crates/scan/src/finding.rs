//! What was found, where it stands, and the one place where findings are put in order and bounded.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::rule::{Rule, Severity};

/// The most findings of one rule.
pub const MAX_PER_RULE: usize = 16;

/// The most findings of one text; behind them stands [`Rule::MoreFindings`] when there were more.
pub const MAX_FINDINGS: usize = 64;

/// The most bytes of a text that a finding repeats.
pub const MAX_MATCHED: usize = 200;

/// One thing found in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What was looked for.
    pub rule: Rule,
    /// How much it weighs.
    pub severity: Severity,
    /// The text that tripped the rule as it stands, at most [`MAX_MATCHED`] bytes of it. It is a stranger's: show it
    /// with control characters made visible.
    pub matched: String,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
}

/// Whether one of the findings is blocking.
pub fn blocks(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Blocking)
}

/// Findings as they are made: a rule and a range of the text.
#[derive(Debug, Default)]
pub(crate) struct Found {
    hits: Vec<(Rule, Range<usize>)>,
    cut: Option<usize>,
}

impl Found {
    /// Takes a hit, unless it lies in another of its rule; `false` when the rule has enough of them.
    pub(crate) fn add(&mut self, rule: Rule, range: Range<usize>) -> bool {
        let mut of_rule = 0;
        for (known, at) in &mut self.hits {
            if *known != rule {
                continue;
            }
            of_rule += 1;
            if at.start < range.end && range.start < at.end {
                *at = at.start.min(range.start)..at.end.max(range.end);
                return true;
            }
        }
        if of_rule == MAX_PER_RULE {
            self.cut = Some(self.cut.map_or(range.start, |cut| cut.min(range.start)));
            return false;
        }
        self.hits.push((rule, range));
        true
    }

    /// The findings in the order of the text.
    pub(crate) fn finish(mut self, text: &str) -> Vec<Finding> {
        self.hits.sort_by_key(|(rule, range)| (range.start, *rule));
        if let Some((_, first_dropped)) = self.hits.get(MAX_FINDINGS) {
            let start = first_dropped.start;
            self.cut = Some(self.cut.map_or(start, |cut| cut.min(start)));
            // What blocks is never what is dropped.
            self.hits.sort_by_key(|(rule, range)| (rule.severity(), range.start, *rule));
            self.hits.truncate(MAX_FINDINGS);
            self.hits.sort_by_key(|(rule, range)| (range.start, *rule));
        }
        if let Some(cut) = self.cut {
            self.hits.push((Rule::MoreFindings, cut..cut));
        }
        let mut place = Place { offset: 0, line: 1, column: 1 };
        let mut findings = Vec::with_capacity(self.hits.len());
        for (rule, range) in self.hits {
            if range.start < place.offset {
                place = Place { offset: 0, line: 1, column: 1 };
            }
            place.advance(text, range.start);
            let whole = text.get(range).unwrap_or_default();
            findings.push(Finding {
                rule,
                severity: rule.severity(),
                matched: whole.get(..whole.floor_char_boundary(MAX_MATCHED)).unwrap_or_default().to_owned(),
                offset: place.offset,
                line: place.line,
                column: place.column,
            });
        }
        findings
    }
}

/// A place that walks through a text, so that all places together cost one pass.
struct Place {
    offset: usize,
    line: usize,
    column: usize,
}

impl Place {
    fn advance(&mut self, text: &str, to: usize) {
        for c in text.get(self.offset..to).unwrap_or_default().chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.offset = to;
    }
}
