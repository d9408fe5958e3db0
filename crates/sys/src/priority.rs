//! The priority of this process's reads and writes. Others of the same user may change it, and commands inherit it.

use rustix::io::Errno;

use crate::descriptors::last;

/// "This process", to the two calls.
const PROCESS: libc::c_int = 1;

/// What it is.
pub fn io() -> Result<i64, Errno> {
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_get, PROCESS, 0) };
    if result < 0 { Err(last()) } else { Ok(result) }
}

/// Sets it.
pub fn set_io(priority: i64) -> Result<(), Errno> {
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, PROCESS, 0, priority) };
    if result < 0 { Err(last()) } else { Ok(()) }
}
