//! The one line at the top of `main`: in a process that is to be a nursery it does not return.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::nursery;

/// The name under which this program is started again.
pub(crate) const NAME: &str = "bailiwick-nursery";

static ENTERED: AtomicBool = AtomicBool::new(false);

/// Turns this process into a nursery if it was started as one, and else returns at once.
///
/// Call it first thing in `main`, before any thread is started: cells are made by starting this program again.
///
/// ```no_run
/// bailiwick_cell::enter();
/// // the rest of the program
/// ```
pub fn enter() {
    enter_with(std::env::args_os());
}

/// Like [`enter`], for a program whose arguments come from elsewhere.
pub fn enter_with(mut arguments: impl Iterator<Item = std::ffi::OsString>) {
    ENTERED.store(true, Ordering::Release);
    if arguments.next().is_some_and(|name| name == NAME) {
        let rest: Vec<String> = arguments.map(|one| one.to_string_lossy().into_owned()).collect();
        nursery::become_one(&rest);
    }
}

/// Whether [`enter`] was called in this process.
pub(crate) fn was_entered() -> bool {
    ENTERED.load(Ordering::Acquire)
}
