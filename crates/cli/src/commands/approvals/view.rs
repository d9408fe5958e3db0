//! What the live view shows and what a key does to it, without a terminal and without a clock of its own.
//!
//! A key answers only the question that has stood there for a while: one that slides in under a finger cannot be caught.
//! A yes needs more: every line of the question was on the screen. A question of which a part is left out here cannot
//! get a yes here.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use bailiwick_core::{Remember, RememberedFor, Waiting};
use bailiwick_types::ApprovalId;

use super::keys::Key;
use crate::render::approval::Extent;
use crate::render::stage::{Line, wrapped};
use crate::render::{Span, approval, bad, faint, good, level, plain, strong, warning};

/// How long a question stands there before a key answers it.
pub(super) const SETTLED: Duration = Duration::from_millis(500);
/// Rows of the list that are shown.
const LISTED: usize = 6;
/// Columns of the labels, and the fewest beside them.
const INDENT: usize = 12;
const FEWEST: usize = 8;
/// How much of one long line has to be seen at least.
const MOST_VITAL: usize = 3;
/// The minutes that are proposed.
const MINUTES: &str = "10";

/// What a key leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Do {
    Nothing,
    Answer { id: ApprovalId, yes: bool, remember: Option<Remember> },
    Quit,
}

/// A question with when it was told of.
struct Listed {
    waiting: Waiting,
    until: Instant,
}

/// What a person is typing.
struct Typing {
    id: ApprovalId,
    what: RememberedFor,
    minutes: String,
    /// Whether the minutes are still those that are proposed.
    is_proposed: bool,
}

/// What the lines of a question depend on. They are made once: a long question takes a while.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Of {
    id: ApprovalId,
    columns: usize,
    /// When the last yes was said that it is compared with.
    last: Option<String>,
}

/// The question that is selected, as lines, and what of it was on the screen.
struct Seen {
    of: Of,
    lines: Vec<Line>,
    /// The line of what is left.
    left: usize,
    /// Whether the lines are all of the question.
    is_whole: bool,
    /// The vital lines that were not on the screen yet: nothing is answered without them.
    missing: BTreeSet<usize>,
    /// Since when none is missing.
    since: Option<Instant>,
    /// All lines that were not on the screen yet: there is no yes without them.
    unseen: BTreeSet<usize>,
    /// Since when none is unseen.
    all_shown_at: Option<Instant>,
}

/// The view.
#[derive(Default)]
pub(super) struct View {
    listed: Vec<Listed>,
    selected: Option<ApprovalId>,
    seen: Option<Seen>,
    typing: Option<Typing>,
    scrolled: usize,
    /// How many lines of the question there was room for.
    room: usize,
    said: Option<(String, bool)>,
}

impl View {
    /// Takes the questions that wait now.
    pub(super) fn take(&mut self, waiting: Vec<Waiting>, now: Instant) {
        let place = self.place();
        self.listed = waiting
            .into_iter()
            .map(|waiting| Listed { until: now + Duration::from_millis(waiting.remaining_ms), waiting })
            .collect();
        if !self.selected.is_some_and(|id| self.has(id)) {
            let next = self.listed.get(place).or_else(|| self.listed.last());
            self.select(next.map(|listed| listed.waiting.id));
        }
        if self.typing.as_ref().is_some_and(|typing| !self.has(typing.id)) {
            self.typing = None;
            self.say("that question is over", false);
        }
    }

    /// How many questions wait.
    pub(super) fn count(&self) -> usize {
        self.listed.len()
    }

    /// Tells something in the last row.
    pub(super) fn say(&mut self, text: impl Into<String>, is_good: bool) {
        self.said = Some((text.into(), is_good));
    }

    /// What a key does.
    pub(super) fn press(&mut self, key: Key, now: Instant) -> Do {
        if key == Key::End {
            return Do::Quit;
        }
        if let Some(typing) = self.typing.take() {
            return self.type_minutes(typing, key);
        }
        match key {
            Key::Char('q') => return Do::Quit,
            Key::Up | Key::Char('k') => self.step(-1),
            Key::Down | Key::Char('j') => self.step(1),
            Key::PageUp | Key::Char('b') => self.scrolled = self.scrolled.saturating_sub(self.page()),
            Key::PageDown | Key::Char(' ') => self.scrolled += self.page(),
            Key::Char(letter @ ('y' | 'n' | 'r' | 'R')) => return self.decide(letter, now),
            _ => {}
        }
        Do::Nothing
    }

