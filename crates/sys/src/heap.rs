//! An allocator that says when it failed. The language has no stable way to ask: it prints and aborts, which under a
//! filter looks like any other abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;

/// What to do when memory cannot be had. It must not allocate and ends the process.
static ON_FAILURE: OnceLock<fn() -> !> = OnceLock::new();

/// The system's allocator, which in a cell ends the process by a code of its own when memory cannot be had. A program
/// that embeds cells may make it its `#[global_allocator]`; without it a failed allocation in a cell shows as an abort.
#[derive(Debug, Clone, Copy, Default)]
pub struct Telling;

/// From now on a failed allocation of this process ends it this way.
pub fn on_failure(end: fn() -> !) {
    ON_FAILURE.get_or_init(|| end);
}

fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null()
        && let Some(end) = ON_FAILURE.get()
    {
        end();
    }
    pointer
}

// SAFETY: every call is handed to the system's allocator as it came, and what it gives is given back as it is.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        checked(unsafe { System.realloc(pointer, layout, size) })
    }
}

/// Gives memory that was freed back to the system. The allocator of glibc keeps it otherwise, as long as anything behind it
/// in one of its arenas is in use. It takes milliseconds where much is free.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` locks each arena for itself, and touches no memory that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
