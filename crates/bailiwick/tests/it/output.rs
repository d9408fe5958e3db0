//! The one place that prints: figures that a person may want to see, a test that was skipped, and what a process of its
//! own has to tell the test that started it.

use std::fmt::Display;
use std::io::Write as _;

/// Prints one line.
pub(crate) fn line(text: impl Display) {
    writeln!(std::io::stdout().lock(), "{text}").expect("stdout");
}