    fn decide(&mut self, letter: char, now: Instant) -> Do {
        let Some(id) = self.selected else { return Do::Nothing };
        let seen = self.seen.as_ref().filter(|seen| seen.of.id == id);
        if let Some(why_not) = why_not(seen, letter, now) {
            self.say(why_not, false);
            return Do::Nothing;
        }
        let what = match letter {
            'y' => return Do::Answer { id, yes: true, remember: None },
            'n' => return Do::Answer { id, yes: false, remember: None },
            'r' => RememberedFor::Arguments,
            _ => RememberedFor::Key,
        };
        self.typing = Some(Typing { id, what, minutes: MINUTES.to_owned(), is_proposed: true });
        Do::Nothing
    }

    fn type_minutes(&mut self, mut typing: Typing, key: Key) -> Do {
        match key {
            Key::Char(digit @ '0'..='9') if typing.is_proposed => {
                typing.minutes = digit.to_string();
                typing.is_proposed = false;
            }
            Key::Char(digit @ '0'..='9') if typing.minutes.len() < 4 => typing.minutes.push(digit),
            Key::Backspace => {
                typing.minutes.pop();
                typing.is_proposed = false;
            }
            Key::Escape => {
                self.say("nothing was answered", false);
                return Do::Nothing;
            }
            Key::Enter => {
                if let Some(minutes) = typing.minutes.parse().ok().filter(|minutes| *minutes > 0) {
                    let remember = Some(Remember { what: typing.what, minutes });
                    return Do::Answer { id: typing.id, yes: true, remember };
                }
            }
            _ => {}
        }
        self.typing = Some(typing);
        Do::Nothing
    }

    fn has(&self, id: ApprovalId) -> bool {
        self.listed.iter().any(|listed| listed.waiting.id == id)
    }

    fn place(&self) -> usize {
        let is_selected = |listed: &Listed| Some(listed.waiting.id) == self.selected;
        self.listed.iter().position(is_selected).unwrap_or(0)
    }

    fn step(&mut self, by: isize) {
        let next = self.place().saturating_add_signed(by).min(self.listed.len().saturating_sub(1));
        self.select(self.listed.get(next).map(|listed| listed.waiting.id));
    }

    fn select(&mut self, id: Option<ApprovalId>) {
        if self.selected != id {
            self.selected = id;
            self.scrolled = 0;
        }
    }

    /// The frame as it is now. What it shows counts as shown from now on.
    pub(super) fn frame(&mut self, columns: usize, rows: usize, now: Instant) -> Vec<Line> {
        let place = self.place();
        let mut lines = vec![owned(&[
            strong("Approvals"),
            faint(&match self.listed.len() {
                0 => "  nothing waits".to_owned(),
                1 => "  1 waits".to_owned(),
                count => format!("  {count} wait, the oldest first"),
            }),
        ])];
        let first = place.saturating_sub(LISTED - 1);
        for (index, listed) in self.listed.iter().enumerate().skip(first).take(LISTED) {
            lines.push(row(listed, index == place, now));
        }
        let after = self.listed.len().saturating_sub(first + LISTED);
        if after > 0 {
            lines.push(owned(&[faint(&format!("    and {after} more"))]));
        }
        lines.push(Line::new());
        let foot = self.foot();
        let mut room = rows.saturating_sub(lines.len() + foot.len());
        match self.listed.get(place) {
            None => self.seen = None,
            Some(Listed { waiting, until }) => {
                let remaining = millis(until.saturating_duration_since(now));
                let last = waiting.last.as_ref().map(|last| last.at.clone());
                let of = Of { id: waiting.id, columns, last };
                let seen = match &mut self.seen {
                    Some(seen) if seen.of == of => seen,
                    other => other.insert(Seen::new(of, waiting, remaining)),
                };
                if let Some(line) = seen.lines.get_mut(seen.left) {
                    *line = approval::left(remaining);
                }
                let count = seen.lines.len();
                if count > room {
                    room = room.saturating_sub(1);
                    self.scrolled = self.scrolled.min(count.saturating_sub(room));
                } else {
                    self.scrolled = 0;
                }
                let (above, hidden) = (self.scrolled, count.saturating_sub(self.scrolled + room));
                lines.extend(seen.lines.iter().skip(above).take(room).cloned());
                if hidden + above > 0 {
                    let more = format!("{above} lines above, {hidden} below: space and b scroll");
                    lines.push(owned(&[warning(&more)]));
                }
                seen.see(above..above + room, now);
                self.room = room;
            }
        }
        let filled = rows.saturating_sub(foot.len());
        lines.resize(filled.max(lines.len().min(filled)), Line::new());
        lines.extend(foot);
        lines.into_iter().map(|line| cut(line, columns)).collect()
    }

