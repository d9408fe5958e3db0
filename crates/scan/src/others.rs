//! Names of other servers and their tools, and whether a text orders something about them.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use crate::context::Context;
use crate::finding::Found;
use crate::fold::{View, fold_text};
use crate::pattern::compiled;
use crate::rule::Rule;

/// How much of the text before a name is read for an order, in bytes.
const BEFORE: usize = 80;

/// How much behind it.
const BEHIND: usize = 60;

/// An order that ends at the name.
static ORDER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?:^|\W)(?:call|use|invoke|run|execute|trigger|instead of|rather than|in place of|replaces?|supersedes?|prefer|prefer this (?:tool )?(?:over|to)|before (?:using|calling|running|invoking)|after (?:using|calling|running|invoking)|when(?:ever)? (?:using|calling|you use|you call|you run)|(?:do not|don.?t|never|must not|stop) (?:use|using|call|calling|trust|trusting)|arguments? (?:of|to|for)|parameters? (?:of|to|for)|pass(?: it| this| them)? to)(?: (?:the|this|that|any|its|server.?s|old|original|other|official|broken|deprecated|following|also|first|then|tool|function|called|named))*\W{0,4}$";
    compiled(pattern)
});

/// An order that begins behind it.
static FATE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^\W{0,4}(?:(?:tool|function|server)\W{0,3})?(?:is|are|must|should|shall|will|has|have|needs?|may|can)(?: (?:always|only|first|also|now|been|to|not|never|no longer|be))* ?(?:deprecated|broken|unsafe|insecure|obsolete|disabled|compromised|called|used|invoked|run|avoided|replaced|trusted|bcc|sent|given|passed|include|send|use)";
    compiled(pattern)
});

/// Looks for the names in a text that was folded.
pub(crate) fn look(view: &View, context: &Context<'_>, found: &mut Found) {
    each(view, context.other_tools, |name, range| {
        let quoted = is_quoted(&view.text, &range);
        if is_word(name) && !quoted {
            return true;
        }
        let rule = if is_ordered(&view.text, &range) { Rule::DirectsOtherTool } else { Rule::NamesOtherTool };
        found.add(rule, view.original(range))
    });
    each(view, context.other_servers, |_, range| found.add(Rule::NamesOtherServer, view.original(range)));
}

/// Visits the names that stand by themselves in a text, until one says that it is enough.
fn each(view: &View, names: &[&str], mut visit: impl FnMut(&str, Range<usize>) -> bool) {
    let folded: Vec<String> =
        names.iter().map(|name| fold_text(name)).filter(|name| name.len() > 1).collect();
    if folded.is_empty() {
        return;
    }
    let automaton = searcher(&folded);
    for hit in automaton.find_iter(&view.text) {
        let before = view.text.get(..hit.start()).unwrap_or_default().chars().next_back();
        let behind = view.text.get(hit.end()..).unwrap_or_default().chars().next();
        let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if joined(before) || joined(behind) {
            continue;
        }
        let name = folded.get(hit.pattern().as_usize()).map_or("", String::as_str);
        if !visit(name, hit.range()) {
            return;
        }
    }
}

#[expect(clippy::expect_used, reason = "fails on gigabytes of names only, which nobody could hand over")]
fn searcher(names: &[String]) -> AhoCorasick {
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(names).expect("names fit")
}

/// A name that is also a word of the language, and counts only where it is marked as a name.
fn is_word(name: &str) -> bool {
    name.chars().all(char::is_alphabetic)
}

fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).unwrap_or_default();
    let behind = text.get(range.end..).unwrap_or_default();
    let sign = ['`', '"', '\'', '“', '‘', '*', '«', '/', ':', '.'];
    (before.ends_with(sign) && behind.starts_with(['`', '"', '\'', '”', '’', '*', '»', '(']))
        || behind.starts_with("()")
        || [" tool", " function", "_tool"].iter().any(|word| behind.starts_with(word))
}

fn is_ordered(text: &str, range: &Range<usize>) -> bool {
    let from = text.ceil_char_boundary(range.start.saturating_sub(BEFORE));
    let to = text.floor_char_boundary((range.end + BEHIND).min(text.len()));
    let before = text.get(from..range.start).unwrap_or_default();
    let behind = text.get(range.end..to).unwrap_or_default();
    ORDER.is_match(before) || FATE.is_match(behind)
}
