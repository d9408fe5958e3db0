//! A question that waits, for people: everything somebody needs before they say yes, and nothing that can paint over it.

mod excerpt;

use bailiwick_core::{EffectAsked, LastYes, Question, Waiting};
use bailiwick_types::Risk;

use self::excerpt::{Piece, excerpt};
use super::compare::{Compared, lines};
use super::stage::Line;
use super::{Span, bad, faint, good, level, plain, strong, warning};

/// The label of what a tool says for itself.
const SAYS: &str = "says";
/// How many lines of the arguments have to be seen at least.
const FIRST: usize = 3;

/// How much of a question is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// What a screen can hold; where something is left out, that is told.
    Short,
}

/// A question as lines, and which of them a person has to have seen before an answer.
pub(crate) struct Details {
    extent: Extent,
    id: String,
    pub(crate) lines: Vec<Line>,
    /// The line of what is left.
    pub(crate) left: usize,
    /// The lines of the tool, the risk and the first arguments: nobody says no without having seen them.
    pub(crate) vital: Vec<usize>,
    /// Whether nothing was left out: only then can somebody say yes to what these lines show.
    pub(crate) is_whole: bool,
}

/// A question. `remaining_ms` is what is left now.
pub(crate) fn details(waiting: &Waiting, remaining_ms: u64, extent: Extent) -> Details {
    let Waiting { id, question, asked_at, deadline_at: _, remaining_ms: _, last } = waiting;
    let Question {
        tool,
        hash,
        policy_hash,
        call_id: _,
        prompt,
        risk,
        code,
        arguments,
        workspace,
        actor,
        correlation_id,
        effect,
        deadline_ms: _,
    } = question;
    let mut told =
        Details { extent, id: id.to_string(), lines: Vec::new(), left: 0, vital: vec![0], is_whole: true };
    told.field("tool", &[strong(tool)]);
    if let Some(EffectAsked { capability, effect, layer }) = effect {
        told.text("wants to", std::iter::once(effect.as_str()), strong);
        told.field("", &[plain(capability), faint(", asked for by "), plain(layer)]);
    }
    told.text(SAYS, prompt.iter().flat_map(|prompt| prompt.lines()), plain);
    told.risk(risk);
    let key = actor.key.as_deref().map_or_else(|| "  no key".to_owned(), |key| format!("  key {key}"));
    told.field("asked by", &[plain(&actor.client), plain(&key)]);
    if let Some(workspace) = workspace {
        told.field("workspace", &[plain(workspace), faint(", named by the call")]);
    }
    told.field("at", &[plain(asked_at)]);
    told.left = told.lines.len();
    told.lines.push(left(remaining_ms));
    told.text("code", code.iter().flat_map(|code| code.lines()), plain);
    let first = told.lines.len();
    told.arguments(arguments, last.as_ref());
    told.vital.extend((first..told.lines.len()).take(FIRST));
    if let Some(hash) = hash {
        told.field("hash", &[plain(hash)]);
        if let Some(LastYes { hash: Some(before), .. }) =
            last.as_ref().filter(|last| last.hash.as_ref() != Some(hash))
        {
            told.field("", &[warning("the tool changed"), plain(": it was "), plain(before)]);
        }
    }
    told.field("policy", &[plain(policy_hash)]);
    told.field("correlation", &[plain(correlation_id.as_str())]);
    let id = told.id.clone();
    told.field("id", &[plain(&id)]);
    told
}

/// The line of what is left.
pub(crate) fn left(remaining_ms: u64) -> Line {
    field("left", &[countdown(remaining_ms)])
}

fn field(label: &str, spans: &[Span<'_>]) -> Line {
    let mut line = vec![faint(&format!("{label:<12}")).into_owned()];
    line.extend(spans.iter().cloned().map(Span::into_owned));
    line
}

/// What is left, in the colour of its urgency.
pub(crate) fn countdown(remaining_ms: u64) -> Span<'static> {
    let seconds = remaining_ms.div_ceil(1_000);
    let text =
        if seconds >= 60 { format!("{}m {:02}s", seconds / 60, seconds % 60) } else { format!("{seconds}s") };
    match seconds {
        0..=15 => bad(&text).into_owned(),
        16..=45 => warning(&text).into_owned(),
        _ => plain(&text).into_owned(),
    }
}

