//! The line at the top of `main`: in a process that is to be a keeper it does not return.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::keeper;

/// The name under which this program is started again.
pub(crate) const NAME: &str = "bailiwick-keeper";

static ENTERED: AtomicBool = AtomicBool::new(false);

/// Turns this process into a keeper of sandboxes if it was started as one, and else returns at once.
///
/// Call it first thing in `main`, before any thread is started: sandboxes are made by starting this program again.
pub fn enter() {
    enter_with(std::env::args_os());
}

/// Like [`enter`], for a program whose arguments come from elsewhere.
pub fn enter_with(mut arguments: impl Iterator<Item = std::ffi::OsString>) {
    ENTERED.store(true, Ordering::Release);
    if arguments.next().is_some_and(|name| name == NAME) {
        keeper::become_one();
    }
}

/// Whether [`enter`] was called in this process.
pub(crate) fn was_entered() -> bool {
    ENTERED.load(Ordering::Acquire)
}
