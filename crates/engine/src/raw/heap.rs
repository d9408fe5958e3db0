//! The engine's memory, counted. An allocation beyond the limit is refused, and that it was is remembered.
#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

use rquickjs::allocator::Allocator;

/// What the engine holds and may hold, in bytes.
#[derive(Debug)]
pub(crate) struct Tally {
    current: Cell<usize>,
    peak: Cell<usize>,
    limit: Cell<usize>,
    refused: Cell<bool>,
}

impl Tally {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self {
            current: Cell::new(0),
            peak: Cell::new(0),
            limit: Cell::new(usize::MAX),
            refused: Cell::new(false),
        })
    }

    /// What is held now.
    pub(crate) fn current(&self) -> usize {
        self.current.get()
    }

    /// The most that was held since the last [`Tally::bound`].
    pub(crate) fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Whether anything was refused since the last [`Tally::bound`].
    pub(crate) fn refused(&self) -> bool {
        self.refused.get()
    }

    /// Allows this much beyond what is held now, and counts anew.
    pub(crate) fn bound(&self, beyond: usize) {
        self.limit.set(self.current.get().saturating_add(beyond));
        self.peak.set(self.current.get());
        self.refused.set(false);
    }

    /// Allows a little more than before, for our own work after the guest used up its share.
    pub(crate) fn ease(&self, more: usize) {
        self.limit.set(self.limit.get().max(self.current.get()).saturating_add(more));
    }

    /// Whether so much more would be within the limit; if not, that is remembered as a refusal.
    pub(crate) fn admits(&self, more: usize) -> bool {
        let admitted = self.current.get().checked_add(more).is_some_and(|sum| sum <= self.limit.get());
        if !admitted {
            self.refused.set(true);
        }
        admitted
    }

    fn took(&self, block: *mut libc::c_void) -> *mut u8 {
        if block.is_null() {
            self.refused.set(true);
            return ptr::null_mut();
        }
        let now = self.current.get().saturating_add(usable(block.cast()));
        self.current.set(now);
        self.peak.set(self.peak.get().max(now));
        block.cast()
    }

    fn gave(&self, bytes: usize) {
        self.current.set(self.current.get().saturating_sub(bytes));
    }
}

/// Takes up the holes that building an engine left in the process's memory, for good. What a clone allocates then lies
/// side by side in fresh pages, and not in holes of old ones, each of which would have to be copied.
pub(crate) fn plug_holes() {
    const LARGEST: usize = 64 * 1024;
    const MOST: usize = 4096;
    // SAFETY: plain allocations that are never used nor freed.
    let take = |size: usize| unsafe { libc::malloc(size) }.addr();
    let end = take(LARGEST);
    let mut size = LARGEST;
    while size >= 16 {
        for _ in 0..MOST {
            let place = take(size);
            if place == 0 || place > end {
                break;
            }
        }
        size /= 2;
    }
}

/// A page, on every machine that cells run on; where pages are larger, what is aligned to this is merely neat.
const PAGE: usize = 4096;

/// What the engine takes for an arena: small blocks of one size, and before them an account that every block changes.
const ARENA: std::ops::RangeInclusive<usize> = 3584..=PAGE;

/// What the C library leaves of a page beside its own account.
const OF_A_PAGE: usize = PAGE - size_of::<usize>();

/// Fresh memory. An arena has a page to itself: a clone copies every page that it writes to, and an arena across two
/// of them would be two copies.
fn block(size: usize) -> *mut libc::c_void {
    if !ARENA.contains(&size) {
        // SAFETY: an allocation as any other; whoever asks has looked that the size is not zero.
        return unsafe { libc::malloc(size) };
    }
    let mut place = ptr::null_mut();
    // SAFETY: the alignment is a power of two and a multiple of a pointer's; the place lives in this frame.
    match unsafe { libc::posix_memalign(&raw mut place, PAGE, size.max(OF_A_PAGE)) } {
        0 => place,
        _ => ptr::null_mut(),
    }
}

/// The allocator of a runtime; its numbers are in the [`Tally`] it shares.
pub(crate) struct Heap(pub(crate) Rc<Tally>);

// SAFETY: every block comes from the C library's allocator, which aligns to at least two words and fails with null;
// `usable_size` asks the same allocator.
unsafe impl Allocator for Heap {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if size == 0 || !self.0.admits(size) {
            return ptr::null_mut();
        }
        self.0.took(block(size))
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(total) = count.checked_mul(size) else { return ptr::null_mut() };
        if total == 0 || !self.0.admits(total) {
            return ptr::null_mut();
        }
        // SAFETY: the product does not overflow and is not zero.
        self.0.took(unsafe { libc::calloc(count, size) })
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        self.0.gave(usable(ptr));
        // SAFETY: the caller gives back a block of this allocator, once.
        unsafe { libc::free(ptr.cast()) }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        let old = usable(ptr);
        if new_size > old && !self.0.admits(new_size.saturating_sub(old)) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's block is one of this allocator; when null comes back it is untouched.
        let moved = unsafe { libc::realloc(ptr.cast(), new_size) };
        if moved.is_null() {
            self.0.refused.set(true);
            return ptr::null_mut();
        }
        self.0.gave(old);
        self.0.took(moved)
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        usable(ptr)
    }
}

fn usable(block: *mut u8) -> usize {
    // SAFETY: only called with blocks of this allocator (or null, which has no size).
    unsafe { libc::malloc_usable_size(block.cast()) }
}
