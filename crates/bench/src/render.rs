//! Everything that this program writes: figures on stdout, progress, notes and failures on stderr.

use std::io::Write as _;

use bailiwick_types::visible;
use serde_json::json;

use crate::failure::Failure;
use crate::machine;
use crate::row::{Row, Verdict, short};

/// Writes the figures: a table for people, or one JSON object.
pub(crate) fn figures(rows: &[Row], json: bool) {
    let machine = machine::describe();
    let text = if json {
        let rows: Vec<_> = rows.iter().map(Row::to_json).collect();
        format!("{:#}\n", json!({"machine": machine, "rows": rows}))
    } else {
        let fields = machine.as_object().into_iter().flatten().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{name:<14}{}\n", visible(&value))
        });
        fields.chain(["\n".to_owned()]).chain(rows.iter().map(line)).collect()
    };
    // A reader that went away is no failure.
    let _reader_gone = std::io::stdout().lock().write_all(text.as_bytes());
}

/// One row of the table, and below it that of the old program.
fn line(row: &Row) -> String {
    let verdict = match row.verdict() {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::None => "",
    };
    let against = match (row.against, row.ratio) {
        (Some(against), Some(ratio)) => format!("{:>6} × {against}", short(ratio)),
        _ => String::new(),
    };
    let target = row.target_text();
    let all = columns(verdict, row, &format!("{against:<38}{target}{}", row.note.unwrap_or_default()));
    let Some(old) = &row.old else { return all };
    let ratio = row.to_old().map(|ratio| format!("new = {} × old", short(ratio)));
    all + &columns("old", old, &ratio.unwrap_or_default())
}

/// A label, a figure with its spread, and the rest of a line.
fn columns(label: &str, row: &Row, rest: &str) -> String {
    let spread = match row.spread {
        Some((low, high)) => format!("{} … {}", short(low), short(high)),
        None => String::new(),
    };
    let text = format!("{label:<8}{:<26}{:>10} {:<8}{spread:<22}{rest}", row.id, short(row.value), row.unit);
    format!("{}\n", text.trim_end())
}

/// Says what is measured now.
pub(crate) fn progress(what: &str) {
    to_stderr(&format!("measuring {what} …"));
}

/// A remark that is not part of the figures.
pub(crate) fn note(text: &str) {
    to_stderr(&format!("note: {text}"));
}

/// Says why there are no figures.
pub(crate) fn failure(failure: &Failure) {
    to_stderr(&format!("error: {failure}"));
}

fn to_stderr(text: &str) {
    for line in text.lines() {
        // There is nowhere left to report to.
        let _ = writeln!(std::io::stderr(), "{}", visible(line));
    }
}
