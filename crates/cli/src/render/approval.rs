//! A question that waits, for people: everything somebody needs before they say yes, and nothing that can paint over it.

use bailiwick_core::{EffectAsked, LastYes, Question, Waiting};
use bailiwick_types::Risk;

use super::compare::{Compared, lines};
use super::stage::Line;
use super::{Span, bad, faint, good, level, plain, strong, warning};

/// How many lines of the arguments have to be seen at least.
const FIRST: usize = 3;

/// A question as lines, and where those are that nobody answers without.
#[derive(Default)]
pub(crate) struct Details {
    pub(crate) lines: Vec<Line>,
    /// The lines of the tool, the risk and the first arguments.
    pub(crate) vital: Vec<usize>,
}

/// A question in full. `remaining_ms` is what is left now.
pub(crate) fn details(waiting: &Waiting, remaining_ms: u64) -> Details {
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
        actor,
        correlation_id,
        effect,
        deadline_ms: _,
    } = question;
    let mut told = Details::default();
    told.vital.push(0);
    told.field("tool", &[strong(tool)]);
    if let Some(EffectAsked { capability, effect, layer }) = effect {
        told.field("wants to", &[strong(effect)]);
        told.field("", &[plain(capability), faint(", asked for by "), plain(layer)]);
    }
    for line in prompt.iter().flat_map(|prompt| prompt.lines()) {
        told.field("says", &[plain(line)]);
    }
    told.risk(risk);
    let key = actor.key.as_deref().map_or_else(|| "  no key".to_owned(), |key| format!("  key {key}"));
    told.field("asked by", &[plain(&actor.client), plain(&key)]);
    told.field("at", &[plain(asked_at)]);
    told.field("left", &[countdown(remaining_ms)]);
    for (index, line) in code.iter().flat_map(|code| code.lines()).enumerate() {
        told.field(if index == 0 { "code" } else { "" }, &[plain(line)]);
    }
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
    told.field("id", &[plain(&id.to_string())]);
    told
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
        let mut line = vec![faint(&format!("{label:<12}")).into_owned()];
        line.extend(spans.iter().cloned().map(Span::into_owned));
        self.lines.push(line);
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
        for (index, line) in compared.iter().enumerate() {
            let label = if index == 0 { "arguments" } else { "" };
            match line {
                Compared::Same(text) => self.field(label, &[plain("  "), plain(text)]),
                Compared::Gone(text) => self.field(label, &[bad("- "), bad(text)]),
                Compared::New(text) => self.field(label, &[good("+ "), good(text)]),
            }
        }
        self.field("", &[faint("- "), faint(&said), faint(", + this call")]);
    }

    fn whole(&mut self, arguments: &str) {
        for (index, line) in arguments.lines().enumerate() {
            self.field(if index == 0 { "arguments" } else { "" }, &[plain(line)]);
        }
    }
}
