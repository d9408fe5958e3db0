//! System V IPC, which outlives every process that used it: how it is removed.

use rustix::io::Errno;

use crate::descriptors::last;

/// What kind of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Shared memory.
    Memory,
    /// Sets of semaphores.
    Semaphores,
    /// Queues of messages.
    Messages,
}

/// Removes one by its number. One that is gone already is fine.
pub fn remove(kind: Kind, id: i32) -> Result<(), Errno> {
    let nothing = std::ptr::null_mut();
    // SAFETY: IPC_RMID reads and writes no memory; the pointer is not looked at.
    let result = unsafe {
        match kind {
            Kind::Memory => libc::shmctl(id, libc::IPC_RMID, nothing),
            Kind::Semaphores => libc::semctl(id, 0, libc::IPC_RMID),
            Kind::Messages => libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()),
        }
    };
    if result == 0 {
        return Ok(());
    }
    match last() {
        Errno::IDRM | Errno::INVAL => Ok(()),
        errno => Err(errno),
    }
}
