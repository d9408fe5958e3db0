//! Local Passes for people: a verdict for each tool and each run, and what to do about what failed.

use std::io::Write as _;

use bailiwick_core::{Missed, Refusal, TestLine, TestVerdict, Tested};
use bailiwick_types::{Denial, Failure};

use super::table::cut;
use super::{Screen, Span, bad, faint, good, level, plain, strong, warning};
use crate::commands::policy::as_yaml;
use crate::places::Places;

/// One tool's pass.
pub(crate) fn tell(screen: &mut Screen, places: &Places, tested: &Tested) {
    let Tested { tool, passed, state, lines, risk, refused } = tested;
    let mut head = vec![if *passed { good("passed") } else { bad("failed") }, plain("  "), strong(tool)];
    if let Some(risk) = risk {
        head.extend([plain("  "), level(risk.level)]);
    }
    let state = state.as_ref().map_or_else(String::new, |state| format!("  {state}"));
    head.push(faint(&state));
    screen.line(&head);
    if let Some(refusal) = refused {
        screen.show_now();
        screen.refusal(refusal);
    }
    tell_lines(screen, places, lines);
}

/// The runs of a pass.
pub(crate) fn tell_lines(screen: &mut Screen, places: &Places, lines: &[TestLine]) {
    let width = lines.iter().map(|line| cut(line.name.clone()).chars().count()).max().unwrap_or(0);
    let mut told = Vec::new();
    for line in lines {
        tell_line(screen, places, line, width);
        // The same fix is told once.
        let denial = line.failure.as_ref().and_then(|failure| failure.denied.as_ref());
        if let Some(denial) = denial.filter(|denial| !told.contains(&&denial.fix)) {
            tell_denial(screen, denial);
            told.push(&denial.fix);
        }
    }
}

/// A document that could not be tried.
pub(crate) fn tell_refused(screen: &mut Screen, name: &str, refusal: &Refusal) {
    screen.line(&[bad("failed"), plain("  "), strong(name)]);
    screen.show_now();
    screen.refusal(refusal);
}

/// How far it is, on a line of its own that is written over.
pub(crate) fn progress(done: u64, of: Option<u64>) {
    let of = of.map_or_else(String::new, |of| format!("/{of}"));
    // There is nowhere left to report to.
    let _ = std::io::stderr().lock().write_all(format!("\r{done}{of} \r").as_bytes());
}

fn tell_line(screen: &mut Screen, places: &Places, line: &TestLine, width: usize) {
    let TestLine { name, verdict, ms, misses, failure } = line;
    let test = &cut(name.clone());
    let word = match verdict {
        TestVerdict::Passed => good("  passed  "),
        TestVerdict::Failed => bad("  failed  "),
        TestVerdict::Unanswered => warning("  unanswered  "),
    };
    if screen.is_quiet() {
        screen.line(&[word, plain(test)]);
    } else {
        screen.line(&[word, plain(&format!("{test:<width$}")), faint(&format!("  {ms:.1} ms"))]);
    }
    if let Some(failure) = failure {
        tell_failure(screen, places, failure);
    }
    // That there is no result is told by the failure.
    let misses = misses.iter().filter(|miss| failure.is_none() || miss.kind != "result");
    for Missed { kind, message, diff } in misses {
        screen.line(&[plain("    "), strong(kind), plain(": "), plain(message)]);
        for line in diff.iter().flat_map(|diff| diff.lines()) {
            screen.line(&[plain("      "), of_diff(line)]);
        }
    }
    if *verdict == TestVerdict::Unanswered {
        screen.line(&[
            strong("    hint: "),
            plain("give the test its answers with `http`, or run it with --live"),
        ]);
    }
}

fn tell_failure(screen: &mut Screen, places: &Places, failure: &Failure) {
    let Failure { code, message, hint, location, stack: _, denied } = failure;
    screen.line(&[plain("    "), strong(&format!("{code}: ")), plain(message)]);
    if let Some(at) = location {
        screen.line(&[faint("      --> "), plain(&places.place(at.line, at.column))]);
    }
    if let (None, Some(hint)) = (denied, hint) {
        screen.line(&[strong("      hint: "), plain(hint)]);
    }
}

/// The narrowest change that would lift a denial, as a line that can be pasted.
fn tell_denial(screen: &mut Screen, denial: &Denial) {
    let Some(fix) = &denial.fix else {
        screen.line(&[strong("      fix: "), plain("none: nothing that a tool declares would allow it")]);
        return;
    };
    screen.line(&[strong("      fix: "), plain("if it is meant to do that, declare it:")]);
    screen.line(&[plain("overrides: "), plain(&as_yaml(&fix.overrides))]);
    screen.line(&[plain("      the badge becomes "), level(fix.risk)]);
}

fn of_diff(line: &str) -> Span<'_> {
    match line.chars().next() {
        Some('+') => good(line),
        Some('-') => bad(line),
        _ => plain(line),
    }
}