    /// How far is scrolled at once: nothing is jumped over.
    fn page(&self) -> usize {
        self.room.clamp(1, 5)
    }

    fn foot(&self) -> Vec<Line> {
        let said = match &self.said {
            None => Line::new(),
            Some((text, true)) => owned(&[good(text)]),
            Some((text, false)) => owned(&[warning(text)]),
        };
        let keys = match &self.typing {
            Some(Typing { what, minutes, .. }) => {
                let what = match what {
                    RememberedFor::Arguments => "yes, and for identical arguments for",
                    RememberedFor::Key => "yes, and for every call of this tool with this key for",
                };
                let minutes = format!(" {minutes}_ minutes");
                owned(&[bad(what), strong(&minutes), faint("  Enter: say it  Esc: do not")])
            }
            None => owned(&[
                strong("y"),
                faint(" yes once  "),
                strong("n"),
                faint(" no  "),
                strong("r"),
                faint(" yes, remember arguments  "),
                strong("R"),
                faint(" remember key  "),
                strong("j k"),
                faint(" move  "),
                strong("q"),
                faint(" quit"),
            ]),
        };
        vec![said, keys]
    }
}

/// Why a key does not answer yet, and what to press instead.
fn why_not(seen: Option<&Seen>, letter: char, now: Instant) -> Option<String> {
    let early = || Some("this question has only just appeared: look at it, then press again".to_owned());
    let Some(seen) = seen else { return early() };
    if !seen.missing.is_empty() {
        let narrow = "the arguments were not on the screen: make the window larger, or scroll";
        return Some(narrow.to_owned());
    }
    let is_yes = letter != 'n';
    if is_yes && !seen.is_whole {
        // The end of an id names it, and leaves room for what to do.
        let id = seen.of.id.to_string();
        let id = id.get(id.len().saturating_sub(8)..).unwrap_or_default();
        return Some(format!("a part is left out here: approvals show {id}, then approvals yes {id}"));
    }
    if is_yes && !seen.unseen.is_empty() {
        let count = seen.unseen.len();
        let lines = if count == 1 { "1 line was".to_owned() } else { format!("{count} lines were") };
        return Some(format!("{lines} not on the screen yet: space and b scroll; then press {letter} again"));
    }
    let since = if is_yes { seen.all_shown_at } else { seen.since };
    if since.is_some_and(|since| now >= since + SETTLED) { None } else { early() }
}

impl Seen {
    fn new(of: Of, waiting: &Waiting, remaining_ms: u64) -> Self {
        let details = approval::details(waiting, remaining_ms, Extent::Short);
        let mut seen = Self {
            of,
            lines: Vec::new(),
            left: 0,
            is_whole: details.is_whole,
            missing: BTreeSet::new(),
            since: None,
            unseen: BTreeSet::new(),
            all_shown_at: None,
        };
        for (index, line) in details.lines.into_iter().enumerate() {
            let (first, parts) = (seen.lines.len(), wrapped(line, seen.of.columns, INDENT));
            if index == details.left {
                seen.left = first;
            }
            if details.vital.contains(&index) {
                seen.missing.extend((first..first + parts.len()).take(MOST_VITAL));
            }
            seen.lines.extend(parts);
        }
        seen.unseen.extend(0..seen.lines.len());
        seen
    }

    /// Counts what is on the screen as seen.
    fn see(&mut self, on_screen: Range<usize>, now: Instant) {
        // In fewer columns lines are cut instead of broken.
        if self.of.columns >= INDENT + FEWEST {
            self.missing.retain(|line| !on_screen.contains(line));
            self.unseen.retain(|line| !on_screen.contains(line));
        }
        if self.missing.is_empty() {
            self.since.get_or_insert(now);
        }
        if self.unseen.is_empty() {
            self.all_shown_at.get_or_insert(now);
        }
    }
}

fn row(listed: &Listed, is_selected: bool, now: Instant) -> Line {
    let Listed { waiting, until } = listed;
    let question = &waiting.question;
    let lead = if is_selected { strong("> ") } else { plain("  ") };
    let who = question.actor.key.as_deref().unwrap_or(&question.actor.client);
    let left = millis(until.saturating_duration_since(now));
    let name = if is_selected { strong(&question.tool) } else { plain(&question.tool) };
    owned(&[
        lead,
        level(question.risk.level),
        plain("  "),
        approval::countdown(left),
        plain("  "),
        name,
        faint("  by "),
        faint(who),
    ])
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn owned(spans: &[Span<'_>]) -> Line {
    spans.iter().cloned().map(Span::into_owned).collect()
}

/// A line that fits into one.
fn cut(line: Line, columns: usize) -> Line {
    wrapped(line, columns, 0).into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
