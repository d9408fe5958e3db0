//! `bailiwick audit tail`: the newest records, a line each, and those that come.

use std::time::Duration;

use bailiwick_core::Action;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::{NO_CELLS, lines, records, seq_of};
use crate::desk::{At, at_desk};
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, bad, faint, good, plain, strong};
use crate::resolved::Session;
use crate::typed::audit::Tail;

/// How often somebody who follows looks.
const EVERY: Duration = Duration::from_millis(250);

/// `bailiwick audit tail`
pub(crate) fn tail(screen: &mut Screen, session: &Session, what: &Tail) -> Result<u8, Failure> {
    at_desk(session, &NO_CELLS, async |desk| {
        let newest = records(desk, Action::AuditTail { limit: what.lines }).await?;
        if !what.follow {
            tell(screen, &newest);
            return Ok(0);
        }
        let mut interrupted = signal(SignalKind::interrupt()).map_err(Failure::Signals)?;
        let next = newest.iter().filter_map(seq_of).max().map_or(1, |seq| seq + 1);
        tell_more(screen, &newest);
        tokio::select! {
            _ = interrupted.recv() => Ok(0),
            failure = follow(screen, desk, next) => Err(failure),
        }
    })
}

/// Shows what comes; ends only by a failure.
async fn follow(screen: &mut Screen, desk: &At, mut next: u64) -> Failure {
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        ticks.tick().await;
        let page = match lines(desk, next).await {
            Ok(page) => page,
            Err(failure) => return failure,
        };
        // Heads come along in an export; a line that cannot be read is the business of `verify`.
        let new = page.lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let new: Vec<Value> = new.filter(|record| seq_of(record).is_some()).collect();
        if let Some(last) = new.iter().filter_map(seq_of).max() {
            tell_more(screen, &new);
            next = last + 1;
        }
    }
}

/// Records of somebody who follows: one line each, at once.
fn tell_more(screen: &mut Screen, records: &[Value]) {
    for record in records {
        if screen.wants_json() {
            screen.json_line(record);
        } else {
            let cells = cells(record);
            let lengths = [6, 24, 8, 14, 20, 20];
            let lines: Vec<String> =
                cells.iter().zip(lengths).map(|((text, _), length)| format!("{text:<length$}  ")).collect();
            let mut spans: Vec<_> = lines.iter().zip(&cells).map(|(text, (_, look))| look(text)).collect();
            spans.extend(cells.last().map(|(text, look)| look(text)));
            screen.line(&spans);
        }
    }
    screen.show_now();
}

/// Records as a table.
pub(super) fn tell(screen: &mut Screen, records: &[Value]) {
    if screen.wants_json() {
        screen.json(&json!({"records": records}));
        return;
    }
    if records.is_empty() {
        screen.line(&[plain("there are no records")]);
        return;
    }
    let mut table = Table::new(&["SEQ", "TIME", "KIND", "ACTION", "TOOL", "OUTCOME", "ACTOR"]);
    for record in records {
        table.row(cells(record).into_iter().map(|(text, look)| Cell::new(text, look)).collect());
    }
    table.show(screen);
}

type Look = for<'a> fn(&'a str) -> crate::render::Span<'a>;

/// A record in the columns of the table.
fn cells(record: &Value) -> Vec<(String, Look)> {
    let text = |pointer: &str| match record.pointer(pointer) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let (outcome, look) = outcome(record);
    let who = [text("/actor/client"), text("/actor/key")];
    let who: Vec<&str> = who.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    vec![
        (text("/seq"), faint),
        (text("/time"), plain),
        (text("/kind"), plain),
        (text("/action"), strong),
        (text("/tool/name"), plain),
        (outcome, look),
        (who.join(" "), faint),
    ]
}

/// What came of it, in a word.
fn outcome(record: &Value) -> (String, Look) {
    let word = |pointer: &str| record.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let is_no = |pointer: &str| record.pointer(pointer).and_then(Value::as_bool) == Some(false);
    if let Some(code) = word("/outcome/code") {
        return (code, bad);
    }
    if is_no("/outcome/ok") || is_no("/outcome/passed") {
        return ("failed".to_owned(), bad);
    }
    if record.get("kind").and_then(Value::as_str) == Some("decision") {
        let answer = word("/approval/answer").unwrap_or_default();
        let look: Look = if answer == "yes" { good } else { bad };
        return (answer, look);
    }
    match record.get("outcome") {
        None | Some(Value::Null) => (String::new(), plain),
        Some(_) => {
            word("/outcome/state").map_or_else(|| ("ok".to_owned(), good as Look), |state| (state, plain))
        }
    }
}
