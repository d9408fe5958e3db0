//! Tests that need something of the machine say so: without it they are skipped, and where it is required they fail.

use std::io::Write as _;

/// Whether the machine has what a test needs. Without it the test prints that it is skipped and why.
///
/// # Panics
/// When it is not there although the variable `BAILIWICK_REQUIRE` (a list with commas) names it, as CI does.
#[expect(clippy::disallowed_methods, reason = "read by tests only, which have no settings")]
pub fn has(what: &str, there: bool) -> bool {
    if there {
        return true;
    }
    let required = std::env::var("BAILIWICK_REQUIRE").unwrap_or_default();
    let is_required = required.split(',').any(|one| one.trim() == what);
    assert!(!is_required, "{what} is required here, and it is not there");
    // A reader that went away has nothing to miss.
    let _ = writeln!(std::io::stderr(), "SKIP: needs {what}");
    false
}

/// Says what a test needs, and leaves the test where the machine does not have it.
#[macro_export]
macro_rules! requires {
    ($what:expr, $there:expr) => {
        if !$crate::has($what, $there) {
            return;
        }
    };
}
