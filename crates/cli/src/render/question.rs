//! What a person reads before they say yes: who wants what done, with what, and how dangerous that is.
//!
//! Arguments and prompts are a stranger's text; they go through spans like everything else, so that none of them can
//! move the cursor, turn the direction of writing, or paint an answer.

use bailiwick_core::{EffectAsked, Question, Waiting};
use bailiwick_types::Risk;

use super::{Span, faint, level, plain, strong, to_stderr};

/// Tells a question on stderr; with `answer`, also what was said to it beforehand.
///
/// Where somebody still has to answer, all of it is told: nobody says yes to what was left out.
pub(crate) fn tell(question: &Question, answer: Option<&str>) {
    let Question {
        tool,
        hash,
        prompt,
        risk,
        code,
        arguments,
        workspace,
        actor,
        correlation_id,
        effect,
        deadline_ms,
        policy_hash: _,
        call_id: _,
    } = question;
    let sight = if answer.is_none() { Sight::Whole } else { Sight::Short };
    let answer = answer.map_or_else(String::new, |answer| format!("  {answer}"));
    if let Some(EffectAsked { capability, effect, layer }) = effect {
        let from = format!("  ({capability}, asked for by {layer} in {tool}){answer}");
        to_stderr(&[strong("ask: "), plain(effect), plain(&from)]);
        return;
    }
    to_stderr(&[strong("ask: "), plain("call "), strong(tool), plain(&answer)]);
    if let Some(prompt) = prompt {
        for line in lines_of(prompt, sight) {
            field("says", &[plain(&line)]);
        }
    }
    tell_risk(risk);
    for (index, line) in code.iter().flat_map(|code| lines_of(code, sight)).enumerate() {
        field(if index == 0 { "code" } else { "" }, &[plain(&line)]);
    }
    let shown = format!("{arguments:#}");
    let lines = lines_of(&shown, sight);
    for (index, line) in lines.iter().enumerate() {
        field(if index == 0 { "arguments" } else { "" }, &[plain(line)]);
    }
    if let Some(workspace) = workspace {
        field("workspace", &[plain(workspace), plain(", named by the call")]);
    }
    field("asked by", &[plain(&actor.client), plain(actor.key.as_deref().unwrap_or_default())]);
    field("correlation", &[plain(correlation_id.as_str())]);
    if let Some(hash) = hash {
        field("hash", &[plain(hash)]);
    }
    field("deadline", &[plain(&format!("{} s", deadline_ms.div_ceil(1_000)))]);
    if lines.len() > LINES_AT_EACH_END {
        // What it is about may have left the screen.
        to_stderr(&[strong("ask: "), plain("call "), strong(tool), plain("  "), level(risk.level)]);
    }
}

/// Tells that a call waits for somebody who is not here.
pub(crate) fn waits(waiting: &Waiting) {
    let left =
        format!("  {} s are left; bailiwick approvals answers it", waiting.remaining_ms.div_ceil(1_000));
    to_stderr(&[
        strong("waits: "),
        plain("a person is asked before "),
        strong(&waiting.question.tool),
        plain("  "),
        level(waiting.question.risk.level),
        faint(&left),
    ]);
}

/// How much of a text is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Whole,
    /// The begin and the end, for somebody who said yes before.
    Short,
}

fn lines_of(text: &str, sight: Sight) -> Vec<String> {
    match sight {
        Sight::Whole => text.lines().map(str::to_owned).collect(),
        Sight::Short => within_sight(text),
    }
}

/// The lines of arguments that are shown of their begin, and of their end.
const LINES_AT_EACH_END: usize = 20;
/// The characters of a line that are shown.
const CHARACTERS: usize = 400;

/// Arguments as far as a person can take them in. What is left out is told where it is left out.
fn within_sight(arguments: &str) -> Vec<String> {
    let lines: Vec<&str> = arguments.lines().collect();
    let shorter = |line: &&str| match line.char_indices().nth(CHARACTERS) {
        None => (*line).to_owned(),
        Some((at, _)) => {
            let (shown, rest) = line.split_at(at);
            format!("{shown}… [{} characters of this line are not shown]", rest.chars().count())
        }
    };
    if lines.len() <= 2 * LINES_AT_EACH_END {
        return lines.iter().map(shorter).collect();
    }
    let hidden = lines.len() - 2 * LINES_AT_EACH_END;
    let (begin, end) = (lines.iter().take(LINES_AT_EACH_END), lines.iter().skip(hidden + LINES_AT_EACH_END));
    let between = format!("[{hidden} lines are not shown; {} bytes in all]", arguments.len());
    begin.map(shorter).chain([between]).chain(end.map(shorter)).collect()
}

fn tell_risk(risk: &Risk) {
    let Risk { level: inherent, credited, reasons } = risk;
    let credited = credited.map_or_else(String::new, |credited| format!("  credited {credited}"));
    field("risk", &[level(*inherent), plain(&credited)]);
    for reason in reasons {
        field("", &[level(reason.level), plain(&format!(" {}: {}", reason.signal, reason.detail))]);
    }
}

fn field(label: &str, spans: &[Span<'_>]) {
    let label = format!("  {label:<14}");
    let mut all = vec![faint(&label)];
    all.extend_from_slice(spans);
    to_stderr(&all);
}
