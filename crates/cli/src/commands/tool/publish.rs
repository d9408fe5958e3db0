//! `bailiwick tool publish`: a tool of the catalogue, or a document in one step.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_core::{Action, Document, Event, Listener, Published, Reasons, Reply, TestLine, TestVerdict};
use serde_json::json;

use super::check::tell_found;
use super::test::exit_code;
use super::with_confirmation;
use crate::desk::{Person, at_desk, caller};
use crate::failure::Failure;
use crate::places::Places;
use crate::render::{Screen, bad, faint, good, level, plain, strong, tested, warning};
use crate::resolved::Session;
use crate::targets;
use crate::typed::tool::Publish;

/// The exit code of a tool that waits for somebody's word.
const WAITS: u8 = 3;

/// `bailiwick tool publish TARGET`
pub(crate) fn publish(screen: &mut Screen, session: &Session, what: &Publish) -> Result<u8, Failure> {
    let Publish { target, justification, despite_scan, yes, cells } = what;
    let reasons = Reasons { justification: justification.clone(), despite_scan: despite_scan.clone() };
    let document = targets::is_path(target).then(|| targets::read(Path::new(target))).transpose()?;
    let places = places_of(target, document.as_ref());
    let action = |approval_off| match document.clone() {
        Some(document) => Action::ToolPublishDocument { document, reasons: reasons.clone(), approval_off },
        None => Action::ToolPublish { tool: target.clone(), reasons: reasons.clone() },
    };
    let published = at_desk(session, cells, async |desk| {
        let heard = Arc::new(Heard::default());
        let caller = caller(Person::of(*yes), Arc::<Heard>::clone(&heard));
        let attempt = async |approval_off| desk.perform(caller.clone(), action(approval_off)).await;
        match with_confirmation(screen, *yes, attempt).await {
            Ok(Reply::Published(published)) => Ok(*published),
            Ok(_) => Err(Failure::StrangeReply("a publication")),
            Err(failure) => {
                heard.tell_failed(screen, &places);
                Err(failure)
            }
        }
    })?;
    Ok(tell(screen, &places, &published))
}

fn places_of(target: &str, document: Option<&Document>) -> Places {
    match document {
        Some(document) => Places::of(Path::new(target), &document.text),
        None => Places::of_tool(target),
    }
}

/// The runs of a pass as they ended, for a publication that is refused since one of them failed.
#[derive(Default)]
struct Heard(Mutex<Vec<TestLine>>);

impl Listener for Heard {
    fn hear(&self, event: Event) {
        if let Event::Test { tool: _, line } = event {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(*line);
        }
    }
}

impl Heard {
    fn tell_failed(&self, screen: &mut Screen, places: &Places) {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !screen.wants_json() && lines.iter().any(|line| line.verdict != TestVerdict::Passed) {
            tested::tell_lines(screen, places, &lines);
            screen.show_now();
        }
    }
}

fn tell(screen: &mut Screen, places: &Places, published: &Published) -> u8 {
    let Published { tool, tested: pass, texts, notes } = published;
    let code = match pass {
        Some(pass) if !pass.passed => exit_code(pass),
        _ if tool.state == "PUBLISHED" => 0,
        _ => WAITS,
    };
    if screen.wants_json() {
        screen.json(&json!(published));
        return code;
    }
    if let Some(pass) = pass {
        tested::tell(screen, places, pass);
    }
    for found in texts {
        tell_found(screen, found);
    }
    let word = match (code, tool.state.as_str()) {
        (0, _) => good("published"),
        (_, "AWAITING_REVIEW") => warning("waits for review"),
        _ => bad("not published"),
    };
    let version = format!("  version {}", tool.version);
    let mut line = vec![word, plain("  "), strong(&tool.name), plain("  ")];
    line.extend(tool.level.map(level));
    line.push(faint(&version));
    screen.line(&line);
    screen.show_now();
    for note in notes {
        screen.note(note);
    }
    code
}
