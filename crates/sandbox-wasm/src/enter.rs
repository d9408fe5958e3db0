//! The line at the top of `main`: in a process that is to be the engine's host it does not return.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{inside, order};

static ENTERED: AtomicBool = AtomicBool::new(false);

/// Turns this process into the host of an engine if it was started as one, and else returns at once.
///
/// Call it first thing in `main`, before any thread is started: commands are run by starting this program again, in a sandbox.
pub fn enter() {
    enter_with(std::env::args_os());
}

/// Like [`enter`], for a program whose arguments come from elsewhere.
pub fn enter_with(mut arguments: impl Iterator<Item = std::ffi::OsString>) {
    ENTERED.store(true, Ordering::Release);
    if arguments.next().is_some_and(|name| name == order::PROGRAM) {
        inside::live(arguments);
    }
}

/// Whether [`enter`] was called in this process.
pub(crate) fn was_entered() -> bool {
    ENTERED.load(Ordering::Acquire)
}
