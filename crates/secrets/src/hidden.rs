//! A process that holds secrets leaves no core and cannot be traced by others of its user.

use bailiwick_sys::{Failed, bounds, privileges};

/// Makes this process not dumpable and its core files empty. [`Secrets::open`](crate::Secrets::open) does this too; a
/// program that reads a value before that calls it first.
pub fn hide_this_process() -> Result<(), Failed> {
    privileges::hide()?;
    bounds::no_core()
}