impl Details {
    fn field(&mut self, label: &str, spans: &[Span<'_>]) {
        self.lines.push(field(label, spans));
    }

    /// Lines below one label, as many as the extent says.
    fn section<'a, K: Copy>(
        &mut self,
        label: &str,
        lines: &[(K, &'a str)],
        shown: impl Fn(K, &'a str) -> Line,
    ) {
        let pieces = match self.extent {
            Extent::Whole => lines.iter().map(|(kind, line)| Piece::Text(*kind, line)).collect(),
            Extent::Short => excerpt(lines),
        };
        for (index, piece) in pieces.into_iter().enumerate() {
            // What a tool says is told to be that in each line: none of it passes for a line of ours.
            let label = if index == 0 || label == SAYS { label } else { "" };
            match piece {
                Piece::Text(kind, line) => self.field(label, &shown(kind, line)),
                Piece::LeftOut(bytes) => {
                    self.is_whole = false;
                    let told =
                        format!("{bytes} bytes are left out here: bailiwick approvals show {}", self.id);
                    self.field(label, &[warning(&told)]);
                }
            }
        }
    }

    fn text<'a>(&mut self, label: &str, lines: impl Iterator<Item = &'a str>, style: fn(&str) -> Span<'_>) {
        let lines: Vec<((), &str)> = lines.map(|line| ((), line)).collect();
        self.section(label, &lines, |(), line| vec![style(line).into_owned()]);
    }

    fn risk(&mut self, risk: &Risk) {
        let Risk { level: inherent, credited, reasons } = risk;
        let credited = credited.map_or_else(String::new, |credited| format!("  credited {credited}"));
        self.vital.push(self.lines.len());
        self.field("risk", &[level(*inherent), plain(&credited)]);
        for reason in reasons {
            self.field("", &[level(reason.level), plain(&format!(" {}: {}", reason.signal, reason.detail))]);
        }
    }

    /// The arguments; where somebody said yes before, beside those they saw.
    fn arguments(&mut self, arguments: &serde_json::Value, last: Option<&LastYes>) {
        let now = format!("{arguments:#}");
        let Some(LastYes { arguments: before, at, by, hash: _ }) = last else {
            self.whole(&now);
            self.field("", &[faint("no call of this tool was approved before")]);
            return;
        };
        let said = format!("last approved {at} by {by}");
        if before == arguments {
            self.whole(&now);
            self.field("", &[good("the same arguments"), faint(" as "), faint(&said)]);
            return;
        }
        let before = format!("{before:#}");
        let Some(compared) = lines(&before, &now) else {
            self.whole(&now);
            self.field(
                "",
                &[warning("other arguments"), faint(" than "), faint(&said), faint("; too long to compare")],
            );
            return;
        };
        let kinds: Vec<(Kind, &str)> = compared
            .iter()
            .map(|line| match line {
                Compared::Same(text) => (Kind::Same, *text),
                Compared::Gone(text) => (Kind::Gone, *text),
                Compared::New(text) => (Kind::New, *text),
            })
            .collect();
        self.section("arguments", &kinds, |kind, text| {
            let (lead, text) = match kind {
                Kind::Same => (plain("  "), plain(text)),
                Kind::Gone => (bad("- "), bad(text)),
                Kind::New => (good("+ "), good(text)),
            };
            vec![lead.into_owned(), text.into_owned()]
        });
        self.field("", &[faint("- "), faint(&said), faint(", + this call")]);
    }

    fn whole(&mut self, arguments: &str) {
        self.text("arguments", arguments.lines(), plain);
    }
}

/// What became of a line since somebody said yes.
#[derive(Clone, Copy)]
enum Kind {
    Same,
    Gone,
    New,
}
