//! The one place that prints. A reader who hangs up early (`| head`) is an
//! error value here, not a panic, which is why this is not the `println` family.

use std::error::Error;
use std::io::{self, Write as _};

/// Prints each line to standard output.
pub(crate) fn lines<L: AsRef<str>>(lines: impl IntoIterator<Item = L>) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in lines {
        writeln!(out, "{}", line.as_ref())?;
    }
    out.flush()
}

/// Prints a fault to standard error; when even that fails, the exit code is
/// all that is left to say.
pub(crate) fn complain(fault: &dyn Error) {
    drop(writeln!(io::stderr().lock(), "xtask: {fault}"));
}
