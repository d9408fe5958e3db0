//! What is told of a call that waits, and in which order.

use bailiwick_core::{Event, Listener as _};
use bailiwick_types::{ApprovalId, LogLevel, LogLine};

use super::Passes;
use crate::line::{Line, Said};

fn still(waited_ms: u64, remaining_ms: u64) -> Event {
    Event::StillWaiting { id: ApprovalId::from_parts(1, &[1; 10]), waited_ms, remaining_ms }
}

#[test]
fn every_tick_of_a_question_is_progress_that_increases() {
    let (line, mut heard) = Line::new(false, "mcp/a-test".to_owned());
    let passes = Passes::on(line);
    // Two questions of one call: the second begins anew, and what is told does not.
    for (waited, left) in [(10_000, 110_000), (20_000, 100_000), (10_000, 50_000), (20_000, 1)] {
        passes.hear(still(waited, left));
    }
    let mut last = -1.0;
    for wanted in ["110 s are left", "100 s are left", "50 s are left", "1 s are left"] {
        let said = heard.try_recv().expect("something was said");
        let Said::Progress { done, of, message } = said else { panic!("{said:?}") };
        assert!(done > last, "{done} after {last}");
        assert!(of.is_some_and(|of| of > done), "{done} of {of:?}");
        assert!(message.as_deref().is_some_and(|told| told.contains(wanted)), "{message:?}");
        last = done;
    }
    assert!(heard.try_recv().is_err(), "nothing more was said");
}

#[test]
fn a_line_is_passed_on_at_its_level() {
    let (line, mut heard) = Line::new(false, "mcp/a-test".to_owned());
    let said = LogLine { level: LogLevel::Warn, text: "careful".to_owned(), at: 1 };
    Passes::on(line).hear(Event::Log(said));
    let said = heard.try_recv().expect("something was said");
    assert!(matches!(&said, Said::Log { level: LogLevel::Warn, text } if text == "careful"), "{said:?}");
}
