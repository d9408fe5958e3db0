//! `long-file`: a file holds one idea, and fits in the head.

use std::collections::BTreeSet;

use crate::tidy::finding::Remark;
use crate::tidy::source::Source;

/// The most lines a file may have, tests not counted.
const LIMIT: usize = 600;

pub(super) fn look(source: &Source) -> Vec<Remark> {
    if source.is_test_file() || source.lines <= LIMIT {
        return Vec::new();
    }
    let tokens = &source.tokens;
    let in_tests: BTreeSet<usize> = source
        .test_items
        .iter()
        .flat_map(|item| tokens.line(item.start)..=tokens.line(item.end.saturating_sub(1)))
        .collect();
    let mut counted = (1..=source.lines).filter(|line| !in_tests.contains(line));
    let Some(first_too_many) = counted.nth(LIMIT) else { return Vec::new() };
    let count = LIMIT + 1 + counted.count();
    let wrong = format!("{count} lines without tests, more than {LIMIT}");
    vec![Remark::new(first_too_many, wrong, "split it where a second idea starts")]
}
