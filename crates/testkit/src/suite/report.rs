//! The results of a suite as a file in the format of `JUnit`, with the time of each test.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed, Trial};

use super::lock;

/// Collects the results.
#[derive(Clone, Default)]
pub(super) struct Report(Arc<Mutex<Vec<Row>>>);

struct Row {
    name: String,
    took: Duration,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    Ignored,
    Failed(String),
}

impl Report {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A test whose result is collected.
    pub(super) fn trial(
        &self,
        name: String,
        run: impl FnOnce() -> Result<Completion, Failed> + Send + 'static,
    ) -> Trial {
        let (rows, own) = (Arc::clone(&self.0), name.clone());
        Trial::ignorable_test(name, move || {
            let begun = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(run));
            let outcome = match &result {
                Ok(Ok(Completion::Completed)) => Outcome::Passed,
                Ok(Ok(Completion::Ignored { .. })) => Outcome::Ignored,
                Ok(Err(failed)) => Outcome::Failed(failed.message().unwrap_or("it failed").to_owned()),
                Err(_) => Outcome::Failed("it panicked".to_owned()),
            };
            lock(&rows).push(Row { name: own, took: begun.elapsed(), outcome });
            result.unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Writes a file, named like this binary, into the directory that `BAILIWICK_JUNIT` names, if it names one.
    #[expect(
        clippy::disallowed_methods,
        reason = "a file of a test run, named by a variable that only tests read"
    )]
    #[expect(clippy::expect_used, reason = "a report that was asked for and cannot be written is a failure")]
    pub(super) fn write(&self) {
        let Ok(directory) = std::env::var("BAILIWICK_JUNIT") else { return };
        let program = std::env::current_exe().expect("this program has a path");
        // Cargo puts a hash behind the name.
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.rsplit_once('-').map_or(name.as_str(), |(name, _)| name);
        let path = std::path::Path::new(&directory).join(format!("{name}.xml"));
        std::fs::write(&path, self.to_xml()).expect("the report can be written");
    }

    fn to_xml(&self) -> String {
        let rows = lock(&self.0);
        let failures = rows.iter().filter(|row| matches!(row.outcome, Outcome::Failed(_))).count();
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"specs\" tests=\"{}\" failures=\"{failures}\">\n",
            rows.len()
        );
        for Row { name, took, outcome } in rows.iter() {
            let (name, seconds) = (escaped(name), took.as_secs_f64());
            // Writing to a string does not fail.
            let _ = write!(xml, "<testcase name=\"{name}\" classname=\"specs\" time=\"{seconds:.3}\">");
            match outcome {
                Outcome::Passed => {}
                Outcome::Ignored => xml.push_str("<skipped/>"),
                Outcome::Failed(message) => {
                    let _ = write!(xml, "<failure>{}</failure>", escaped(message));
                }
            }
            xml.push_str("</testcase>\n");
        }
        xml.push_str("</testsuite></testsuites>\n");
        xml
    }
}

/// Text that XML can hold: control characters become U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
