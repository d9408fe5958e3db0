//! Deliberate misdeeds, to see whether a wall stands: raw system calls, and each way of ending badly.
//!
//! Called inside a cell on the host's order, by `doctor` and by tests. Nothing a guest sends can reach this.

use crate::Errno;

/// Makes a system call with arguments that cannot harm: zeros, or numbers. Gives what the kernel said.
///
/// Pointers are zero on purpose, so that a call which is let through fails with EFAULT or EINVAL and touches nothing.
pub fn system_call(number: u32, arguments: [u64; 6]) -> Result<i64, Errno> {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    // SAFETY: this is as dangerous as its arguments. It runs in a process that exists only to try it and ends right
    // after, whatever memory the call may have changed.
    let result =
        unsafe { libc::syscall(libc::c_long::from(number), first, second, third, fourth, fifth, sixth) };
    if result < 0 { Err(crate::descriptors::last()) } else { Ok(result) }
}

/// Touches memory that is not there.
pub fn fault() {
    // SAFETY: none: the process is to end here, and does.
    unsafe { std::ptr::without_provenance_mut::<u8>(0x10).write_volatile(1) }
}

/// Panics.
///
/// # Panics
/// Always.
#[expect(clippy::panic, reason = "that is what it is for")]
pub fn panic() -> ! {
    panic!("a panic that was asked for")
}

/// Calls `abort()`.
pub fn abort() {
    std::process::abort()
}

/// Fills the native stack.
#[expect(unconditional_recursion, reason = "that is what it is for")]
pub fn overflow(depth: u64) -> u64 {
    let pad = std::hint::black_box([depth; 256]);
    overflow(std::hint::black_box(pad.iter().fold(1_u64, |sum, one| sum.wrapping_add(*one)))).wrapping_add(1)
}
